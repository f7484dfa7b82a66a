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

// tour is what someone who is here for the first time is shown, once.
type tour struct {
	seen  func() error // notes that it was seen; nil: it is not shown
	shown bool
}

// open shows the tour where it has not been seen.
func (t *tour) open() tea.Cmd {
	if t.seen == nil || t.shown {
		return nil
	}
	t.shown = true
	return ui.Open(&ui.Tour{Hints: hints, Over: func() tea.Msg {
		if err := t.seen(); err != nil {
			return pane.Say(ui.Warn, "this will be shown again: "+err.Error())()
		}
		return nil
	}})
}
