package quant

import (
	"math"
	"math/bits"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// binsPerSide is how many bins a histogram has for positive values, and again for negative ones. Since the bins' width
// grows by doubling, the largest magnitude lies in the upper half of its side: 1024 to 2048 bins hold the data.
const binsPerSide = 2048

// Histogram is a streaming histogram of real numbers in bounded memory (under 100 KiB, however much is added): bins of
// equal width on both sides of zero over a range that grows with the data, and exact counts of zeros, NaNs and
// infinities. The zero value is empty and ready for use. It is not safe for concurrent use.
//
// It does not depend on the order in which batches are added, nor on how they are shared between histograms that are
// merged: the width of the bins is a power of two, a bin of one width is the union of two bins of half of it, and the
// sums are kept exactly. (Cutting the same data into other batches may change the sums by a rounding, nothing else.)
type Histogram struct {
	exp   int         // the bins are 2^exp wide
	lanes [][2]uint64 // bins; see slot. Two counters each, so that a run of equal values does not wait for itself

	count      uint64 // finite values, zeros included
	zeros      uint64
	nans       uint64
	posInf     uint64
	negInf     uint64
	least      float32 // of the finite values
	largest    float32
	sum        exactSum
	sumSquares exactSum
}

// minExp is the least width of a bin, 2^-126, so that its reciprocal is a float32; smaller magnitudes are in bin 0.
const minExp = -126

// chunk is how many values are measured, then binned: few enough to stay in the first-level cache.
const chunk = 2048

// Add adds values. NaNs and infinities are counted and otherwise left out.
func (h *Histogram) Add(x []float32) {
	for len(x) > 0 {
		c := x[:min(chunk, len(x))]
		x = x[len(c):]
		m := measure(c)
		if m.magnitude >= infBits {
			h.addFinite(c)
			continue
		}
		h.addMeasured(c, m)
	}
}

// addFinite adds what is finite of x.
func (h *Histogram) addFinite(x []float32) {
	finite := make([]float32, 0, chunk)
	for _, v := range x {
		switch {
		case v != v:
			h.nans++
		case v > math.MaxFloat32:
			h.posInf++
		case v < -math.MaxFloat32:
			h.negInf++
		default:
			finite = append(finite, v)
		}
	}
	if len(finite) > 0 {
		h.addMeasured(finite, measure(finite))
	}
}

// addMeasured adds finite values that have been measured.
func (h *Histogram) addMeasured(x []float32, m measures) {
	h.extend(m.least, m.largest)
	h.count += uint64(len(x))
	h.zeros += uint64(m.zeros)
	h.sum.add(m.sum)
	h.sumSquares.add(m.sumSquares)
	if m.magnitude == 0 {
		return // nothing but zeros, which are in no bin
	}
	h.grow(math.Float32frombits(m.magnitude))
	h.bin(x)
	h.lanes[slot(0, false)][0] -= uint64(m.zeros) // they were counted as small positive values
}

// extend takes in the least and the largest of further values; call it before count changes.
func (h *Histogram) extend(least, largest float32) {
	if h.count == 0 {
		h.least, h.largest = least, largest
		return
	}
	h.least, h.largest = min(h.least, least), max(h.largest, largest)
}

// bin counts finite values whose magnitudes the bins cover.
func (h *Histogram) bin(x []float32) {
	inv := math.Float32frombits(uint32(127-h.exp) << 23) // 2^-exp; multiplying by it is exact or leads to bin 0
	bins := (*[2 * binsPerSide][2]uint64)(h.lanes)
	for len(x) >= 2 {
		a, b := (x[0]+0)*inv, (x[1]+0)*inv // +0 makes positive zeros of negative ones
		x = x[2:]
		bins[index(a)][0]++
		bins[index(b)][1]++
	}
	for _, v := range x {
		bins[index((v+0)*inv)][0]++
	}
}

// index returns the slot of the value u, given in widths of a bin.
func index(u float32) uint32 {
	b := math.Float32bits(u)
	i := int32(math.Float32frombits(b &^ (1 << 31)))
	return uint32(i^int32(b)>>31+binsPerSide) & (2*binsPerSide - 1)
}

// slot returns where bin i of a side is kept: those of negative values lie before those of positive ones, so that
// slots are in the order of the values. Positive bin i is [i*w, (i+1)*w), negative bin i is (-(i+1)*w, -i*w].
func slot(i int, negative bool) int {
	if negative {
		return binsPerSide - 1 - i
	}
	return binsPerSide + i
}

// grow makes the bins wide enough for a magnitude.
func (h *Histogram) grow(magnitude float32) {
	exp := max(minExp, math.Ilogb(float64(magnitude))+1-bits.Len(binsPerSide-1))
	if h.lanes == nil {
		h.lanes = make([][2]uint64, 2*binsPerSide)
		h.exp = exp
		return
	}
	h.widen(exp)
}

// widen makes the bins at least 2^exp wide, joining neighbours.
func (h *Histogram) widen(exp int) {
	shift := exp - h.exp
	if shift <= 0 {
		return
	}
	h.exp = exp
	for _, negative := range []bool{false, true} {
		for i := range binsPerSide {
			from := slot(i, negative)
			v := h.lanes[from]
			h.lanes[from] = [2]uint64{}
			to := &h.lanes[slot(i>>shift, negative)]
			to[0] += v[0]
			to[1] += v[1]
		}
	}
}

// Merge adds what o has counted, as if its values had been added to h.
func (h *Histogram) Merge(o *Histogram) {
	if o.count > 0 {
		h.extend(o.least, o.largest)
	}
	h.count += o.count
	h.zeros += o.zeros
	h.nans += o.nans
	h.posInf += o.posInf
	h.negInf += o.negInf
	h.sum.merge(&o.sum)
	h.sumSquares.merge(&o.sumSquares)
	if o.lanes == nil {
		return
	}
	if h.lanes == nil {
		h.lanes, h.exp = make([][2]uint64, 2*binsPerSide), o.exp
	}
	h.widen(o.exp)
	shift := h.exp - o.exp
	for _, negative := range []bool{false, true} {
		for i := range binsPerSide {
			v := o.lanes[slot(i, negative)]
			to := &h.lanes[slot(i>>shift, negative)]
			to[0] += v[0]
			to[1] += v[1]
		}
	}
}

// clone returns a copy that shares nothing with h.
func (h *Histogram) clone() *Histogram {
	c := *h
	c.lanes = slices.Clone(h.lanes)
	return &c
}

// AddValue adds the real numbers of a tensor that is stored in any type; integers need r to be set.
func (h *Histogram) AddValue(v numeric.Value, r numeric.Range) {
	if real := numeric.ToReal(v, r); real.Type == numeric.F32 {
		h.Add(real.F32())
		return
	}
	h.Add(v.Floats())
}

// Count returns how many finite values were added, zeros included.
func (h *Histogram) Count() uint64 { return h.count }

// Zeros returns how many values were exactly zero. They are in no bin: every range represents them exactly, and the
// many that a Relu leaves would drown the rest.
func (h *Histogram) Zeros() uint64 { return h.zeros }

// NaNs returns how many values were not numbers.
func (h *Histogram) NaNs() uint64 { return h.nans }

// Infs returns how many values were infinite.
func (h *Histogram) Infs() uint64 { return h.posInf + h.negInf }

// Min returns the least finite value, 0 if there is none.
func (h *Histogram) Min() float32 { return h.least }

// Max returns the largest finite value, 0 if there is none.
func (h *Histogram) Max() float32 { return h.largest }

// AMax returns the largest magnitude of a finite value.
func (h *Histogram) AMax() float32 { return max(h.largest, -h.least, 0) }

// Mean returns the mean of the finite values.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return h.sum.value() / float64(h.count)
}

