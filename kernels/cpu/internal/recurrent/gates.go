package recurrent

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
)

// activation is a function on vectors.
type activation struct {
	op       string
	a, b     float32
	function func(x float32) float32 // of those that have no function on vectors
}

func newActivation(f graph.RecurrentActivation) activation {
	return activation{f.Op, f.Alpha, f.Beta, f.Function()}
}

// apply replaces elements by the activation's.
func (f *activation) apply(k *asm.VecKernel, x []float32) {
	switch f.op {
	case "Sigmoid":
		k.Unary(asm.Sigmoid, x, x, 0, 0)
	case "Tanh":
		k.Unary(asm.Tanh, x, x, 0, 0)
	case "Relu":
		k.Unary(asm.Clamp, x, x, 0, float32(math.Inf(1)))
	case "LeakyRelu":
		k.Unary(asm.LeakyReLU, x, x, f.a, 0)
	case "HardSigmoid":
		k.Unary(asm.HardSigmoid, x, x, f.a, f.b)
	case "Affine":
		k.Unary(asm.Affine, x, x, f.a, f.b)
	case "ScaledTanh":
		k.Unary(asm.Affine, x, x, f.b, 0)
		k.Unary(asm.Tanh, x, x, 0, 0)
		k.Unary(asm.Affine, x, x, f.a, 0)
	default:
		for i, v := range x {
			x[i] = f.function(v)
		}
	}
}

// part returns a unit's columns.
func (u *unit) part(x []float32) []float32 { return x[u.column:][:u.columns] }

// activate clips sums and applies an activation of the direction.
func (r *run) activate(u *unit, which int, x []float32) {
	if r.attrs.Clip > 0 {
		r.vec.Unary(asm.Clamp, x, x, -r.attrs.Clip, r.attrs.Clip)
	}
	r.gates[u.direction*len(r.gates)/r.Directions+which].apply(&r.vec, x)
}

// add adds what the input has for a gate of an item, unless the product began with it.
func (r *run) add(u *unit, item, gate int, sum []float32) {
	if !r.joined(gate) {
		r.vec.Binary(asm.Add, sum, sum, u.part(r.inputOf(u, item, gate)))
	}
}

// sum returns a gate's sum of an item.
func (r *run) sum(u *unit, item, gate int) []float32 {
	sum := u.part(r.sumOf(u.direction, item, gate))
	r.add(u, item, gate, sum)
	return sum
}

// finish stores an item's state, and where the sequence ends, the last one and, of an LSTM, the last cell.
func (r *run) finish(u *unit, item int, state, cell []float32) {
	n, h := r.length(item), r.Hidden
	copy(u.part(r.stateOf(u.direction, (u.step+1)%2, item)), state)
	copy(u.part(r.y[r.Y(r.Place(u.direction, u.step, n), u.direction, item)*h:]), state)
	if u.step < n-1 {
		return
	}
	row := r.State(u.direction, item) * h
	if r.last != nil {
		copy(u.part(r.last[row:]), state)
	}
	if r.lastOf != nil {
		copy(u.part(r.lastOf[row:]), cell)
	}
}

func (r *run) rnn(u *unit, item int) {
	s := r.sum(u, item, 0)
	r.activate(u, 0, s)
	r.finish(u, item, s, nil)
}

// gru is all of a step, or, where the reset gate acts on the state, the first two gates and then the third.
func (r *run) gru(u *unit, item int) {
	state, v := u.part(r.stateOf(u.direction, u.step%2, item)), &r.vec
	z, reset, n := u.part(r.sumOf(u.direction, item, 0)), u.part(r.sumOf(u.direction, item, 1)), u.part(r.sumOf(u.direction, item, 2))
	if u.phase == 0 {
		for gate, sum := range [2][]float32{z, reset} {
			r.add(u, item, gate, sum)
			r.activate(u, 0, sum)
		}
	}
	switch {
	case r.attrs.ResetAfter:
		v.Binary(asm.Add, n, n, u.part(r.weights.reset[u.direction*r.Hidden:]))
		v.Binary(asm.Mul, n, n, reset)
	case u.phase == 0:
		v.Binary(asm.Mul, u.part(r.ws[r.at.parts+u.direction*r.at.states+item*r.pitch:]), reset, state)
		return
	}
	r.add(u, item, 2, n)
	r.activate(u, 1, n)
	v.Binary(asm.Sub, reset, state, n)
	v.Binary(asm.Mul, reset, reset, z)
	v.Binary(asm.Add, n, n, reset)
	r.finish(u, item, n, nil)
}

func (r *run) lstm(u *unit, item int) {
	v, cell := &r.vec, u.part(r.cellOf(u.direction, item))
	i, o, f, z := r.sum(u, item, 0), r.sum(u, item, 1), r.sum(u, item, 2), r.sum(u, item, 3)
	r.activate(u, 1, z)
	atOnce := r.weights.peep == nil && !r.attrs.Coupled && u.columns == r.Hidden
	if atOnce { // i, o and f, with what lies between
		first := r.at.sums + (u.direction*r.Batch+item)*r.at.item
		r.activate(u, 0, r.ws[first:][:2*r.pitch+r.Hidden])
	} else {
		r.peek(u, item, 0, i)
		r.activate(u, 0, i)
		if r.attrs.Coupled {
			v.Unary(asm.Affine, f, i, -1, 1)
		} else {
			r.peek(u, item, 2, f)
			r.activate(u, 0, f)
		}
	}
	v.Binary(asm.Mul, i, i, z)
	v.Binary(asm.Mul, cell, cell, f)
	v.Binary(asm.Add, cell, cell, i)
	if !atOnce {
		r.peek(u, item, 1, o)
		r.activate(u, 0, o)
	}
	copy(z, cell)
	r.gates[u.direction*len(r.gates)/r.Directions+2].apply(v, z)
	v.Binary(asm.Mul, o, o, z)
	r.finish(u, item, o, cell)
}

// peek adds what a gate sees of an item's cell; room for the product is what the first state of the next step will lie in.
func (r *run) peek(u *unit, item, gate int, sum []float32) {
	if r.weights.peep == nil {
		return
	}
	room := u.part(r.stateOf(u.direction, (u.step+1)%2, item))
	r.vec.Binary(asm.Mul, room, u.part(r.cellOf(u.direction, item)), u.part(r.weights.peep[(3*u.direction+gate)*r.Hidden:]))
	r.vec.Binary(asm.Add, sum, sum, room)
}
