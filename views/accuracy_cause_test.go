package views

import (
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/words"
)

// wide returns the fixture with a channel of the second layer's output that sets the range of the others, which the third suffers from.
func wide(t *testing.T) *report.Snapshot {
	snap := *panetest.Fixture(t)
	accuracy := *snap.Accuracy
	accuracy.Layers = append([]report.LayerError(nil), accuracy.Layers...)
	for i := range accuracy.Layers {
		accuracy.Layers[i].Cause = &report.LayerCause{Adds: 40, Inputs: 0.5, Computing: 0.1, Output: 0.4, Stored: "i8"}
	}
	why := accuracy.Layers[1].Cause
	why.Adds, why.AddsAt = 3.6, accuracy.Layers[2].Name
	why.Reach = &report.ChannelReach{Channels: 4, Group: 1, Low: []float32{0, 0, -3, 0}, High: []float32{9, 8, 2, 550}, Amax: 550, Rest: 9, Scale: 4.3, Needed: 0.07, Bits: 5.9,
		Outliers: []int{3}, Cure: &report.Cure{Equalization: "activations", With: []string{"next"}, Gain: 30}}
	snap.Accuracy = &accuracy
	return &snap
}

// TestCauseOfError goes to the layer that adds most, though another one's own error is larger, and says which channel is to blame.
func TestCauseOfError(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, wide(t))
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b.size(size[0], size[1])
		b.press("6", "F")
		b.wants("would leave 3.6 dB", "channel 3 reaches 550, the others 9: they lose 5.9 bits")
	}
	b.wants("E equalises by activations with next: +30.0 dB expected", "most is added by "+words.ShortName(panetest.Fixture(t).Accuracy.Layers[1].Name))
}
