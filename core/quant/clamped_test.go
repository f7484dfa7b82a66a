package quant_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// TestClamped compares the histogram of clamped values with what clamping a histogram gives.
func TestClamped(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	values := make([]float32, 20000)
	for i := range values {
		if values[i] = float32(3*rnd.NormFloat64() + 1); i%7 == 0 {
			values[i] = 0
		}
	}
	inf := math.Inf(1)
	for _, b := range [][2]float64{{0, inf}, {0, 6}, {-inf, 0}, {-inf, 6}, {-1.37, 2.11}, {-100, 100}, {7, inf}} {
		var all, want quant.Histogram
		all.Add(values)
		clamped := make([]float32, len(values))
		for i, v := range values {
			clamped[i] = float32(min(max(float64(v), b[0]), b[1]))
		}
		want.Add(clamped)
		got := all.Clamped(b[0], b[1])
		if got.Count() != want.Count() || math.Abs(float64(got.Zeros())-float64(want.Zeros())) > 1 || got.Min() != want.Min() || got.Max() != want.Max() {
			t.Errorf("%v: %d values, %d zeros, %g to %g; want %d, %d, %g to %g", b, got.Count(), got.Zeros(), got.Min(), got.Max(), want.Count(), want.Zeros(), want.Min(), want.Max())
		}
		if math.Abs(got.Mean()-want.Mean()) > 1e-3 || math.Abs(got.Power()-want.Power()) > 1e-3*max(1, want.Power()) {
			t.Errorf("%v: mean %g, power %g; want %g, %g", b, got.Mean(), got.Power(), want.Mean(), want.Power())
		}
		r := numeric.PerTensor(4.0/255, 0)
		a, w := quant.Assess(got, r, numeric.U8), quant.Assess(&want, r, numeric.U8)
		if math.Abs(a.SQNRdB-w.SQNRdB) > 0.05 || math.Abs(a.Clipped-w.Clipped) > 1e-3 {
			t.Errorf("%v: %.2f dB, %.4f clipped; want %.2f, %.4f", b, a.SQNRdB, a.Clipped, w.SQNRdB, w.Clipped)
		}
	}
	if all := new(quant.Histogram); all.Clamped(0, 6) != all {
		t.Error("an empty histogram is clamped")
	}
}
