package products

import "github.com/trtui/trtui/core/graph"

// packWeights returns the weights as rows of depth() elements, one for each output channel: tap after tap, each with its
// input channels. Behind them are zeros, or zero points, which are numbers that add nothing too. Reals are converted to
// typ.
func (p *product) packWeights() []byte {
	rows, depth := p.k*p.groups, p.depth()
	if p.subpixel != nil {
		rows = p.subpixel.tapped * p.k
	}
	out := make([]byte, rows*depth*p.typ.Size())
	if p.weightsHaveZeros() {
		for i := range out { // a phase's rows are the channels again
			out[i] = byte(p.zeroOf(i / depth % (p.k * p.groups)))
		}
	}
	switch {
	case p.typ.Size() == 1:
		packRows(p, out, p.weight.Data)
	case p.typ == graph.F16:
		packRows(p, graph.View[uint16](out), p.halves())
	default:
		packRows(p, graph.View[float32](out), p.weight.Floats())
	}
	return out
}

// halves returns the weights as they lie in the constant, in f16.
func (p *product) halves() []uint16 {
	if p.weight.Type == graph.F16 {
		return graph.View[uint16](p.weight.Data)
	}
	list := make([]uint16, p.weight.Len())
	for i, f := range p.weight.Floats() {
		list[i] = graph.F32ToF16(f)
	}
	return list
}

// packedTogether is how many rows are packed at a time where the constant has channels as its columns: neighbours in memory,
// of which a cache line holds several. A vocabulary's matrix has tens of millions of elements.
const packedTogether = 32

// packRows places the elements of the constant.
func packRows[T any](p *product, out, in []T) {
	if p.subpixel != nil {
		p.subpixel.each(p, func(dst, src int) { out[dst] = in[src] })
		return
	}
	rows, depth, depthC, together := p.k*p.groups, p.depth(), p.depthC(), 1
	if p.column {
		together = packedTogether
	}
	for first := 0; first < rows; first += together {
		last := min(rows, first+together)
		for t := range p.r * p.s {
			for c := range p.c {
				for o := first; o < last; o++ {
					out[o*depth+t*depthC+c] = in[p.source(o, c, t)]
				}
			}
		}
	}
}
