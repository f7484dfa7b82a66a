package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
)

// studyDesk is a desk that has layers studied.
type studyDesk interface {
	desk
	// Study asks for the sensitivity of layers, or with a goal for a search.
	Study(goal *report.Goal) tea.Cmd
}

// Study has the sensitivity of layers found, or with a goal the precision of each searched for.
func (w *workbench) Study(goal *report.Goal) tea.Cmd {
	w.ctl.Study(goal)
	if goal == nil {
		return w.begin("raising one layer after the other; esc stops")
	}
	return w.begin("searching for " + goal.String() + "; esc stops and leaves what was found")
}
