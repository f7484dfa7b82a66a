package graph

import "fmt"

// blocks are weights of few bits, [rows, inner], with a scale and a zero point for so many of a row's elements that follow each
// other. Several elements are in a byte, the first one in the lowest bits, and each block begins at a byte; so do the zero points
// of a row.
type blocks struct {
	rows, inner, size, bits int
	data                    []byte
	scales                  []float32
	zeros                   []float32 // nil: half of what the bits hold
	packed                  []byte    // zero points as bits, nil for none
}

// blockedWeights returns the weights of a MatMulNBits as reals [K,N].
func (n *Node) blockedWeights() (Value, error) {
	b := blocks{rows: n.Int("N", 0), inner: n.Int("K", 0), size: n.Int("block_size", 0), bits: n.Int("bits", 4)}
	data, okB := n.Const(1)
	scales, okS := n.Const(2)
	if !okB || !okS {
		return Value{}, fmt.Errorf("the weights and their scales must be constants")
	}
	b.data, b.scales = data.Data, scales.Floats()
	if zeros := n.Input(3); zeros != nil {
		v, ok := zeros.Const()
		switch {
		case !ok:
			return Value{}, fmt.Errorf("the zero points must be constants")
		case v.Type == U8:
			b.packed = v.Data
		default:
			b.zeros = v.Floats()
		}
	}
	if data.Type != U8 {
		return Value{}, fmt.Errorf("the weights are %s, want u8", data.Type)
	}
	if err := b.check(); err != nil {
		return Value{}, err
	}
	w := make([]float32, b.rows*b.inner)
	for r := range b.rows {
		for i := range b.inner {
			w[i*b.rows+r] = b.at(r, i)
		}
	}
	v := NewValue(scales.Type, b.inner, b.rows)
	FromReal(v, w, Range{})
	return v, nil
}

// perRow is how many blocks a row has.
func (b *blocks) perRow() int { return (b.inner + b.size - 1) / b.size }

func (b *blocks) check() error {
	if b.bits != 2 && b.bits != 4 && b.bits != 8 {
		return fmt.Errorf("bits is %d; 2, 4 and 8 are supported", b.bits)
	}
	if b.rows < 1 || b.inner < 1 || b.size < 1 || b.size > 1<<20 || b.rows > maxExtent/b.inner || b.size*b.bits%8 != 0 {
		return fmt.Errorf("attributes N %d, K %d and block_size %d are no shape", b.rows, b.inner, b.size)
	}
	n := b.perRow()
	for _, part := range []struct {
		what       string
		have, want int
		given      bool
	}{
		{"bytes of weights", len(b.data), b.rows * n * (b.size * b.bits / 8), true},
		{"scales", len(b.scales), b.rows * n, true},
		{"zero points", len(b.zeros), b.rows * n, b.zeros != nil},
		{"bytes of zero points", len(b.packed), b.rows * ((n*b.bits + 7) / 8), b.packed != nil},
	} {
		if part.given && part.have != part.want {
			return fmt.Errorf("%d %s, want %d", part.have, part.what, part.want)
		}
	}
	return nil
}

// at returns an element of a row.
func (b *blocks) at(row, i int) float32 {
	n := b.perRow()
	block := row*n + i/b.size
	q := bitsAt(b.data[block*(b.size*b.bits/8):], i%b.size, b.bits)
	zero := float32(int(1) << (b.bits - 1))
	switch {
	case b.zeros != nil:
		zero = b.zeros[block]
	case b.packed != nil:
		zero = float32(bitsAt(b.packed[row*((n*b.bits+7)/8):], i/b.size, b.bits))
	}
	return (float32(q) - zero) * b.scales[block]
}

// bitsAt returns element i of elements of so many bits.
func bitsAt(data []byte, i, bits int) int {
	perByte := 8 / bits
	return int(data[i/perByte]>>(i%perByte*bits)) & (1<<bits - 1)
}

// gatherBlocks takes rows of a table of few bits and makes them real: the table stays as small as it is. Not supported are other
// axes than that of rows and of their elements, and types of four bits.
func gatherBlocks(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1, 2); err != nil {
		return nil, err
	}
	data, indices, bits, size := n.Input(0), n.Input(1), n.Int("bits", 4), n.Int("block_size", 128)
	if data.Type != U8 || len(data.Dims) != 2 || bits != 2 && bits != 4 && bits != 8 {
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
		b := newProgram(1)
		b.do(EltSub, 0, b.constant(float32(int(1)<<(bits-1))))
		q = d.Program(b.p, q)
	}
	scales := split(d.Gather(n.Input(2), indices, 0), blocks, 1)
	return result(split(d.Mul(q, scales), width))
}

// fewBits adds the elements of so many bits that the bytes of x have, along the last axis, the lowest bits first.
func (d *Definition) fewBits(x *Tensor, bits int) *Tensor {
	if bits == 8 {
		return x
	}
	byteOf := func(v int) *Tensor { return d.Constant(d.fresh("bits"), Values(U8, []uint8{uint8(v)})) }
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
