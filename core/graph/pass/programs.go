package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
)

// maxProgramArgs bounds the tensors that one element-wise program reads, and maxProgramCode its operations.
const (
	maxProgramArgs = 8
	maxProgramCode = 64
)

// pointwise is a layer seen as a program over distinct tensors.
type pointwise struct {
	program elementwise.Program
	inputs  []*graph.Tensor
}

// pointwiseOf returns l's program where l is an element-wise layer over real numbers in a floating type.
func pointwiseOf(l *graph.Layer) (pointwise, bool) {
	p, ok := graph.ProgramOf(l)
	if !ok || l.Epilogue.Args > 0 || len(l.Outputs) != 1 || !isFloat(l.Outputs[0]) || len(l.Inputs) == 0 {
		return pointwise{}, false
	}
	for _, t := range l.Inputs {
		if !isFloat(t) {
			return pointwise{}, false
		}
	}
	return distinct(p, l.Inputs), true
}

// distinct returns the program over its inputs with each tensor as one argument only.
func distinct(p elementwise.Program, inputs []*graph.Tensor) pointwise {
	var list []*graph.Tensor
	place := make([]int, len(inputs))
	for i, t := range inputs {
		place[i] = slices.Index(list, t)
		if place[i] < 0 {
			place[i] = len(list)
			list = append(list, t)
		}
	}
	if len(list) == len(inputs) {
		return pointwise{p, list}
	}
	q := elementwise.Program{Args: len(list), Code: slices.Clone(p.Code)}
	for i, in := range q.Code {
		for j := range in.Op.Info().Arity {
			if v := in.Arg[j]; v < p.Args {
				q.Code[i].Arg[j] = place[v]
			} else {
				q.Code[i].Arg[j] = v - p.Args + q.Args
			}
		}
	}
	return pointwise{q, list}
}

// others returns the inputs but the one at place at.
func (e pointwise) others(at int) []*graph.Tensor {
	return slices.Delete(slices.Clone(e.inputs), at, at+1)
}

// channelAffine returns scale and shift per channel such that the program is scale[m]*x + shift[m] in its argument at,
// whose other arguments have the given values per channel; ok is false if it is not of that form.
func channelAffine(p elementwise.Program, at, n int, consts [][]float64) (scale, shift []float64, ok bool) {
	type form struct{ a, b []float64 }
	fill := func(v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	combine := func(x, y []float64, f func(x, y float64) float64) []float64 {
		z := make([]float64, n)
		for i := range z {
			z[i] = f(x[i], y[i])
		}
		return z
	}
	add := func(x, y float64) float64 { return x + y }
	sub := func(x, y float64) float64 { return x - y }
	mul := func(x, y float64) float64 { return x * y }
	div := func(x, y float64) float64 { return x / y }
	vals := make([]form, p.Args, p.Args+len(p.Code))
	for i := range vals {
		if i == at {
			vals[i] = form{fill(1), fill(0)}
		} else {
			vals[i] = form{fill(0), consts[i]}
		}
	}
	for _, in := range p.Code {
		x, y := form{fill(0), fill(0)}, form{fill(0), fill(0)}
		if in.Op.Info().Arity > 0 {
			x = vals[in.Arg[0]]
		}
		if in.Op.Info().Arity > 1 {
			y = vals[in.Arg[1]]
		}
		var v form
		switch {
		case in.Op == elementwise.Const:
			v = form{fill(0), fill(float64(in.Imm[0]))}
		case in.Op == elementwise.Add:
			v = form{combine(x.a, y.a, add), combine(x.b, y.b, add)}
		case in.Op == elementwise.Sub:
			v = form{combine(x.a, y.a, sub), combine(x.b, y.b, sub)}
		case in.Op == elementwise.Neg:
			v = form{combine(fill(0), x.a, sub), combine(fill(0), x.b, sub)}
		case in.Op == elementwise.Mul && allZero(y.a):
			v = form{combine(x.a, y.b, mul), combine(x.b, y.b, mul)}
		case in.Op == elementwise.Mul && allZero(x.a):
			v = form{combine(y.a, x.b, mul), combine(y.b, x.b, mul)}
		case in.Op == elementwise.Div && allZero(y.a):
			v = form{combine(x.a, y.b, div), combine(x.b, y.b, div)}
		default:
			return nil, nil, false
		}
		vals = append(vals, v)
	}
	last := vals[p.Result()]
	return last.a, last.b, true
}
