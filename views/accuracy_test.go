package views

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/words"
)

// TestErrorStrip follows the cursor, switches between the layer's own error and the accumulated one, and says where a
// recording has no map.
func TestErrorStrip(t *testing.T) {
	snap := panetest.Fixture(t)
	layers := snap.Accuracy.Layers
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(120, 40)
	b.press("6", "down", "down", "down")
	l := layers[3]
	b.wants("Error in "+words.TensorName(l.Tensor), "accumulated error, "+words.Decibels(l.Accumulated.SQNR)+" dB", "largest: channels 44-45, positions 136-143, rms 0.0936; lowest SQNR: channel 45, 28.2 dB")
	b.press("e")
	b.wants("own error, "+words.Decibels(l.Local.SQNR)+" dB", "largest: channels 44-45, positions 136-143, rms 0.0922; lowest SQNR: channel 45, 28.4 dB")

	old := *snap
	accuracy := *snap.Accuracy
	accuracy.Layers = slices.Clone(layers)
	for i := range accuracy.Layers {
		accuracy.Layers[i].LocalMap = &report.ErrorMap{Rows: 3, Columns: 1 << 40, RMS: make([]float32, 3)}
	}
	old.Accuracy, old.Seq = &accuracy, snap.Seq+1
	b.publish(&old)
	b.wants("not available for this layer")
}

// TestLabelHint asks what to do about labels that are off by one, and says it.
func TestLabelHint(t *testing.T) {
	snap := *panetest.Fixture(t)
	accuracy := *snap.Accuracy
	accuracy.Labels.Offset = 1
	snap.Accuracy = &accuracy
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.press("6")
	b.wants("labels off by one? LabelsOff{By:1}")
}
