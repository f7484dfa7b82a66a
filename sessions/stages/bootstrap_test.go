package stages

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBootstrap: the mean of a hundred numbers of a normal distribution lies within two of its standard errors, nearly, and the same
// numbers have the same interval.
func TestBootstrap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 100)
	var mean float64
	for i := range x {
		x[i] = rnd.NormFloat64()
		mean += x[i] / 100
	}
	of := func(items []int) (sum float64) {
		for _, i := range items {
			sum += x[i] / float64(len(items))
		}
		return sum
	}
	w := bootstrap(len(x), of)
	if again := bootstrap(len(x), of); *again != *w {
		t.Errorf("%+v, then %+v", w, again)
	}
	if math.Abs((w.High-w.Low)/2-0.196) > 0.04 || w.Low > mean || w.High < mean {
		t.Errorf("%+v around %v", w, mean)
	}
	if bootstrap(leastSample-1, of) != nil {
		t.Error("few items have an interval")
	}
	var p inferencePowers
	for range 20 {
		p.add([]float32{10, 0}, []float32{10, 1})
	}
	if w := p.sqnr(); w == nil || w.Low != 20 || w.High != 20 {
		t.Errorf("%+v", w)
	}
	p.noise = make([]float64, 20)
	if p.sqnr() != nil {
		t.Error("equality has an interval")
	}
}
