package calibration

import (
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Key is the digit of the screen that shows what calibration found.
const Key = "5"

// Screen compares the calibrators tensor by tensor, and draws the thresholds that they find over the
// histogram of the tensor under the cursor; or, on its other side, shows the weights of the layers by channel.
func Screen(look *ui.Look, d pane.Desk, replay bool) *ui.Screen {
	v, w := newTensorsView(look, d, replay), newWeightsView(look)
	s := &sides{tensors: v, layers: w}
	side := func(activations, weights ui.View) ui.View { return &sideView{s, activations, weights} }
	p := ui.Pane
	return &ui.Screen{
		Key: Key, Name: "Calibration", Words: []string{"calibrate", "ranges", "range", "threshold", "thresholds", "histogram", "amax", "clip", "clipping", "scale", "outliers", "weights", "channels"}, Short: "Calib", Views: []ui.View{
			side(v, w), side(newRangesView(v), &weightFactsView{w}), side(&histogramView{of: v}, &channelsView{w}),
		},
		Layouts: []ui.Box{
			ui.Stack(p(0).Share(3), ui.Beside(p(2).Share(6), p(1).Share(5)).Share(3)),
			ui.Beside(p(0), ui.Stack(p(2).Share(2), p(1).Lines(9))),
		},
		Medium: pane.Box(ui.Stack(p(0).Share(3), p(1).Lines(7), p(2).Share(3))),
		Narrow: pane.Box(ui.Stack(p(0).Share(2), p(1).Lines(6), p(2).Share(3))),
	}
}
