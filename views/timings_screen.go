package views

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// timingsScreen shows the time of every layer, live while it is measured, the samples of the layer under the cursor, and
// of a language model how it writes.
func timingsScreen(look *ui.Look, d desk) *ui.Screen {
	v := newTimingsView(look, d)
	p := ui.Pane
	return &ui.Screen{
		Key: "3", Name: "Timings", Views: []ui.View{v, &samplesView{in: newInput(look, report.PartTimings), of: v}, newGenerationView(look)},
		Layouts: []ui.Box{ui.Stack(p(0).Share(3), p(1).Lines(13)), ui.Beside(p(0).Share(2), p(1)), ui.Stack(p(2).Share(3), p(0).Share(2))},
		Narrow:  box(ui.Stack(p(0).Share(3), p(1).Lines(7))),
	}
}
