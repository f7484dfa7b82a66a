package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TestWeighed: values count as often as the powers of the weights say that their channel meets, which is what a histogram has that was given
// each so many times; of other channels than the weights' all count once.
func TestWeighed(t *testing.T) {
	for _, c := range []struct {
		name   string
		weight []float32 // of each channel
		times  []int
	}{
		{"one that was divided by 32", []float32{1, 32, 1}, []int{1, 1024, 1}},
		{"rounded to powers of two", []float32{2, 2 * 1.7, 2 * 1.3}, []int{1, 4, 2}},
		{"none of it read", []float32{0, 1, 2}, []int{1, 1, 4}},
		{"no more than 2^20", []float32{1, 1, 1e7}, []int{1, 1, 1 << mostOctaves}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newNet(t, "weighed")
			x := b.n.AddInput("x", numeric.F32, symbolic.Shape(5, 3)...)
			var w []float32
			for _, v := range c.weight {
				w = append(w, v, -v) // to two outputs
			}
			b.n.MarkOutput(b.add("product", graph.MatMul, nil, x, b.n.AddConst("w", numeric.Values(numeric.F32, w, 3, 2))))
			got := NewWeighed(x)
			if got == nil {
				t.Fatal("all channels count alike")
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			var want Histogram
			for range 3 {
				v := make([]float32, 15)
				for i := range v {
					v[i] = float32(rnd.NormFloat64()) * c.weight[i%3]
					for range min(c.times[i%3], 1<<12) {
						want.Add(v[i : i+1])
					}
				}
				got.AddValue(numeric.Values(numeric.F32, v, 5, 3), numeric.Range{})
			}
			h := got.Histogram()
			if h.Min() != want.Min() || h.Max() != want.Max() {
				t.Errorf("from %g to %g, want %g to %g", h.Min(), h.Max(), want.Min(), want.Max())
			}
			if c.times[2] == 1<<mostOctaves {
				if n := uint64(15 * (2 + 1<<mostOctaves)); h.Count() != n {
					t.Errorf("%d values, want %d", h.Count(), n)
				}
				return
			}
			if h.Count() != want.Count() || math.Abs(h.Power()/want.Power()-1) > 1e-9 {
				t.Errorf("%d values of power %g, want %d of %g", h.Count(), h.Power(), want.Count(), want.Power())
			}
			if a, b := (MSE{}).Range(h), (MSE{}).Range(&want); !a.Equal(b) {
				t.Errorf("range %v, want %v", a, b)
			}
			got.AddValue(numeric.Values(numeric.F32, make([]float32, 8), 2, 4), numeric.Range{})
			if n := got.Histogram().Count(); n != h.Count()+8 {
				t.Errorf("%d values with 8 of other channels, %d without", n, h.Count())
			}
		})
	}
	b := newNet(t, "alike")
	x := b.n.AddInput("x", numeric.F32, symbolic.Shape(5, 3)...)
	b.n.MarkOutput(b.add("product", graph.MatMul, nil, x, b.n.AddConst("w", numeric.Values(numeric.F32, []float32{1, -1, 1}, 3, 1))))
	if NewWeighed(x) != nil || NewWeighed(b.n.Outputs[0]) != nil {
		t.Error("channels count that meet the same weights, or none")
	}
}
