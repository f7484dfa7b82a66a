package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// gatherBlocks takes rows of a table of few bits and makes them real: the table stays as small as it is. Not supported are other
// axes than that of rows and of their elements, and types of four bits.
func gatherBlocks(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	data, indices, bits, size := n.Input(0), n.Input(1), n.Int("bits", 4), n.Int("block_size", 128)
	if data.Type != numeric.U8 || len(data.Dims) != 2 || bits != 2 && bits != 4 && bits != 8 {
		return nil, fmt.Errorf("the table is %s with %d bits, want u8 with two axes, and 2, 4 or 8 bits", data.TypeString(), bits)
	}
	if axis := n.Int("quantize_axis", 1); n.Int("gather_axis", 0) != 0 || axis != 1 && axis != -1 {
		return nil, fmt.Errorf("gather_axis %d and quantize_axis %d are not supported, but 0 and 1", n.Int("gather_axis", 0), axis)
	}
	blocks, err := n.extent(2, 1)
	if err != nil {
		return nil, err
	}
	width, err := n.extent(0, 1)
	if err != nil {
		return nil, err
	}
	if width *= 8 / bits; size < 1 || width != blocks*size {
		return nil, fmt.Errorf("rows of %d elements and %d blocks of %d", width, blocks, size)
	}
	rows := d.fewBits(d.Gather(data, indices, 0), bits)
	kept := make([]int, len(indices.Dims)) // zeros: the extents of the indices
	split := func(t *Tensor, last ...int) *Tensor {
		return d.Reshape(t, append(kept[:len(kept):len(kept)], last...)...)
	}
	real := n.Input(2).Type
	q := d.Cast(split(rows, blocks, size), real)
	if zeros := n.Input(3); zeros != nil {
		z := d.fewBits(d.Gather(zeros, indices, 0), bits)
		z = d.Slice(z, SliceAttrs{Starts: []int{0}, Ends: []int{blocks}, Axes: []int{len(kept)}})
		q = d.Sub(q, d.Cast(split(z, blocks, 1), real))
	} else {
		b := elementwise.NewBuilder(1)
		b.Do(elementwise.Sub, 0, b.Constant(float32(int(1)<<(bits-1))))
		q = d.Program(b.Program, q)
	}
	scales := split(d.Gather(n.Input(2), indices, 0), blocks, 1)
	return result(split(d.Mul(q, scales), width))
}

// fewBits adds the elements of so many bits that the bytes of x have, along the last axis, the lowest bits first.
func (d *Definition) fewBits(x *Tensor, bits int) *Tensor {
	if bits == 8 {
		return x
	}
	byteOf := func(v int) *Tensor { return d.Constant(d.fresh("bits"), numeric.Values(numeric.U8, []uint8{uint8(v)})) }
	mask, rank := byteOf(1<<bits-1), len(x.Dims)
	var parts []*Tensor
	for at := 0; at < 8; at += bits {
		part := x
		if at > 0 {
			part = d.BitShift(x, byteOf(at), false)
		}
		parts = append(parts, d.Unsqueeze(d.BitwiseAnd(part, mask), rank))
	}
	dims := make([]int, rank)
	dims[rank-1] = -1
	return d.Reshape(d.Concat(rank, parts...), dims...)
}
