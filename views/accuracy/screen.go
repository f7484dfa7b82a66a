package accuracy

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Key is the digit of the screen that shows how far the engine is from FP32.
const Key = "6"

// Screen shows how far the engine is from FP32: at every layer, at the outputs and in what it predicts.
func Screen(look *ui.Look, d pane.Desk, study func(*report.Goal) tea.Cmd, hint func(pane.Fact) string) *ui.Screen {
	v := newErrorsView(look, d)
	p := ui.Pane
	return &ui.Screen{
		Key: Key, Name: "Accuracy", Words: []string{"accuracy", "sqnr", "error", "errors", "top1", "agreement", "sensitivity", "predictions", "map"}, Short: "Acc", Views: []ui.View{newLayersView(look, v, d, study), &labelsView{pane.NewInput(look, report.PartAccuracy), hint}, newOutputsView(look), newErrorView(v)},
		Layouts: []ui.Box{
			ui.Stack(p(0), p(3).Lines(10), ui.Beside(p(1).Share(2), p(2).Share(3)).Lines(8)),
			ui.Beside(p(0).Share(2), ui.Stack(p(3).Share(2), p(1), p(2))),
		},
		Narrow: pane.Box(ui.Stack(p(0), p(3).Lines(7), p(1).Lines(4))),
	}
}
