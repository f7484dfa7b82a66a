package elementwise

import "github.com/trtui/trtui/core/graph/symbolic"

// realOps are the operations that are followed on numbers that are computed from extents.
var realOps = map[Op]string{
	Add: "add", Sub: "sub", Mul: "mul", Div: "quo", Min: "min", Max: "max", Neg: "neg", Floor: "floor", Ceil: "ceil", Round: "round", Sqrt: "sqrt",
}

// EvalReals computes p for one element of numbers that are computed from extents, of 64 bits or of 32; ok is false where it has
// an operation that is not followed.
func (p Program) EvalReals(vals []symbolic.Real, wide bool) (r symbolic.Real, ok bool) {
	vals = append(make([]symbolic.Real, 0, p.Args+len(p.Code)), vals...)
	for _, in := range p.Code {
		args := make([]symbolic.Real, in.Op.Info().Arity)
		for i := range args {
			args[i] = vals[in.Arg[i]]
		}
		var err error
		switch name := realOps[in.Op]; {
		case in.Op == Const:
			r = symbolic.RealConst(float64(in.Imm[0]))
		case in.Op == Reciprocal:
			r, err = symbolic.Do("quo", wide, symbolic.RealConst(1), args[0])
		case name != "":
			r, err = symbolic.Do(name, wide, args...)
		default:
			return symbolic.Real{}, false
		}
		if err != nil {
			return symbolic.Real{}, false
		}
		vals = append(vals, r)
	}
	return vals[p.Result()], true
}
