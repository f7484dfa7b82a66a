package quant

import (
	"math"
	"sort"

	"github.com/trtui/trtui/core/graph/numeric"
)

// MSE clips where the mean squared error of the quantised values is least, as pytorch-quantization's method of that
// name. The error is computed from the histogram, the values of a bin being spread evenly in it; see [Quality]. An
// asymmetric range chooses its two ends in turn.
type MSE struct{ Scheme Scheme }

func (c MSE) String() string { return "mse" }

// Range takes a few milliseconds.
func (c MSE) Range(h *Histogram) numeric.Range {
	if h.Count() == 0 {
		return numeric.Range{}
	}
	s := newRangeSearch(c.Scheme, h.cells())
	lo, hi := float64(h.Min()), float64(h.Max())
	switch {
	case h.Width() == 0:
	case !c.Scheme.Asymmetric:
		hi = s.least(float64(h.AMax()), func(t float64) (lo, hi float64) { return -t, t })
		lo = -hi
	default:
		soughtAt := [2]float64{math.NaN(), math.NaN()} // where the other end was when lo and hi were sought: they depend on that alone
		for range 3 {
			if hi > 0 && soughtAt[1] != lo {
				hi, soughtAt[1] = s.least(float64(h.Max()), func(t float64) (float64, float64) { return lo, t }), lo
			}
			if lo < 0 && soughtAt[0] != hi {
				lo, soughtAt[0] = -s.least(-float64(h.Min()), func(t float64) (float64, float64) { return -t, hi }), hi
			}
		}
	}
	return c.Scheme.Range(lo, hi)
}

// rangeSearch is what ranges of the least squared error are sought by.
type rangeSearch struct {
	scheme Scheme
	cells  []cell
	before []powers // before[i]: of the values in cells[:i]
}

// powers are how many values there are, their sum, and that of their squares.
type powers [3]float64

// beyond returns the sum of the values' squared distances from end.
func (p powers) beyond(end float64) float64 { return p[2] - 2*end*p[1] + end*end*p[0] }

func newRangeSearch(scheme Scheme, cells []cell) *rangeSearch {
	s := &rangeSearch{scheme, cells, make([]powers, len(cells)+1)}
	for i, c := range cells {
		p := s.before[i]
		s.before[i+1] = powers{p[0] + c.count, p[1] + c.count*(c.lo+c.hi)/2, p[2] + c.count*(c.lo*c.lo+c.lo*c.hi+c.hi*c.hi)/3}
	}
	return s
}

func (s *rangeSearch) cost(lo, hi float64) float64 {
	return squaredError(s.cells, s.scheme.Range(lo, hi), s.scheme.DataType())
}

// clipped returns the part of the cost that is of cells beyond the range. It takes no pass over all of them.
func (s *rangeSearch) clipped(lo, hi float64) float64 {
	lo, hi = Limits(s.scheme.Range(lo, hi), s.scheme.DataType())
	below := sort.Search(len(s.cells), func(i int) bool { return s.cells[i].hi > lo })
	above := sort.Search(len(s.cells), func(i int) bool { return s.cells[i].lo >= hi })
	over, inside := s.before[len(s.cells)], s.before[above]
	for i := range over {
		over[i] -= inside[i]
	}
	return s.before[below].beyond(lo) + over.beyond(hi)
}

// least returns the threshold up to end whose range has the least cost: the best of a geometric grid over ten octaves, then a
// golden section search between its neighbours. Where clipping alone costs more than the best so far, the grid is passed over.
func (s *rangeSearch) least(end float64, ends func(t float64) (lo, hi float64)) float64 {
	const perOctave, octaves = 8, 10
	const rounding = 1e-6 // of clipped, of a cost, at most
	cost := func(t float64) float64 { return s.cost(ends(t)) }
	at := func(k int) float64 { return end * math.Exp2(-float64(k)/perOctave) }
	best, bestCost := 0, cost(end)
	for k := 1; k <= perOctave*octaves; k++ {
		if s.clipped(ends(at(k))) > bestCost*(1+rounding) {
			continue
		}
		if c := cost(at(k)); c < bestCost {
			best, bestCost = k, c
		}
	}
	a, b := at(best+1), at(max(0, best-1))
	const ratio = 0.6180339887498949
	x, y := b-ratio*(b-a), a+ratio*(b-a)
	cx, cy := cost(x), cost(y)
	for range 12 {
		if cx < cy {
			b, y, cy = y, x, cx
			x = b - ratio*(b-a)
			cx = cost(x)
		} else {
			a, x, cx = x, y, cy
			y = a + ratio*(b-a)
			cy = cost(y)
		}
	}
	if cx < cy {
		y, cy = x, cx
	}
	if cy < bestCost {
		return y
	}
	return at(best)
}

// squaredError returns the sum of the squared errors that quantising to type t by r makes, for values spread evenly in
// their cells. In units of the scale, the error of u is u - q with q = clamp(round(u)), so that its square integrates
// piecewise to q/12 + (u-q)^3/3, which is continuous.
func squaredError(cells []cell, r numeric.Range, t numeric.DataType) float64 {
	qlo, qhi := limits(t)
	scale, zero := float64(r.ScaleAt(0)), float64(r.ZeroAt(0))
	qlo, qhi = qlo-zero, qhi-zero
	inv := 1 / scale
	integral := func(u float64) (e, f float64) {
		q := max(qlo, min(qhi, math.RoundToEven(u)))
		e = u - q
		return e, q/12 + e*e*e/3
	}
	var sum, f float64
	edge := math.NaN() // where f is the integral
	for _, c := range cells {
		lo, hi := c.lo*inv, c.hi*inv
		if lo != edge {
			_, f = integral(lo)
		}
		e, g := integral(hi)
		if width := hi - lo; width > 1e-9*max(1, math.Abs(hi)) {
			sum += c.count / width * (g - f)
		} else {
			sum += c.count * e * e
		}
		edge, f = hi, g
	}
	return sum * scale * scale
}
