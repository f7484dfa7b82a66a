package views

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// calibrationKey is the digit of the screen that shows what calibration found.
const calibrationKey = "5"

// askedFor are the reports that are asked for when a screen is shown, by its digit.
var askedFor = map[string]report.Part{calibrationKey: report.PartCalibration, accuracyKey: report.PartAccuracy}

// calibrationScreen compares the calibrators tensor by tensor, and draws the thresholds that they find over the
// histogram of the tensor under the cursor; or, on its other side, shows the weights of the layers by channel.
func calibrationScreen(look *ui.Look, d desk, replay bool) *ui.Screen {
	v, w := newTensorsView(look, d, replay), newWeightsView(look)
	s := &sides{tensors: v, layers: w}
	side := func(activations, weights ui.View) ui.View { return &sideView{s, activations, weights} }
	p := ui.Pane
	return &ui.Screen{
		Key: calibrationKey, Name: "Calibration", Views: []ui.View{
			side(v, w), side(newRangesView(v), &weightFactsView{w}), side(&histogramView{of: v}, &channelsView{w}),
		},
		Layouts: []ui.Box{
			ui.Stack(p(0).Share(3), ui.Beside(p(2).Share(4), p(1).Share(3)).Share(3)),
			ui.Beside(p(0), ui.Stack(p(2).Share(2), p(1).Lines(9))),
		},
		Medium: box(ui.Stack(p(0).Share(3), p(1).Lines(7), p(2).Share(3))),
		Narrow: box(ui.Stack(p(0).Share(2), p(1).Lines(6), p(2).Share(3))),
	}
}
