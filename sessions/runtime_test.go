package sessions_test

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// A session tells what its engine does at the shapes that it serves: at one where it serves one, else at the ends of the range
// and along its widest axis, in the memory of the plan.
func TestRuntimeReport(t *testing.T) {
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried}
	s := open(t, cfg)
	of := func(ranged bool) *report.Runtime {
		return await(t, s, func(s *report.Snapshot) bool {
			return s.Stale == 0 && len(s.Config.MaxShapes) > 0 == ranged
		}).Runtime
	}
	r := of(false)
	if len(r.Points) != 1 || r.Axis != -1 || len(r.Curve) != 0 || len(r.Axes) != 1 || !r.Axes[0].Batch || r.Axes[0].Max != 1 || r.Points[0].Latency.Count == 0 {
		t.Errorf("of one batch: %+v", r)
	}
	cfg.MinShapes = r.Shapes(func(a *report.RuntimeAxis) int { return a.Min })
	cfg.MaxShapes = r.Shapes(func(*report.RuntimeAxis) int { return 6 })
	if len(cfg.MaxShapes) != 1 || cfg.MaxShapes["image"][0] != 6 {
		t.Fatalf("up to a batch of 6: %v", cfg.MaxShapes)
	}
	s.Set(cfg)
	r = of(true)
	var batches []int
	for _, p := range append(slices.Clone(r.Points), r.Curve...) {
		batches = append(batches, p.Batch)
		if p.Latency.Count == 0 || p.Throughput <= 0 || p.MemoryBytes <= 0 || p.MemoryBytes > r.ArenaBytes+r.IOBytes || p.HeldBytes != r.ArenaBytes+r.IOBytes {
			t.Errorf("%+v of %d bytes", p, r.ArenaBytes+r.IOBytes)
		}
	}
	if want := []int{1, 1, 6, 1, 2, 4, 6}; !slices.Equal(batches, want) || r.Axis != 0 {
		t.Errorf("it is measured at %v, want %v", batches, want)
	}
}
