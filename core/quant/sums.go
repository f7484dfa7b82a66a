package quant

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// summing is what placement makes of a layer that takes part in a sum of squares, as normalisations spelled out have one:
//
//	s = Mul(x, x)      f16 -> f32      wide
//	v = ReduceSum(s)   f32 -> f32      wide
//	r = 1 / Sqrt(v)    f32 -> f16      narrowing
//	y = Mul(x, r)      f16 -> f16      scaling
//
// 256 squares of numbers of 16 are more than F16 holds, and a variance that is infinite makes zeros of all it divides.
// The layers read what is there, F16 or F32, so that nothing is converted for them. In an INT8 build all of them compute in
// floating point, as a normalisation that is one layer does: x of one scale is 0 in rows that are small, and where all of a
// row but one element is 0 that one becomes the root of the row's length.
type summing uint8

const (
	apart     summing = iota
	wide              // its result is F32
	narrowing         // it reads sums in F32, and its result is F16
	scaling           // it takes such a root into its result, and is 16-bit as others are
)

// summingLayers returns the layers of an F32 network that take part in sums of squares, but for those that decided names.
func summingLayers(n *graph.Network, decided func(*graph.Layer) bool) map[*graph.Layer]summing {
	list := map[*graph.Layer]summing{}
	large, roots := map[*graph.Tensor]bool{}, map[*graph.Tensor]bool{}
	for _, l := range n.Layers {
		if len(l.Outputs) != 1 || len(l.Inputs) == 0 || l.Outputs[0].Type != numeric.F32 || decided(l) {
			continue
		}
		y := l.Outputs[0]
		p, pointwise := graph.ProgramOf(l)
		reads := func(set map[*graph.Tensor]bool) bool {
			return slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return set[t] })
		}
		switch moves := kindOf(l) == moving && l.DataInputs() == 1; {
		case pointwise && squares(l, p) && summed(y), l.Op == graph.ReduceSumSquare, l.Epilogue.Args == 1 && squares(l, l.Epilogue) && summed(y):
			list[l], large[y] = wide, true
		case l.Op == graph.ReduceL2, reads(roots) && moves:
			roots[y] = true
		case reads(roots) && pointwise:
			list[l] = scaling
		case !reads(large):
		case pointwise && takesRoot(p):
			list[l], roots[y] = narrowing, true
		case pointwise, moves, isSum(l):
			list[l], large[y] = wide, true
		}
	}
	return list
}

// squares reports whether the last thing that a program does is to square.
func squares(l *graph.Layer, p elementwise.Program) bool {
	if len(p.Code) == 0 {
		return false
	}
	switch in := p.Code[len(p.Code)-1]; in.Op {
	case elementwise.Mul:
		a, b := in.Arg[0], in.Arg[1]
		return a == b || max(a, b) < p.Args && l.Inputs[a] == l.Inputs[b]
	case elementwise.Pow:
		if in.Arg[1] >= p.Args {
			return false
		}
		v, ok := l.Inputs[in.Arg[1]].Const()
		return ok && v.Type == numeric.F32 && v.Len() == 1 && v.F32()[0] == 2
	}
	return false
}

// summed reports whether only sums and means read t.
func summed(t *graph.Tensor) bool {
	return len(t.Users) > 0 && !slices.ContainsFunc(t.Users, func(l *graph.Layer) bool { return !isSum(l) })
}

func isSum(l *graph.Layer) bool {
	return (l.Op == graph.ReduceSum || l.Op == graph.ReduceMean || l.Op == graph.AveragePool) && l.Epilogue.Args == 0
}

// takesRoot reports whether a program takes a root, which brings a variance back to what F16 holds.
func takesRoot(p elementwise.Program) bool {
	return slices.ContainsFunc(p.Code, func(in elementwise.Instr) bool {
		return in.Op == elementwise.Sqrt || in.Op == elementwise.Pow || in.Op == elementwise.Reciprocal
	})
}
