package views

import "github.com/trtui/trtui/ui"

// compareScreen shows what B changes of A.
func compareScreen(look *ui.Look, cmp *comparison) *ui.Screen {
	changes := newChangesView(look, cmp)
	p := ui.Pane
	return &ui.Screen{
		Key: compareKey, Name: "Compare",
		Views: []ui.View{changes, &changeView{in: newInput(look, 0), of: changes}, &sidesView{in: newInput(look, 0), cmp: cmp}, &mapsView{in: newInput(look, 0), cmp: cmp}},
		Layouts: []ui.Box{
			ui.Beside(ui.Stack(p(0).Share(3), p(1).Lines(12)).Share(3), ui.Stack(p(2).Lines(15), p(3)).Share(2)),
			ui.Stack(p(0).Share(2), p(3)),
		},
		Medium: box(ui.Stack(p(0).Share(3), ui.Beside(p(1), p(2)).Lines(11))),
		Narrow: box(ui.Stack(p(0).Share(3), p(1).Lines(7))),
	}
}
