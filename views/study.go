package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
)

// studying returns what has the sensitivity of layers found, or with a goal the precision of each searched for.
func studying(w *workbench) func(*report.Goal) tea.Cmd {
	return func(goal *report.Goal) tea.Cmd {
		w.ctl.Study(goal)
		if goal == nil {
			return w.begin("raising one layer after the other; esc stops")
		}
		return w.begin("searching for " + goal.String() + "; esc stops and leaves what was found")
	}
}

// ablating returns what has it measured what each rule is worth.
func ablating(w *workbench) func() tea.Cmd {
	return func() tea.Cmd {
		w.ctl.Ask(report.PartAblation)
		return w.begin("each rule off in turn; esc stops and leaves what was measured")
	}
}

// besides returns what has the layers measured in every precision side by side.
func besides(w *workbench) func() tea.Cmd {
	return func() tea.Cmd {
		w.ctl.Ask(report.PartColumns)
		begun := w.begin("FP32, FP16 and INT8 side by side; esc stops")
		w.work.beside = true
		return begun
	}
}
