package kernels

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// Equal reports whether two descriptions are of the same type, shape, format and place.
func (d Desc) Equal(o Desc) bool {
	return d.Type == o.Type && d.Format == o.Format && d.BatchStride() == o.BatchStride() && slices.Equal(d.Dims, o.Dims)
}

// SameBytes reports whether d and o lay out the same elements in the same order, so that a reformat between them
// moves nothing: equal formats, or a blocked one over whole blocks with one element per channel.
func (d Desc) SameBytes(o Desc) bool {
	if d.Type != o.Type || !d.Dense() || !o.Dense() {
		return false
	}
	if d.Format == o.Format {
		return graph.Count(d.Dims) == graph.Count(o.Dims) && (d.Format == Linear || slices.Equal(d.Dims, o.Dims))
	}
	return d.flat() && o.flat() && d.Type != graph.I8 && graph.Count(d.Dims) == graph.Count(o.Dims)
}

// flat reports whether the elements lie in logical order without padding.
func (d Desc) flat() bool {
	b := d.Format.Block()
	return b == 1 || len(d.Dims) > 1 && d.Dims[1]%b == 0 && graph.Count(d.Dims[2:]) == 1
}

// FromLinear stores logically ordered elements as d lays them out. Padding channels become zero bytes.
func (d Desc) FromLinear(dst, src []byte) { d.copy(src, dst, false) }

// ToLinear reads elements that d lays out into logical order.
func (d Desc) ToLinear(dst, src []byte) { d.copy(dst, src, true) }

// copy moves elements between linear order and d's.
func (d Desc) copy(linear, stored []byte, toLinear bool) {
	size := d.Type.Size()
	if len(d.Dims) == 0 {
		move(linear[:size], stored[:size], toLinear)
		return
	}
	batch := graph.Count(d.Dims[1:]) * size
	for n := range d.Dims[0] {
		at := n * d.BatchStride() * size
		lin, st := linear[n*batch:(n+1)*batch], stored[at:at+d.perBatch()*size]
		if d.Format == Linear {
			move(lin, st, toLinear)
			continue
		}
		if !toLinear {
			clear(st)
		}
		d.copyBlocks(lin, st, toLinear)
	}
}

// copyBlocks moves one batch index of a blocked format.
func (d Desc) copyBlocks(linear, stored []byte, toLinear bool) {
	block, channels, plane := d.Format.Block(), d.Dims[1], graph.Count(d.Dims[2:])
	switch d.Type.Size() {
	case 1:
		interleave(linear, stored, block, channels, plane, toLinear)
		if d.Type == graph.I8 {
			moved := stored
			if toLinear {
				moved = linear
			}
			for i := range moved {
				moved[i] ^= 0x80
			}
		}
	case 2:
		interleave(graph.View[uint16](linear), graph.View[uint16](stored), block, channels, plane, toLinear)
	case 4:
		interleave(graph.View[uint32](linear), graph.View[uint32](stored), block, channels, plane, toLinear)
	case 8:
		interleave(graph.View[uint64](linear), graph.View[uint64](stored), block, channels, plane, toLinear)
	}
}

func interleave[T any](linear, stored []T, block, channels, plane int, toLinear bool) {
	for c := range channels {
		row := linear[c*plane : (c+1)*plane]
		at := c/block*block*plane + c%block
		for i := range row {
			if toLinear {
				row[i] = stored[at+i*block]
			} else {
				stored[at+i*block] = row[i]
			}
		}
	}
}

func move(linear, stored []byte, toLinear bool) {
	if toLinear {
		copy(linear, stored)
	} else {
		copy(stored, linear)
	}
}
