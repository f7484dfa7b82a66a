package sessions_test

import (
	"context"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// ceiled is the CPU with ceilings of which each measurement has other ones.
type ceiled struct {
	*cpu.Backend
	rates    []float64
	measured int
}

func (c *ceiled) Peaks(context.Context) ([]run.Peaks, error) {
	r := c.rates[min(c.measured, len(c.rates)-1)]
	c.measured++
	one := run.Peaks{Threads: c.Info().Threads, Compute: []run.Peak{{Name: "f32", Rate: r}}, Memory: []run.Peak{{Name: "L1", Rate: 100 * r, Holds: 1 << 20}, {Name: "DRAM", Rate: r, Spread: 0.5}}}
	return []run.Peaks{one}, nil
}

// TestRoofline sets layers under ceilings: shares follow from times, ceilings that are too low are measured once more, and layers
// that are above them then are named.
func TestRoofline(t *testing.T) {
	for _, c := range []struct {
		what     string
		rates    []float64
		measured int
		above    bool
	}{
		{"high", []float64{1e15}, 1, false},
		{"too low at first", []float64{1, 1e15}, 2, false},
		{"too low", []float64{1}, 2, true},
	} {
		b := &ceiled{Backend: cpu.Open(1), rates: c.rates}
		defer b.Close()
		r := sessions.NewRunner(embedded(t), stages.Workplace{Backend: b, Cache: build.NewTimingCache(), Peaks: build.NewPeaksFile("")}, nil)
		for range 2 {
			snap, err := r.Report(t.Context(), config.Config{Precision: config.FP32, Batch: 1}, report.PartTimings, run.Profiling{Iterations: 3, PerStep: true})
			if err != nil {
				t.Fatal(err)
			}
			checkRoofline(t, c.what, snap.Timings, c.above)
		}
		if b.measured != c.measured {
			t.Errorf("%s: measured %d times, want %d", c.what, b.measured, c.measured)
		}
	}
}

func checkRoofline(t *testing.T, what string, r *report.Timings, above bool) {
	t.Helper()
	line := r.Roofline
	if line.Last() == nil || line.Unmeasured != "" || len(line.Disturbed) != 1 || line.Disturbed[0] != "DRAM" || (len(line.Above) > 0) != above {
		t.Fatalf("%s: %+v", what, line)
	}
	standing := 0
	for _, l := range r.Layers {
		if l.Roof == nil {
			continue
		}
		standing++
		share := float64(l.Roof.Floor) / float64(l.Median)
		if l.Roof.Bound == "" || l.Roof.OfPeak != share || l.FLOPs > 0 && l.Roof.Operations < l.FLOPs || !above && share > 1 {
			t.Errorf("%s: %s stands %+v, median %v", what, l.Name, l.Roof, l.Median)
		}
	}
	total := 0
	for _, b := range r.ByBound() {
		total += b.Layers
	}
	if standing < len(r.Layers)/2 || total != standing {
		t.Errorf("%s: %d of %d layers stand, %d by bounds", what, standing, len(r.Layers), total)
	}
}

// TestNoRoofline claims nothing where times are estimates, where nothing is measured, and where nobody asks.
func TestNoRoofline(t *testing.T) {
	timings := func(b run.Backend, f *build.PeaksFile) *report.Timings {
		r := sessions.NewRunner(embedded(t), stages.Workplace{Backend: b, Cache: build.NewTimingCache(), Peaks: f}, nil)
		snap, err := r.Report(t.Context(), config.Config{Precision: config.FP32, Batch: 1}, report.PartTimings, run.Profiling{Iterations: 2, PerStep: true})
		if err != nil {
			t.Fatal(err)
		}
		return snap.Timings
	}
	b := cpu.Open(1)
	defer b.Close()
	if r := timings(b, nil); r.Roofline != nil {
		t.Errorf("nobody asked: %+v", r.Roofline)
	}
	if r := timings(struct{ run.Backend }{b}, build.NewPeaksFile("")); r.Roofline.Last() != nil || !strings.Contains(r.Roofline.Unmeasured, "are not measured") {
		t.Errorf("not measured: %+v", r.Roofline)
	}
	if r := timings(&device{Backend: b, fingerprint: "x"}, build.NewPeaksFile("")); r.Roofline.Last() != nil || !strings.Contains(r.Roofline.Unmeasured, "estimates") {
		t.Errorf("estimates: %+v", r.Roofline)
	}
}
