package stages

import (
	"math"
	"math/rand/v2"

	"github.com/trtui/trtui/sessions/report"
)

// Bounds of resampling.
const (
	resamples   = 1000
	mostDraws   = 4 << 20 // in all: of very many items there are fewer resamples
	leastSample = 8       // items, under which resampling says nothing
)

// bootstrap returns the interval in which a figure of n items lies with 95 % confidence: that of its values on items drawn from
// them with replacement (B. Efron, Annals of Statistics 7, 1979), the same ones each time. of sums up the items that are drawn.
// Nil where there are too few.
func bootstrap(n int, of func(items []int) float64) *report.Within {
	return report.Middle(resampled(n, of))
}

// resampled returns the values of a figure on items that are drawn; none where there are too few. Two figures of as many items are of
// the same draws.
func resampled(n int, of func(items []int) float64) []float64 {
	if n < leastSample {
		return nil
	}
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	values := make([]float64, max(200, min(resamples, mostDraws/n)))
	items := make([]int, n)
	for i := range values {
		for k := range items {
			items[k] = rnd.IntN(n)
		}
		values[i] = of(items)
	}
	return values
}

// inferencePowers are the power of an output and of its error, by inference.
type inferencePowers struct{ signal, noise []float64 }

func (p *inferencePowers) add(want, got []float32) {
	var signal, noise float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		signal, noise = signal+float64(w)*float64(w), noise+d*d
	}
	p.signal, p.noise = append(p.signal, signal), append(p.noise, noise)
}

// sqnr returns where the SQNR lies, in dB; nil where there are too few inferences, or what is no number.
func (p *inferencePowers) sqnr() *report.Within {
	w := bootstrap(len(p.signal), func(items []int) float64 {
		var signal, noise float64
		for _, i := range items {
			signal, noise = signal+p.signal[i], noise+p.noise[i]
		}
		return ratio(signal, noise)
	})
	if w == nil || math.IsNaN(w.Low) || math.IsNaN(w.High) || math.Abs(w.Low) >= report.MaxDB || math.Abs(w.High) >= report.MaxDB {
		return nil
	}
	return w
}
