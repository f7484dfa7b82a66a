package describe

import (
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Counts counts what a plan has, what bodies have once.
func Counts(p *run.Plan, source int) report.Counts {
	steps := p.AllSteps()
	c := report.Counts{Source: source, Steps: len(steps), Known: p.Known()}
	for _, st := range steps {
		if st.Reformat {
			c.Reformats++
		} else {
			c.Engine++
		}
		if st.Tactic == run.InMemory || st.Tactic == run.SubPlans {
			c.InMemory++
		} else if st.Once {
			c.Once++
		} else {
			c.Launches++
		}
	}
	return c
}
