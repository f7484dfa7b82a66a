package report

import (
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// TestAlike names what the fastest cannot be told from, of those that are good enough.
func TestAlike(t *testing.T) {
	fp32 := config.Config{Precision: config.FP32, Batch: 1}
	point := func(calibrator string, median time.Duration, within bool, ratio, low, high float64) ParetoPoint {
		c := config.Config{Precision: config.INT8, Calibrator: calibrator, Batch: 1}
		return ParetoPoint{Name: calibrator, Within: within, Point: Point{Config: c, Latency: median, Beside: &Beside{Config: fp32, Speed: NewSpeed(ratio, low, high, true)}}}
	}
	p := &Pareto{Points: []ParetoPoint{
		{Name: "fp32", Within: true, Point: Point{Config: fp32, Latency: 700}},
		point("mse", 210, true, 3.4, 3.35, 3.45),
		point("entropy", 214, true, 3.3, 3.2, 3.5),
		point("minmax", 212, false, 3.35, 3.3, 3.4),
		point("percentile", 300, true, 2.3, 2.25, 2.35),
		point("near, on a busy machine", 220, true, 3.2, 1, 9),
		point("far, on a busy machine", 700, true, 1, 0.3, 4), // it may be as fast, but so little is known that nothing is said
	}}
	if got := p.Alike(false); got != nil {
		t.Errorf("without a fastest one: %q", got)
	}
	p.Points[1].Fastest = true
	if got := p.Alike(false); !slices.Equal(got, []string{"entropy", "near, on a busy machine"}) {
		t.Errorf("alike are %q, want entropy and what is near", got)
	}
}
