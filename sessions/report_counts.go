package sessions

import (
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// countSteps counts what a plan has.
func countSteps(p *run.Plan, source int) report.Counts {
	c := report.Counts{Source: source, Steps: len(p.Steps)}
	for _, st := range p.Steps {
		if st.Reformat {
			c.Reformats++
		} else {
			c.Engine++
		}
		if st.Tactic == run.InMemory {
			c.InMemory++
		} else {
			c.Launches++
		}
	}
	return c
}
