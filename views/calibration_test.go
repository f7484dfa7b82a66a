package views

import (
	"fmt"
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestWeightsSide goes from a tensor to the weights that made it and back.
func TestWeightsSide(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(120, 40)
	b.press("5", "v") // the input has no weights
	b.wants("image does not come from a layer with weights", "per channel", "19 layers")
	b.press("v", "down", "down", "down", "v")
	b.wants("Weights of block1/first/conv/Conv +2", "channel 0:")
	b.press("down", "tab", "tab", "right", "right", "right")
	b.wants("Channels of block1/second/conv/Conv +3", "channel 3:", "by number")
	b.press("s", "g")
	b.wants("largest first")
	w := snap.Calibration.Weights[2]
	best := 0
	for c, a := range w.Amax {
		if a > w.Amax[best] {
			best = c
		}
	}
	b.wants(fmt.Sprintf("channel %d: amax %s, scale ", best, ui.Number(float64(w.Amax[best]))))
	b.press("v") // the fused layer's last source layer gives the tensor that the engine keeps
	b.wants("Values of b")

	old := *snap
	calibration := *snap.Calibration
	calibration.Weights = nil
	old.Calibration, old.Seq = &calibration, snap.Seq+1
	b.publish(&old)
	b.press("v")
	b.wants("no layer has constant weights", "Values of")
}
