package views

import (
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// TestWeightsSide goes from a tensor to the weights that made it and back.
func TestWeightsSide(t *testing.T) {
	snap := fixture(t)
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
	b.wants(channelText(&w, best))
	b.press("v") // the fused layer's last source layer gives the tensor that the engine keeps
	b.wants("Values of block1/relu/Relu_output_0")

	old := *snap
	calibration := *snap.Calibration
	calibration.Weights = nil
	old.Calibration, old.Seq = &calibration, snap.Seq+1
	b.publish(&old)
	b.press("v")
	b.wants("no layer has constant weights", "Values of")
}

func TestWeightTexts(t *testing.T) {
	w := report.WeightCalibration{
		Layer: "fc", Tensor: "w", Dims: []int{10000, 8}, Channels: 10000, Group: 3, Amax: []float32{1, 0.001, 2, 0.5}, SQNR: []float64{40, 200, 41, 42}, Shared: []float64{34, 1, 41, 30},
		PerChannel: 41, PerTensor: 28, Spread: 20, Dead: []int{1, 4, 5, 6, 7, 8, 9}, DeadCount: 300,
	}
	if got, want := channelText(&w, 3), "channels 9 to 11: amax 0.5, scale 0.00394, 42.0 dB; per tensor 30.0 dB"; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := deadText(&w), "300: 1, 4, 5, 6, 7, 8, ..."; got != want {
		t.Errorf("got %q", got)
	}
	if weightLoss(&w) != 13 || lossStyle(13) != ui.Bad || lossStyle(7) != ui.Warn || channelLoss(&w, 1) != exactSQNR-1 {
		t.Error("the loss of one scale is wrong")
	}
	if got := largest(w.Amax, 2); len(got) != 2 || got[0] != 1 || got[1] != 2 {
		t.Errorf("largest gave %v", got)
	}
}
