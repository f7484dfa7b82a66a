package graph

import (
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// evalDims computes p for one element of shape arithmetic; ok is false where the result is not known.
func (p Program) evalDims(vals []symbolic.Dim) (d symbolic.Dim, ok bool) {
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
	case EltConst:
		n := int(in.Imm[0])
		return symbolic.Const(n), float32(n) == in.Imm[0]
	case EltAdd:
		return x.Add(y), true
	case EltSub:
		return x.Sub(y), true
	case EltMul:
		return x.Mul(y), true
	case EltNeg:
		return x.MulN(-1), true
	case EltMax:
		return x.Max(y), true
	case EltMin:
		return x.Min(y), true
	case EltSelect:
		if a != 0 {
			return y, okX
		}
		return z, okX
	case EltDiv:
		if okX && okY {
			break
		}
		if y.Is(0) {
			return symbolic.Dim{}, false
		}
		return x.Div(y), x.NonNegative() && y.NonNegative()
	case EltEqual:
		// A symbol is never negative, whatever it is.
		if okY && b < 0 && x.NonNegative() || okX && a < 0 && y.NonNegative() {
			return symbolic.Const(0), true
		}
		if x.Equal(y) {
			return symbolic.Const(1), true
		}
	case EltAbs, EltRelu:
		if x.NonNegative() {
			return x, true
		}
	}
	if okX && (okY || arity < 2) && arity < 3 && in.Op.onIntegers() {
		return symbolic.Const(int(intInstr{Instr: in}.eval2(int64(a), int64(b)))), true
	}
	return symbolic.Dim{}, false
}

// eval2 evaluates the instruction on two operands, whatever values it names.
func (in intInstr) eval2(x, y int64) int64 {
	in.Arg = [3]int{0, 1, 1}
	return in.eval([]int64{x, y})
}

// inferKnown follows known elements through an element-wise layer.
func (l *Layer) inferKnown(p Program) {
	out := l.Outputs[0]
	out.Value = nil
	n, ok := countDims(out.Dims)
	if !ok || n > maxKnownValue || out.Type != numeric.I64 && out.Type != numeric.I32 && out.Type != numeric.Bool {
		return
	}
	args := make([]numeric.Value, p.Args) // only their shapes count
	for i, t := range l.OpInputs() {
		m, ok := countDims(t.Dims)
		if !ok || t.Value == nil || len(t.Value) != m {
			return
		}
		args[i] = numeric.Value{Dims: symbolic.Eval(t.Dims, nil)}
	}
	known := make([]symbolic.Dim, n)
	vals := make([]symbolic.Dim, p.Args)
	err := eachElement(args, numeric.Value{Dims: symbolic.Eval(out.Dims, nil)}, func(i int, places []int) {
		for a, at := range places {
			vals[a] = l.Inputs[a].Value[at]
		}
		d, yes := p.evalDims(vals)
		if v, isConst := d.IsConst(); isConst && out.Type == numeric.I32 && (v < math.MinInt32 || v > math.MaxInt32) {
			yes = false
		}
		known[i] = d
		ok = ok && yes
	})
	if err == nil && ok {
		out.Value = known
	}
}
