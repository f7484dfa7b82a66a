package kernels

import (
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Equal reports whether two descriptions are of the same type, shape, format and place.
func (d Desc) Equal(o Desc) bool {
	return d.Type == o.Type && d.Format == o.Format && d.BatchStride() == o.BatchStride() && d.Pitch == o.Pitch && slices.Equal(d.Dims, o.Dims)
}

// SameBytes reports whether d and o lay out the same elements in the same order, so that a reformat between them
// moves nothing: equal formats, or a blocked one over whole blocks with one element per channel.
func (d Desc) SameBytes(o Desc) bool {
	if d.Type != o.Type || !d.Dense() || !o.Dense() {
		return false
	}
	if d.Format == o.Format {
		return numeric.Count(d.Dims) == numeric.Count(o.Dims) && (d.Format == Linear || slices.Equal(d.Dims, o.Dims))
	}
	return d.flat() && o.flat() && d.offsetBinary() == o.offsetBinary() && numeric.Count(d.Dims) == numeric.Count(o.Dims)
}

// flat reports whether the elements lie in logical order without padding.
func (d Desc) flat() bool {
	b := d.Block()
	return d.Format == Linear || len(d.Dims) > 1 && d.Dims[1]%b == 0 && numeric.Count(d.Dims[2:]) == 1
}

// offsetBinary reports whether elements q are stored as q+128.
func (d Desc) offsetBinary() bool { return d.Format == C16 && d.Type == numeric.I8 }

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
	batch := numeric.Count(d.Dims[1:]) * size
	for n := range d.Dims[0] {
		at := n * d.BatchStride() * size
		lin, st := linear[n*batch:(n+1)*batch], stored[at:at+d.extent()*size]
		if d.Format == Linear {
			d.copyRows(lin, st, toLinear)
			continue
		}
		if !toLinear {
			d.clear(st)
		}
		d.copyBlocks(lin, st, toLinear)
	}
}

// copyRows moves one batch index of a tensor in Linear.
func (d Desc) copyRows(linear, stored []byte, toLinear bool) {
	if d.Pitch == 0 {
		move(linear, stored, toLinear)
		return
	}
	rows, width := d.rows()
	pitch, size := d.Pitch*d.Type.Size(), width*d.Type.Size()
	for i := range rows {
		move(linear[i*size:(i+1)*size], stored[i*pitch:i*pitch+size], toLinear)
	}
}

// clear makes zeros of one batch index, but not of what lies between the pixels of a slice.
func (d Desc) clear(stored []byte) {
	if d.Pitch == 0 {
		clear(stored)
		return
	}
	pitch, width := d.Pitch*d.Type.Size(), d.Width()*d.Type.Size()
	for at := 0; at < len(stored); at += pitch {
		clear(stored[at : at+width])
	}
}

// copyBlocks moves one batch index of a format that pads channels.
func (d Desc) copyBlocks(linear, stored []byte, toLinear bool) {
	switch d.Type.Size() {
	case 1:
		interleave(d, linear, stored, toLinear)
		if d.offsetBinary() {
			moved := stored
			if toLinear {
				moved = linear
			}
			for i := range moved {
				moved[i] ^= 0x80
			}
		}
	case 2:
		interleave(d, numeric.View[uint16](linear), numeric.View[uint16](stored), toLinear)
	case 4:
		interleave(d, numeric.View[uint32](linear), numeric.View[uint32](stored), toLinear)
	case 8:
		interleave(d, numeric.View[uint64](linear), numeric.View[uint64](stored), toLinear)
	}
}

func interleave[T any](d Desc, linear, stored []T, toLinear bool) {
	channels, plane, block := d.Dims[1], numeric.Count(d.Dims[2:]), d.Block()
	for c := range channels {
		row := linear[c*plane : (c+1)*plane]
		at, step := c/block*block*plane+c%block, block
		if d.Format == NHWC {
			at, step = c, d.PixelPitch()
		}
		for i := range row {
			if toLinear {
				row[i] = stored[at+i*step]
			} else {
				stored[at+i*step] = row[i]
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
