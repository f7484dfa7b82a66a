package products

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// packed is how weights lie in memory for a tile: tile after tile of channels, of a group or phase after the other, and step
// after step, as they will lie in a stage of shared memory, BN rows of BK bytes with their pieces swizzled. Rows of the sum
// are tap after tap, each with its input channels; what is behind their ends are zeros, or zero points, which add nothing
// either.
type packed struct {
	p     *product
	t     Tile
	tiles int // of a group or phase
	steps int
	lane  int // channels that a lane of tensor cores has side by side ([laneRow])
}

func (t Tile) packed(p *product, lane int) packed {
	return packed{p, t, emit.CeilDiv(p.k, t.BN), p.steps(t.BK), lane}
}

// stepBytes returns what a step takes.
func (w packed) stepBytes() int { return w.t.BN * w.t.BK }

// tileBytes returns what a tile takes.
func (w packed) tileBytes() int { return w.steps * w.stepBytes() }

// parts returns the groups, or phases that have taps.
func (w packed) parts() int {
	if w.p.subpixel != nil {
		return w.p.subpixel.tapped
	}
	return w.p.groups
}

// fits returns an error where there are too many.
func (w packed) fits() error { return weightsFit(w.parts()*w.tiles*w.t.BN, w.steps*w.t.BK) }

// packedRow is an output channel's row in its tile: where the first step has it, and by what its pieces are swizzled.
type packedRow struct{ first, swizzle int }

// row returns where the row of a channel of all groups, or phases, lies.
func (w packed) row(channel int) packedRow {
	part, o := channel/w.p.k, channel%w.p.k
	r := laneRow(o%w.t.BN, w.lane)
	swizzle := r
	if w.t.BK == 64 {
		swizzle /= 2
	}
	return packedRow{(part*w.tiles+o/w.t.BN)*w.tileBytes() + r*w.t.BK, swizzle & (w.t.pieces() - 1)}
}

// laneRow returns the row of a stage that a channel of the tile has, so that a lane of tensor cores, which gets sums of the rows 2t
// and 2t+1 of every 8, has so many channels side by side, a power of two: of 4*lane channels those from t*lane on.
func laneRow(channel, lane int) int {
	if lane <= 2 {
		return channel
	}
	in := channel % (4 * lane)
	return channel - in + in%lane/2*8 + in/lane*2 + in%2
}

// place returns where a byte of a row of the sum lies, in the first row of the tile and without a swizzle, and in which
// piece: at(row) is in the row.
func (w packed) place(b int) (first, piece int) {
	return b/w.t.BK*w.stepBytes() + b%16, b % w.t.BK / 16
}

func (r packedRow) at(first, piece int) int { return r.first + first + 16*(piece^r.swizzle) }

// pack returns the weights. Reals are converted to the product's type.
func (w packed) pack() []byte {
	p := w.p
	out := make([]byte, w.parts()*w.tiles*w.tileBytes())
	if p.weightsHaveZeros() {
		for channel := range w.parts() * p.k {
			r, zero := w.row(channel), byte(p.zeroOf(channel%(p.k*p.groups))) // a phase's rows are the channels again
			for step := range w.steps {
				at := r.first + step*w.stepBytes()
				for i := range w.t.BK {
					out[at+i] = zero
				}
			}
		}
	}
	switch {
	case p.typ.Size() == 1:
		packRows(w, out, p.weight.Data)
	case p.typ == numeric.F16:
		packRows(w, numeric.View[uint16](out), p.halves())
	default:
		packRows(w, numeric.View[float32](out), p.weight.Floats())
	}
	return out
}

// halves returns the weights as they lie in the constant, in f16.
func (p *product) halves() []uint16 {
	if p.weight.Type == numeric.F16 {
		return numeric.View[uint16](p.weight.Data)
	}
	list := make([]uint16, p.weight.Len())
	for i, f := range p.weight.Floats() {
		list[i] = numeric.F32ToF16(f)
	}
	return list
}

// packedTogether is how many rows are packed at a time where the constant has channels as its columns: neighbours in memory,
// of which a cache line holds several. A vocabulary's matrix has tens of millions of elements.
const packedTogether = 32

// packRows places the elements of the constant.
func packRows[T any](w packed, out, in []T) {
	p, size := w.p, w.p.typ.Size()
	if p.subpixel != nil {
		p.subpixel.each(p, func(channel, element, src int) {
			out[w.row(channel).at(w.place(element*size))/size] = in[src]
		})
		return
	}
	channels, depthC, together := p.k*p.groups, p.depthC(), 1
	if p.column {
		together = packedTogether
	}
	rows := make([]packedRow, together)
	for first := 0; first < channels; first += together {
		last := min(channels, first+together)
		for o := first; o < last; o++ {
			rows[o-first] = w.row(o)
		}
		for t := range p.r * p.s {
			for c := range p.c {
				at, piece := w.place((t*depthC + c) * size)
				for o := first; o < last; o++ {
					out[rows[o-first].at(at, piece)/size] = in[p.source(o, c, t)]
				}
			}
		}
	}
}
