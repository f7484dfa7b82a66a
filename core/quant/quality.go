package quant

import (
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Quality says what a range does to the values of a histogram. The error follows from the histogram alone, the values
// of a bin being taken as spread evenly in it; bins are at most 1/8 of a scale wide where nothing is clipped.
type Quality struct {
	AMax    float64 // 127 scales
	Scale   float64
	Zero    int
	Lo, Hi  float64 // the least and largest real number that the range represents
	Clipped float64 // share of the finite values outside of Lo to Hi
	Beyond  float64 // share of the squared error that is of those; the rest is rounding
	KL      float64 // as [Entropy] computes it for the range's threshold, in nats
	MSE     float64 // mean squared error
	SQNRdB  float64 // signal to quantisation noise, 10 log10(mean square / MSE), from -MaxDB to MaxDB
}

// Assess returns the quality of a per-tensor range with integers of type t; the zero Quality if r is not set or h has
// no finite value.
func Assess(h *Histogram, r numeric.Range, t numeric.DataType) Quality {
	if !r.IsSet() || h.Count() == 0 {
		return Quality{}
	}
	q := Quality{AMax: AMax(r), Scale: float64(r.ScaleAt(0)), Zero: int(r.ZeroAt(0))}
	q.Lo, q.Hi = Limits(r, t)
	cells := h.cells()
	n := float64(h.Count())
	q.Clipped = outside(cells, q.Lo, q.Hi) / n
	all := squaredError(cells, r, t)
	q.MSE = all / n
	if all > 0 {
		q.Beyond = min(1, squaredError(beyond(cells, q.Lo-q.Scale/2, q.Hi+q.Scale/2), r, t)/all)
	}
	q.SQNRdB = decibels(h.Power(), q.MSE)
	if h.Power() == 0 {
		q.SQNRdB = MaxDB
	}
	if h.Width() > 0 {
		threshold := max(q.Hi, -q.Lo-q.Scale) // amax of a symmetric range
		levels := max(128, min(256, math.Round(threshold/q.Scale)+1))
		d := newDivergence(h, int(levels), 0)
		bins := int(math.Ceil(min(threshold/d.width, binsPerSide) - 1e-3)) // a scale is rounded to float32
		q.KL = d.at(max(1, min(bins, len(d.counts))))
		if math.IsInf(q.KL, 1) { // all that is left lies above the threshold
			q.KL = math.Log(n)
		}
	}
	return q
}

// beyond returns what lies outside of lo to hi.
func beyond(cells []cell, lo, hi float64) (list []cell) {
	for _, c := range cells {
		part := func(from, to float64) {
			switch {
			case c.hi == c.lo:
				list = append(list, c)
			case to > from:
				list = append(list, cell{lo: from, hi: to, count: c.count * (to - from) / (c.hi - c.lo)})
			}
		}
		if c.lo < lo {
			part(c.lo, min(c.hi, lo))
		}
		if c.hi > hi {
			part(max(c.lo, hi), c.hi)
		}
	}
	return list
}

// outside returns how many values lie outside of lo to hi, by more than the rounding of a scale can explain.
func outside(cells []cell, lo, hi float64) float64 {
	const slack = 1 + 1e-6
	lo, hi = lo*slack, hi*slack
	var n float64
	for _, c := range cells {
		n += c.count * (c.above(hi) + 1 - c.above(lo))
	}
	return n
}

// above returns the share of the cell above t.
func (c cell) above(t float64) float64 {
	switch {
	case t >= c.hi:
		return 0
	case t < c.lo:
		return 1
	}
	return (c.hi - t) / (c.hi - c.lo)
}

// Bars returns the counts of n equal intervals from lo to hi, for drawing; a bin that spans several intervals is shared
// between them. Zeros are left out, and so is what lies outside.
func (h *Histogram) Bars(lo, hi float64, n int) []float64 {
	cells := h.cells()
	counts := make([]float64, max(0, n))
	if n <= 0 || !(hi > lo) {
		return counts
	}
	width := (hi - lo) / float64(n)
	for _, c := range cells {
		if c.hi < lo || c.lo > hi {
			continue
		}
		first := max(0, min(n-1, int((c.lo-lo)/width)))
		last := max(0, min(n-1, int((c.hi-lo)/width)))
		for i := first; i <= last; i++ {
			from, to := lo+float64(i)*width, lo+float64(i+1)*width
			share := 1.0
			if c.hi > c.lo {
				share = max(0, min(c.hi, to)-max(c.lo, from)) / (c.hi - c.lo)
			}
			counts[i] += c.count * share
			if c.hi == c.lo {
				break
			}
		}
	}
	return counts
}
