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
		return fmt.Errorf("N %d, K %d and block_size %d are no shape", b.rows, b.inner, b.size)
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
