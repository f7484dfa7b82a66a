package comparison

import (
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows what B changes of A.
func Screen(look *ui.Look, cmp *Pair) *ui.Screen {
	cmp.look = look
	changes := newChangesView(look, cmp)
	p := ui.Pane
	return &ui.Screen{
		Key: pane.CompareKey, Name: "Compare", Words: []string{"slower", "faster", "regression", "diff", "difference", "delta", "changes", "compared", "recordings", "engines", "files", "noise", "significant"}, Short: "Comp",
		Views: []ui.View{changes, &changeView{in: pane.NewInput(look, 0), of: changes}, &sidesView{in: pane.NewInput(look, 0), cmp: cmp}, &mapsView{in: pane.NewInput(look, 0), cmp: cmp}},
		Layouts: []ui.Box{
			ui.Beside(ui.Stack(p(0).Share(3), p(1).Lines(12)).Share(3), ui.Stack(p(2).Lines(18), p(3)).Share(2)),
			ui.Stack(p(0).Share(2), p(3)),
		},
		Medium: pane.Box(ui.Stack(p(0).Share(3), ui.Beside(p(1), p(2)).Lines(11))),
		Narrow: pane.Box(ui.Stack(p(0).Share(3), p(1).Lines(6), p(2).Lines(3))),
	}
}