// Power returns the mean of the squares of the finite values.
func (h *Histogram) Power() float64 {
	if h.count == 0 {
		return 0
	}
	return h.sumSquares.value() / float64(h.count)
}

// Width returns the width of a bin; 0 if nothing but zeros was added.
func (h *Histogram) Width() float64 {
	if h.lanes == nil {
		return 0
	}
	return math.Ldexp(1, h.exp)
}

// at returns the count of a slot.
func (h *Histogram) at(slot int) uint64 { return h.lanes[slot][0] + h.lanes[slot][1] }

// magnitudes returns the counts of |x| without zeros, up to the last bin that is not empty.
func (h *Histogram) magnitudes() []uint64 {
	if h.lanes == nil {
		return nil
	}
	counts := make([]uint64, binsPerSide)
	n := 0
	for i := range counts {
		counts[i] = h.at(slot(i, false)) + h.at(slot(i, true))
		if counts[i] > 0 {
			n = i + 1
		}
	}
	return counts[:n]
}

// cell is what one slot knows of the values in it: its count and the part of the slot in which they lie.
type cell struct {
	lo, hi float64 // hi >= lo; equal where all values of the cell are one
	count  float64
}

// cells returns the slots that are not empty in the order of their values, cut to the least and largest value.
func (h *Histogram) cells() []cell {
	var cells []cell
	w := h.Width()
	for s := range h.lanes {
		n := h.at(s)
		if n == 0 {
			continue
		}
		lo := float64(s-binsPerSide) * w
		c := cell{max(lo, float64(h.least)), min(lo+w, float64(h.largest)), float64(n)}
		c.hi = max(c.lo, c.hi)
		cells = append(cells, c)
	}
	return cells
}

// Clamped returns the histogram of the values clamped to least to most, as by a Relu (0 and infinity); h itself where all of them lie
// between. Values of a bin that are beyond a bound in part are taken as spread evenly in it, and sums are those of bins.
func (h *Histogram) Clamped(least, most float64) *Histogram {
	low, high := float64(h.least), float64(h.largest)
	if h.count == 0 || low >= least && high <= most {
		return h
	}
	out := &Histogram{exp: h.exp, nans: h.nans, posInf: h.posInf, negInf: h.negInf, count: h.count}
	out.least, out.largest = float32(min(max(low, least), most)), float32(min(max(high, least), most))
	if h.lanes != nil {
		out.lanes = make([][2]uint64, len(h.lanes))
	}
	put := func(c cell) {
		if c.count = math.Round(c.count); c.count == 0 {
			return
		}
		if c.lo == 0 && c.hi == 0 {
			out.zeros += uint64(c.count)
			return
		}
		out.lanes[index(float32(math.Ldexp((c.lo+c.hi)/2, -h.exp)))][0] += uint64(c.count)
		out.sum.add(c.count * (c.lo + c.hi) / 2)
		out.sumSquares.add(c.count * (c.lo*c.lo + c.lo*c.hi + c.hi*c.hi) / 3)
	}
	for _, c := range append(h.cells(), cell{0, 0, float64(h.zeros)}) {
		below, above := math.Round(c.count*(1-c.above(least))), math.Round(c.count*c.above(most))
		put(cell{least, least, below})
		put(cell{most, most, above})
		put(cell{max(c.lo, least), min(c.hi, most), c.count - below - above})
	}
	return out
}
