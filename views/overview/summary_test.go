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
