package quant

import "math"

// relativeFloor is the share of the largest |ref| of a tensor from which on an element's relative error counts. A tensor in
// F16 or INT8 is exact to about that share of its range; below it a relative error is one to what rounding left of a zero,
// and the largest of them would say nothing of the tensor. It is what an absolute tolerance beside a relative one is for,
// as in |got - ref| <= atol + rtol |ref|.
const relativeFloor = 1e-3

// relatives gathers relative errors by the magnitude of their reference, 32 bins an octave, since which of them count is
// known when the largest reference is.
type relatives struct {
	octaves []*[1 << logBits]relativeBin // by exponent; nil where no reference has it
}

type relativeBin struct {
	count    uint64
	max, sum float64
}

// place returns the bin of a magnitude.
func (r *relatives) place(magnitude float64) (octave, bin int) {
	b := int(math.Float64bits(magnitude) >> (52 - logBits))
	return b >> logBits, b & (1<<logBits - 1)
}

// add notes an element whose error is e and whose reference, which is finite, has that magnitude.
func (r *relatives) add(e, magnitude float64) {
	if magnitude == 0 {
		return
	}
	if r.octaves == nil {
		r.octaves = make([]*[1 << logBits]relativeBin, 1<<11)
	}
	o, i := r.place(magnitude)
	if r.octaves[o] == nil {
		r.octaves[o] = new([1 << logBits]relativeBin)
	}
	b, rel := &r.octaves[o][i], e/magnitude
	b.count++
	b.max = max(b.max, rel)
	b.sum += rel
}

// over returns the largest and the mean relative error of the references from the bin of floor on; 0 and 0 where there are
// none.
func (r *relatives) over(floor float64) (largest, mean float64) {
	var n uint64
	from, first := r.place(floor)
	for o := from; o < len(r.octaves); o++ {
		if r.octaves[o] == nil {
			continue
		}
		for i, b := range r.octaves[o] {
			if o > from || i >= first {
				n += b.count
				largest = max(largest, b.max)
				mean += b.sum
			}
		}
	}
	return largest, mean / float64(max(n, 1))
}
