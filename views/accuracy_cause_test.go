package views

import (
	"slices"
	"testing"
	"time"

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

// TestRaiseReader: where channels cannot be equalised, below the layer is named who reads them, with what raising it was found to win,
// and its key raises that one.
func TestRaiseReader(t *testing.T) {
	snap := wide(t)
	snap.Accuracy.Layers[1].Cause.Reach.Cure = &report.Cure{Why: "attention reads it", Raise: []string{"next"}}
	snap.Sensitivity = &report.Sensitivity{Config: snap.Config, To: "fp32", Layers: []report.Sensitive{{Name: "next", Layers: []string{"next"}, Gain: 4.58}}, Total: 1}
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(200, 60)
	b.press("6", "F")
	b.wants("A raises next to have it read as a float: +4.6 dB expected; it cannot be equalised: attention reads it")
	b.press("A")
	b.pass(time.Second)
	if n := len(b.ctl.set); n == 0 || !slices.Equal(b.ctl.set[n-1].LayerPrecisions, []string{"next:fp32"}) {
		t.Errorf("set %+v", b.ctl.set)
	}
}
