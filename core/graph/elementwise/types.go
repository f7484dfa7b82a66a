package elementwise

import (
	"fmt"
	"slices"

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
func (o Op) result(operands []numeric.DataType) (numeric.DataType, error) {
	if slices.Contains(operands, numeric.Str) {
		return numeric.Invalid, fmt.Errorf("not defined on strings")
	}
	if o == Pow {
		if operands[0] == numeric.Bool || operands[1] == numeric.Bool {
			return numeric.Invalid, fmt.Errorf("not defined on bool")
		}
		return operands[0], nil
	}
	if o == Select {
		operands = operands[1:]
	}
	t, err := JoinTypes(operands)
	if err != nil {
		return t, err
	}
	switch {
	case o >= Equal && o <= Not:
		return numeric.Bool, nil
	case t == numeric.Bool && o != Select, t.IsInteger() && !o.onIntegers():
		return t, fmt.Errorf("not defined on %s", t)
	}
	return t, nil
}

// JoinTypes returns the type in which values of the given ones meet: Bool gives way to numbers, and real types to the
// first of them.
func JoinTypes(types []numeric.DataType) (numeric.DataType, error) {
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
func (o Op) onIntegers() bool {
	switch o {
	case Const, Add, Sub, Mul, Div, Max, Min, Pow, Mod, PRelu,
		Neg, Abs, Sign, Relu, Clamp, Select:
		return true
	}
	return o >= Equal && o <= Not
}
