package comparison

import (
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// MatrixScreen sets several side by side: what each takes, which are worth having, and the layers that differ most. marked is as
// [Pair.Marked].
func MatrixScreen(look *ui.Look, s *Several, marked pane.Marked) *ui.Screen {
	sides := newMatrixSides(look, s, marked)
	p, lines := ui.Pane, len(s.marks)+3
	return &ui.Screen{
		Key: pane.CompareKey, Name: "Matrix", Short: "Matr", Words: []string{"several", "side by side", "compare", "pareto", "front", "movers"},
		Views: []ui.View{sides, newMatrixLayers(look, s), &matrixPlot{in: pane.NewInput(look, 0), several: s, of: sides}},
		Layouts: []ui.Box{
			ui.Stack(ui.Beside(p(0).Share(3), p(2).Share(2)).Lines(max(lines, 14)), p(1)),
			ui.Stack(p(0).Lines(lines), p(1)),
		},
		Medium: pane.Box(ui.Stack(p(0).Lines(lines), p(1))),
		Narrow: pane.Box(ui.Stack(p(0).Lines(lines), p(1))),
	}
}
