package elementwise

import (
	"slices"

	"github.com/trtui/trtui/core/graph/symbolic"
)

// EvalDims computes p for one element of shape arithmetic; ok is false where the result is not known.
func (p Program) EvalDims(vals []symbolic.Dim) (d symbolic.Dim, ok bool) {
	if slices.Equal(p.Code, floorMod.Code) && isDivisor(vals[1]) { // whatever the sign of what is divided
		return vals[0].Mod(vals[1]), true
	}
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
	case Div, Mod:
		if okX && okY {
			break
		}
		if !isDivisor(y) {
			return symbolic.Dim{}, false
		}
		q := quotient(x, y)
		if in.Op == Mod {
			q = x.Sub(y.Mul(q))
		}
		return q, true
	case Pow:
		if okX || !okY || b < 1 || b > maxPower {
			break
		}
		for y = x; b > 1; b-- {
			y = y.Mul(x)
		}
		return y, true
	case Equal:
		if x.Equal(y) {
			return symbolic.Const(1), true
		}
		if isLess(x, y) || isLess(y, x) {
			return symbolic.Const(0), true
		}
	case Less:
		return less(x, y)
	case Greater:
		return less(y, x)
	case GreaterEqual:
		d, ok := less(x, y)
		return symbolic.Const(1).Sub(d), ok
	case LessEqual:
		d, ok := less(y, x)
		return symbolic.Const(1).Sub(d), ok
	case And:
		if okX && a == 0 || okY && b == 0 {
			return symbolic.Const(0), true
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

// maxPower bounds the powers of extents that are followed, as of the side of a square.
const maxPower = 4

// quotient returns x/y toward 0.
func quotient(x, y symbolic.Dim) symbolic.Dim {
	minus := x.MulN(-1)
	switch {
	case minus.NonNegative():
		return minus.Div(y).MulN(-1)
	case x.NonNegativeFilled(): // as (h-1)/2+1 of an extent, which a model that has none of is refused for
		return x.Div(y)
	}
	return x.AtLeast0().Div(y).Sub(minus.AtLeast0().Div(y))
}

// isDivisor reports whether extents may be divided by y: it is never negative. Where it is 0, what follows has no meaning.
func isDivisor(y symbolic.Dim) bool { return !y.Is(0) && y.NonNegative() }

// isLess reports whether x is less than y whatever their symbols are.
func isLess(x, y symbolic.Dim) bool { return y.Sub(x).AddN(-1).NonNegative() }

// less returns 1 for true where x is less than y, 0 where it never is.
func less(x, y symbolic.Dim) (symbolic.Dim, bool) {
	if isLess(x, y) {
		return symbolic.Const(1), true
	}
	return symbolic.Const(0), x.Sub(y).NonNegative()
}

// floorMod is FloorMod's program.
var floorMod = FloorMod()

// FloorMod returns the program of the remainder of two arguments that has the sign of the divisor.
func FloorMod() Program {
	b := NewBuilder(2)
	remainder(b, b.Constant(0))
	return b.Program
}

// FloorModReals is FloorMod of real numbers, whose remainder of 0 has the sign of the divisor, too.
func FloorModReals() Program {
	b := NewBuilder(2)
	zero := b.Constant(0)
	r := remainder(b, zero)
	b.Do(Select, r, r, b.Do(Mul, b.Do(Sign, 1), zero))
	return b.Program
}

func remainder(b *Builder, zero int) int {
	r := b.Do(Mod, 0, 1)
	differ := b.Do(Xor, b.Do(Less, r, zero), b.Do(Less, 1, zero))
	return b.Do(Select, b.Do(And, differ, r), b.Do(Add, r, 1), r)
}
