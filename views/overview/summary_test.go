package overview

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// TestSplitFacts: where the host computes nothing is enqueued; a device whose host takes over 0.8 of its time to enqueue is
// called out.
func TestSplitFacts(t *testing.T) {
	µs := time.Microsecond
	for _, c := range []struct {
		split *report.InferenceSplit
		want  []ui.Fact
	}{
		{nil, nil},
		{&report.InferenceSplit{InPlace: true, H2D: 2 * µs, Compute: 100 * µs, D2H: µs}, []ui.Fact{
			{Name: "copies", Value: "3.0 µs", Note: "in 2.0 µs, out 1.0 µs; compute 100.0 µs"},
			{Name: "enqueue", Value: "n/a", Note: "(CPU backend)"}}},
		{&report.InferenceSplit{Enqueue: 80 * µs, H2D: 2 * µs, Compute: 100 * µs, D2H: µs}, []ui.Fact{
			{Name: "copies", Value: "3.0 µs", Note: "in 2.0 µs, out 1.0 µs; compute 100.0 µs"},
			{Name: "enqueue", Value: "80.0 µs", Note: "80.0% of compute time"}}},
		{&report.InferenceSplit{Enqueue: 81 * µs, Compute: 100 * µs}, []ui.Fact{
			{Name: "copies", Value: "0 ns", Note: "in 0 ns, out 0 ns; compute 100.0 µs"},
			{Name: "enqueue", Value: "81.0 µs", Note: "81.0% of compute time: over 80%", Style: ui.Warn}}},
	} {
		got := splitFacts(c.split)
		if len(got) != len(c.want) {
			t.Fatalf("%d facts, want %d", len(got), len(c.want))
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("got %+v, want %+v", got[i], c.want[i])
			}
		}
	}
}

// TestDataFact: which items are calibrated on is told from those that are evaluated, where they are the same ones, too.
func TestDataFact(t *testing.T) {
	for _, c := range []struct {
		calItems, shared int
		want             string
	}{
		{100, 0, "set.npz, 100 others for calibration"},
		{100, 40, "set.npz, 100 for calibration, 40 of which are evaluated, too"},
		{100, 100, "set.npz, 100 of them for calibration, too"},
		{500, 500, "set.npz, the same for calibration"},
		{0, 0, "set.npz"},
	} {
		m := &report.Model{Data: "set.npz", Items: 500, CalItems: c.calItems, Shared: c.shared}
		if got := dataFact(m).Note; got != c.want {
			t.Errorf("%d to calibrate, %d shared: %q, want %q", c.calItems, c.shared, got, c.want)
		}
	}
}
