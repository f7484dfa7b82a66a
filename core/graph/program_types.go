package graph

import (
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
)

// A Program is over float32, but an element-wise layer may have other types: F64 is computed in float64, integers in
// integer arithmetic that wraps around to their type, with C's division (by 0 it gives 0). Comparisons and logic give
// Bool, which reads as 0 or 1. Where integers meet real numbers, as in Pow, all is computed in float64.

// Types returns the type of every value of p for arguments of the given types; Invalid is that of a constant, which
// goes with whatever it meets. An error says which operation has no meaning on its types.
func (p Program) Types(args []numeric.DataType) ([]numeric.DataType, error) {
	if len(args) != p.Args {
		return nil, fmt.Errorf("%d inputs, want %d", len(args), p.Args)
	}
	types := append(make([]numeric.DataType, 0, p.Args+len(p.Code)), args...)
	for _, in := range p.Code {
		operands := make([]numeric.DataType, in.Op.Info().Arity)
		for i := range operands {
			operands[i] = types[in.Arg[i]]
		}
		t, err := in.Op.result(operands)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Op, err)
		}
		types = append(types, t)
	}
	return types, nil
}

// result returns the type that o gives for operands of the given types.
func (o EltOp) result(operands []numeric.DataType) (numeric.DataType, error) {
	if o == EltPow {
		if operands[0] == numeric.Bool || operands[1] == numeric.Bool {
			return numeric.Invalid, fmt.Errorf("not defined on bool")
		}
		return operands[0], nil
	}
	if o == EltSelect {
		operands = operands[1:]
	}
	t, err := joinTypes(operands)
	if err != nil {
		return t, err
	}
	switch {
	case o >= EltEqual && o <= EltNot:
		return numeric.Bool, nil
	case t == numeric.Bool && o != EltSelect, t.IsInteger() && !o.onIntegers():
		return t, fmt.Errorf("not defined on %s", t)
	}
	return t, nil
}

// joinTypes returns the type in which values of the given ones meet: Bool gives way to numbers, and real types to the
// first of them.
func joinTypes(types []numeric.DataType) (numeric.DataType, error) {
	t := numeric.Invalid
	for _, u := range types {
		switch {
		case t == numeric.Invalid, t == numeric.Bool && u != numeric.Invalid:
			t = u
		case u == numeric.Invalid, u == numeric.Bool, u == t, u.IsFloat() && t.IsFloat():
		default:
			return t, fmt.Errorf("%s meets %s; a Cast is needed", t, u)
		}
	}
	return t, nil
}

// onIntegers reports whether o has a meaning on integers.
func (o EltOp) onIntegers() bool {
	switch o {
	case EltConst, EltAdd, EltSub, EltMul, EltDiv, EltMax, EltMin, EltPow, EltMod, EltPRelu,
		EltNeg, EltAbs, EltSign, EltRelu, EltClamp, EltSelect:
		return true
	}
	return o >= EltEqual && o <= EltNot
}

// applyTyped computes p for every element of out as its arguments' types say.
func (p Program) applyTyped(args []numeric.Value, out numeric.Value) error {
	ints, doubles := false, false
	types := make([]numeric.DataType, len(args))
	for i, a := range args {
		types[i] = a.Type
		ints = ints || a.Type.IsInteger()
		doubles = doubles || a.Type == numeric.F64
	}
	reals := doubles
	for _, t := range types {
		reals = reals || t.IsFloat()
	}
	switch {
	case ints && !reals || !reals && !ints && out.Type == numeric.Bool:
		return p.applyInts(args, types, out)
	case ints || doubles:
		return applyReals(p, args, out, numeric.Value.Float64s, func(x []float64) { out.SetFloats(x) })
	case out.Type == numeric.F32:
		floats := make([]numeric.Value, len(args))
		for i, a := range args {
			floats[i] = numeric.Value{Type: numeric.F32, Dims: a.Dims, Data: numeric.Bytes(a.Floats())}
		}
		return p.Apply(floats, out)
	}
	return applyReals(p, args, out, numeric.Value.Floats, func(x []float32) {
		wide := make([]float64, len(x))
		numeric.Convert(wide, x)
		out.SetFloats(wide)
	})
}

// applyReals computes p in T and stores the results.
func applyReals[T float32 | float64](p Program, args []numeric.Value, out numeric.Value, view func(numeric.Value) []T, store func([]T)) error {
	data := make([][]T, len(args))
	for i, a := range args {
		data[i] = view(a)
	}
	vals, dst := make([]T, p.Args+len(p.Code)+1), make([]T, out.Len())
	err := eachElement(args, out, func(i int, places []int) {
		for a, at := range places {
			vals[a] = data[a][at]
		}
		dst[i] = evalProgram(p, vals)
	})
	if err == nil {
		store(dst)
	}
	return err
}

