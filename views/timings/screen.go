package timings

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows the time of every layer, live while it is measured, the samples of the layer under the cursor, and
// of a language model how it writes.
func Screen(look *ui.Look, d pane.Desk) *ui.Screen {
	v := newTimingsView(look, d)
	p := ui.Pane
	return &ui.Screen{
		Key: "3", Name: "Timings", Views: []ui.View{v, &samplesView{in: pane.NewInput(look, report.PartTimings), of: v}, newGenerationView(look)},
		Layouts: []ui.Box{ui.Stack(p(0).Share(3), p(1).Lines(13)), ui.Beside(p(0).Share(2), p(1)), ui.Stack(p(2).Share(3), p(0).Share(2))},
		Narrow:  pane.Box(ui.Stack(p(0).Share(3), p(1).Lines(7))),
	}
}
