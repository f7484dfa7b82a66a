package runtime

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows what the engine does over the shapes that it serves, and with several contexts at a time; split has it measured whether two
// profiles serve an axis better than one.
func Screen(look *ui.Look, d pane.Desk, split func(axis string) tea.Cmd) *ui.Screen {
	p, shown := ui.Pane, new(int)
	return &ui.Screen{
		Key: "8", Name: "Runtime", Words: []string{"sweep", "split", "profiles", "profile", "shapes", "batch", "contexts", "streams", "dynamic"}, Short: "Run", Views: []ui.View{newProfileView(look, d, shown), newPointsView(look, overEnds, shown), newAxisView(look, d, split), newPointsView(look, overContexts, shown)},
		Layouts: []ui.Box{
			ui.Stack(ui.Beside(p(0), p(1)).Lines(10), ui.Beside(p(2), p(3))),
			ui.Stack(p(0), p(1), p(2), p(3)),
		},
		Medium: pane.Box(ui.Stack(p(0).Lines(7), p(1).Lines(6), ui.Beside(p(2), p(3)))),
		Narrow: pane.Box(ui.Stack(p(0).Lines(5), p(1).Lines(5), ui.Beside(p(2), p(3)))),
	}
}

func newAxisView(look *ui.Look, d pane.Desk, ask func(axis string) tea.Cmd) *pointsView {
	v := newPointsView(look, overAxis, new(int))
	v.split = &splitting{desk: d, ask: ask, snap: v.in.Snap}
	return v
}
