package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// accuracyKey is the digit of the screen that shows how far the engine is from FP32.
const accuracyKey = "6"

// accuracyScreen shows how far the engine is from FP32: at every layer, at the outputs and in what it predicts.
func accuracyScreen(look *ui.Look, d desk, study func(*report.Goal) tea.Cmd, hint func(Fact) string) *ui.Screen {
	v := newErrorsView(look, d)
	p := ui.Pane
	return &ui.Screen{
		Key: accuracyKey, Name: "Accuracy", Views: []ui.View{newLayersView(look, v, d, study), &labelsView{newInput(look, report.PartAccuracy), hint}, newOutputsView(look), newErrorView(v)},
		Layouts: []ui.Box{
			ui.Stack(p(0), p(3).Lines(10), ui.Beside(p(1).Share(2), p(2).Share(3)).Lines(8)),
			ui.Beside(p(0).Share(2), ui.Stack(p(3).Share(2), p(1), p(2))),
		},
		Narrow: box(ui.Stack(p(0), p(3).Lines(7), p(1).Lines(4))),
	}
}
