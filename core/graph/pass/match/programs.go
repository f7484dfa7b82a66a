package match

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// MaxProgramArgs bounds the tensors that one element-wise program reads, and MaxProgramCode its operations.
const (
	MaxProgramArgs = 8
	MaxProgramCode = 64
)

// Pointwise is a layer seen as a program over distinct tensors.
type Pointwise struct {
	Program elementwise.Program
	Inputs  []*graph.Tensor
}

// PointwiseOf returns l's program where l is an element-wise layer over real numbers in a floating type.
func PointwiseOf(l *graph.Layer) (Pointwise, bool) {
	p, ok := graph.ProgramOf(l)
	if !ok || l.Epilogue.Args > 0 || len(l.Outputs) != 1 || !IsFloat(l.Outputs[0]) || len(l.Inputs) == 0 {
		return Pointwise{}, false
	}
	for _, t := range l.Inputs {
		if !IsFloat(t) {
			return Pointwise{}, false
		}
	}
	return Distinct(p, l.Inputs), true
}

// IntegersOf returns l's program where l is an element-wise layer over integers and truth values.
func IntegersOf(l *graph.Layer) (Pointwise, bool) {
	e, ok := l.Attrs.(graph.Elementwise)
	if !ok || l.Epilogue.Args > 0 || len(l.Outputs) != 1 || len(l.Inputs) == 0 {
		return Pointwise{}, false
	}
	integers := false
	for _, t := range slices.Concat(l.Inputs, l.Outputs) {
		if t == nil || t.Range.IsSet() || !t.Type.IsInteger() && t.Type != numeric.Bool {
			return Pointwise{}, false
		}
		integers = integers || t.Type.IsInteger()
	}
	return Distinct(e.Program, l.Inputs), integers
}

// Distinct returns the program over its inputs with each tensor as one argument only.
func Distinct(p elementwise.Program, inputs []*graph.Tensor) Pointwise {
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
		return Pointwise{p, list}
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
	return Pointwise{q, list}
}

// Rounding returns the program that rounds a number to the nearest that an integer of a type stands for, by a range of one scale.
func Rounding(r numeric.Range, t numeric.DataType) elementwise.Program {
	scale, zero := r.ScaleAt(0), float64(r.ZeroAt(0))
	least, most := t.Limits()
	b := elementwise.NewBuilder(1)
	by := b.Constant(scale)
	steps := b.Do(elementwise.Round, b.Do(elementwise.Div, 0, by))
	steps = b.Do(elementwise.Min, b.Do(elementwise.Max, steps, b.Constant(float32(least-zero))), b.Constant(float32(most-zero)))
	b.Do(elementwise.Mul, steps, by)
	return b.Program
}

// Others returns the inputs but the one at place at.
func (e Pointwise) Others(at int) []*graph.Tensor {
	return slices.Delete(slices.Clone(e.Inputs), at, at+1)
}

// ChannelAffine returns scale and shift per channel such that the program is scale[m]*x + shift[m] in its argument at,
// whose other arguments have the given values per channel; ok is false if it is not of that form.
func ChannelAffine(p elementwise.Program, at, n int, consts [][]float64) (scale, shift []float64, ok bool) {
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
		case in.Op == elementwise.Mul && AllZero(y.a):
			v = form{combine(x.a, y.b, mul), combine(x.b, y.b, mul)}
		case in.Op == elementwise.Mul && AllZero(x.a):
			v = form{combine(y.a, x.b, mul), combine(y.b, x.b, mul)}
		case in.Op == elementwise.Div && AllZero(y.a):
			v = form{combine(x.a, y.b, div), combine(x.b, y.b, div)}
		default:
			return nil, nil, false
		}
		vals = append(vals, v)
	}
	last := vals[p.Result()]
	return last.a, last.b, true
}

// FullSize returns the places of the inputs that are no constants and have the shape of l's output.
func (e Pointwise) FullSize(l *graph.Layer) []int {
	var list []int
	for i, t := range e.Inputs {
		if !t.IsConst() && symbolic.Equal(t.Dims, l.Outputs[0].Dims) {
			list = append(list, i)
		}
	}
	return list
}

// IsAnchor reports whether l is a layer that other layers are fused into: a convolution or matrix product.
func IsAnchor(l *graph.Layer) bool {
	return l != nil && (l.Op.IsProduct() || l.Op.Class == graph.ClassWeightOnly) && len(l.Outputs) == 1 && IsFloat(l.Outputs[0])
}

// IsConversion reports whether l makes real numbers of integers.
func IsConversion(l *graph.Layer) bool {
	return l != nil && l.Op == graph.Cast && IsFloat(l.Outputs[0]) && !IsFloat(l.Inputs[0]) && !l.Inputs[0].IsConst() && !l.Inputs[0].Quantized()
}
