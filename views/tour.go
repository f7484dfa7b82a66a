package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// hints are what someone who is here for the first time should know.
var hints = []string{
	"Digits show screens: 1 overview, 2 graph, 3 times. {tab} goes to the next pane, {z} shows it alone.",
	"{f} builds the next precision and measures it, {u} goes back. {m}, {M} mark two results, {d} compares.",
	"{:} finds any command by its name, {?} lists keys. enter on a layer shows it on another screen.",
}

// tour opens the tour, once, where it has not been seen.
func (w *workbench) tour() tea.Cmd {
	if w.o.TourSeen == nil || w.toured {
		return nil
	}
	w.toured = true
	return ui.Open(&ui.Tour{Hints: hints, Over: func() tea.Msg {
		if err := w.o.TourSeen(); err != nil {
			return pane.Say(ui.Warn, "this will be shown again: "+err.Error())()
		}
		return nil
	}})
}