// eachElement calls f for every element of out with the places of the arguments' elements that broadcast to it.
func eachElement(args []numeric.Value, out numeric.Value, f func(i int, places []int)) error {
	index := make([]numeric.Broadcast, len(args))
	for i, a := range args {
		b, err := numeric.NewBroadcast(a.Dims, out.Dims)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i, err)
		}
		index[i] = b
	}
	places := make([]int, len(args))
	for i := range out.Len() {
		for a := range args {
			places[a] = index[a].At(i)
		}
		f(i, places)
	}
	return nil
}

// applyInts computes p in integer arithmetic. An int64 holds the bits of a U64.
func (p Program) applyInts(args []numeric.Value, types []numeric.DataType, out numeric.Value) error {
	all, err := p.Types(types)
	if err != nil {
		return err
	}
	data := make([][]int64, len(args))
	for i, a := range args {
		data[i] = a.Ints()
	}
	vals, dst := make([]int64, p.Args+len(p.Code)+1), make([]int64, out.Len())
	code := make([]intInstr, len(p.Code))
	for i, in := range p.Code {
		code[i] = intInstr{Instr: in, result: all[p.Args+i]}
		for _, a := range in.Arg[:in.Op.Info().Arity] {
			code[i].unsigned = code[i].unsigned || all[a] == numeric.U64
		}
	}
	err = eachElement(args, out, func(i int, places []int) {
		for a, at := range places {
			vals[a] = data[a][at]
		}
		for k, in := range code {
			vals[p.Args+k] = in.result.Wrap(in.eval(vals))
		}
		dst[i] = vals[p.Result()]
	})
	out.SetInts(dst, all[p.Result()] == numeric.U64)
	return err
}

// intInstr is an instruction on integers.
type intInstr struct {
	Instr
	result   numeric.DataType
	unsigned bool // some operand is U64
}

func (in intInstr) eval(vals []int64) int64 {
	var v [3]int64
	for i := range in.Op.Info().Arity {
		v[i] = vals[in.Arg[i]]
	}
	x, y := v[0], v[1]
	switch in.Op {
	case EltConst:
		return int64(in.Imm[0])
	case EltAdd:
		return x + y
	case EltSub:
		return x - y
	case EltMul:
		return x * y
	case EltDiv, EltMod:
		return in.divide(x, y)
	case EltMax:
		if in.less(x, y) {
			return y
		}
		return x
	case EltMin:
		if in.less(y, x) {
			return y
		}
		return x
	case EltPow:
		return intPow(x, y)
	case EltPRelu:
		if in.unsigned || x >= 0 {
			return x
		}
		return x * y
	case EltNeg:
		return -x
	case EltAbs:
		if in.unsigned {
			return x
		}
		return max(x, -x)
	case EltSign:
		return truth[int64](in.less(0, x)) - truth[int64](in.less(x, 0))
	case EltRelu:
		if in.unsigned {
			return x
		}
		return max(x, 0)
	case EltClamp:
		return max(int64(in.Imm[0]), min(int64(in.Imm[1]), x))
	case EltSelect:
		if x != 0 {
			return y
		}
		return v[2]
	}
	return truth[int64](in.compare(x, y))
}

func (in intInstr) less(x, y int64) bool {
	if in.unsigned {
		return uint64(x) < uint64(y)
	}
	return x < y
}

// divide returns the quotient or remainder, rounded toward 0; 0 where y is 0.
func (in intInstr) divide(x, y int64) int64 {
	switch {
	case y == 0:
		return 0
	case in.unsigned && in.Op == EltMod:
		return int64(uint64(x) % uint64(y))
	case in.unsigned:
		return int64(uint64(x) / uint64(y))
	case in.Op == EltMod:
		return x % y
	}
	return x / y
}

// intPow returns x to the power y, which is 0 for a negative y but for x of 1 and -1.
func intPow(x, y int64) int64 {
	if y < 0 {
		switch {
		case x == 1, x == -1 && y%2 == 0:
			return 1
		case x == -1:
			return -1
		}
		return 0
	}
	r := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			r *= x
		}
		x *= x
	}
	return r
}

func (in intInstr) compare(x, y int64) bool {
	switch in.Op {
	case EltEqual:
		return x == y
	case EltLess:
		return in.less(x, y)
	case EltLessEqual:
		return !in.less(y, x)
	case EltGreater:
		return in.less(y, x)
	case EltGreaterEqual:
		return !in.less(x, y)
	case EltAnd:
		return x != 0 && y != 0
	case EltOr:
		return x != 0 || y != 0
	case EltXor:
		return (x != 0) != (y != 0)
	case EltNot:
		return x == 0
	}
	panic("graph: no integer evaluation for " + in.Op.String())
}
