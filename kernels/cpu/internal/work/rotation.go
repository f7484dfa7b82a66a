package work

import "github.com/trtui/trtui/kernels/cpu/internal/asm"

// Rotation turns pairs of components of heads, as a rotary embedding does.
type Rotation struct {
	Size        int  // components of a head; those that are no pairs are copied
	First       int  // the first that is of a pair
	Interleaved bool // pairs lie side by side
	Apart       bool // of Interleaved: their components are written in halves
	halves      asm.RotaryKernel
}

// NewRotation returns the rotation of heads of a size for an instruction set.
func NewRotation(size int, interleaved bool, isa asm.Features) Rotation {
	return Rotation{Size: size, Interleaved: interleaved, halves: RotaryKernel(isa)}
}

// Turn turns so many heads that lie one behind the other, by as many angles as there are pairs in each. y and x do not overlap.
func (r *Rotation) Turn(y, x, cos, sin []float32, heads int) {
	y, x = y[:heads*r.Size], x[:heads*r.Size]
	if r.First == 0 {
		r.turn(y, x, cos, sin, r.Size)
		return
	}
	copy(y[:r.First], x)
	y, x = y[r.First:], x[r.First:]
	last := (heads - 1) * r.Size // what is in front of a head's pairs is behind those of the one before
	r.turn(y[:last], x[:last], cos, sin, r.Size)
	r.turn(y[last:], x[last:], cos, sin, r.Size-r.First)
}

// turn turns heads of a size whose pairs come first.
func (r *Rotation) turn(y, x, cos, sin []float32, size int) {
	switch {
	case len(x) == 0:
	case !r.Interleaved:
		r.halves.Turn(y, x, cos, sin, size, len(x)/size)
	case r.Apart:
		turnApart(y, x, cos, sin[:len(cos)], size)
	default:
		turnNeighbours(y, x, cos, sin[:len(cos)], size)
	}
}

// turnNeighbours turns the pairs of heads of a size that lie side by side.
func turnNeighbours(y, x, cos, sin []float32, size int) {
	for len(x) >= size && size > 0 {
		p, q := x[:size], y[:size]
		for j, c := range cos {
			a, b, s := p[2*j], p[2*j+1], sin[j]
			q[2*j], q[2*j+1] = float32(a*c)-float32(b*s), float32(a*s)+float32(b*c)
		}
		if n := 2 * len(cos); n < size {
			copy(q[n:], p[n:])
		}
		x, y = x[size:], y[size:]
	}
}

// turnApart turns the pairs of heads of a size that lie side by side, and writes their first components in front of the second ones.
func turnApart(y, x, cos, sin []float32, size int) {
	for n := len(cos); len(x) >= size && size > 0; x, y = x[size:], y[size:] {
		p, q, r := x[:2*n], y[:n], y[n:2*n]
		for j, c := range cos {
			a, b, s := p[2*j], p[2*j+1], sin[j]
			q[j], r[j] = float32(a*c)-float32(b*s), float32(a*s)+float32(b*c)
		}
		copy(y[2*n:size], x[2*n:size])
	}
}
