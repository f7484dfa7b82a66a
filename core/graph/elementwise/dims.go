package elementwise

import "github.com/trtui/trtui/core/graph/symbolic"

// EvalDims computes p for one element of shape arithmetic; ok is false where the result is not known.
func (p Program) EvalDims(vals []symbolic.Dim) (d symbolic.Dim, ok bool) {
	vals = append(make([]symbolic.Dim, 0, p.Args+len(p.Code)), vals...)
	for _, in := range p.Code {
		var v [3]symbolic.Dim
		for i := range in.Op.Info().Arity {
			v[i] = vals[in.Arg[i]]
		}
		if d, ok = in.evalDim(v[0], v[1], v[2]); !ok {
			return symbolic.Dim{}, false
		}
		vals = append(vals, d)
	}
	return vals[p.Result()], true
}

func (in Instr) evalDim(x, y, z symbolic.Dim) (symbolic.Dim, bool) {
	a, okX := x.IsConst()
	b, okY := y.IsConst()
	arity := in.Op.Info().Arity
	switch in.Op {
	case Const:
		n := int(in.Imm[0])
		return symbolic.Const(n), float32(n) == in.Imm[0]
	case Add:
		return x.Add(y), true
	case Sub:
		return x.Sub(y), true
	case Mul:
		return x.Mul(y), true
	case Neg:
		return x.MulN(-1), true
	case Max:
		return x.Max(y), true
	case Min:
		return x.Min(y), true
	case Select:
		if a != 0 {
			return y, okX
		}
		return z, okX
	case Div:
		if okX && okY {
			break
		}
		if y.Is(0) {
			return symbolic.Dim{}, false
		}
		return x.Div(y), x.NonNegative() && y.NonNegative()
	case Equal:
		// A symbol is never negative, whatever it is.
		if okY && b < 0 && x.NonNegative() || okX && a < 0 && y.NonNegative() {
			return symbolic.Const(0), true
		}
		if x.Equal(y) {
			return symbolic.Const(1), true
		}
	case Abs, Relu:
		if x.NonNegative() {
			return x, true
		}
	}
	if okX && (okY || arity < 2) && arity < 3 && in.Op.onIntegers() {
		return symbolic.Const(int(intInstr{Instr: in}.eval2(int64(a), int64(b)))), true
	}
	return symbolic.Dim{}, false
}
