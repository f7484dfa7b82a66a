package views

import (
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestFindings shows what rules find, with the key or the flag that helps, and goes from a finding to its layer.
func TestFindings(t *testing.T) {
	snap := panetest.Fixture(t)
	const layer = "softmax/Softmax"
	snap.Accuracy.Labels.FP32Top1 = 0.1
	for i := range snap.Timings.Layers {
		if l := &snap.Timings.Layers[i]; l.Name == layer {
			l.Tactic, l.Share = "eval", 0.6
		}
	}
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(120, 40)
	b.press("0")
	b.wants("2 problems", "chance", "FP32 is right for 10.0 % of 1000 items of 10 classes", "reference-kernel  "+layer, "screen 7: t times")
	b.press("g", "enter")
	b.wants("Layer "+layer, "2 Graph")
}

// TestFindingsPartial says which rules could not look, and for want of what; of a snapshot without anything it waits.
func TestFindingsPartial(t *testing.T) {
	snap := panetest.Fixture(t)
	snap.Accuracy, snap.Calibration = nil, nil
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(200, 60)
	b.press("0")
	b.wants("not looked at without accuracy: chance, label-offset, accuracy", "not looked at without calibration: outliers", "not looked at without peaks of the device: below-roofline")
	snap = panetest.Fixture(t)
	snap.Accuracy, snap.Calibration, snap.Timings, snap.Tactics, snap.Memory = nil, nil, nil, nil, nil
	b = newBench(t, ui.Options{NoColor: true}, snap)
	b.size(200, 60)
	b.press("0")
	b.wants("nothing found by 4 rules")
}
