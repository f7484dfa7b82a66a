package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// mixedPowerTactic is the one element-wise operation whose operands may differ in kind: a real to an integer power, or an
// integer to a real one. The result is of the first's type.
func mixedPowerTactic() tactic {
	return tactic{
		name: "power_mixed_linear", op: graph.Pointwise, in: kernels.Linear, out: kernels.Linear,
		match: func(b kernels.Binding) error {
			p := b.Layer.Attrs.(graph.Elementwise).Program
			if len(p.Code) != 1 || p.Code[0].Op != graph.EltPow || p.Code[0].Arg[0] != 0 || p.Code[0].Arg[1] != 1 || b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("the layer is not one power")
			}
			kinds := 0
			for _, t := range b.Layer.Inputs {
				switch {
				case t.Type == graph.F32, t.Type == graph.F16:
					kinds |= 1
				case t.Type.IsInteger() && !t.Range.IsSet():
					kinds |= 2
				default:
					return fmt.Errorf("%s is %s, the kernel takes f32, f16 and integers that are not quantised", t.Name, t.TypeString())
				}
			}
			if kinds != 3 {
				return fmt.Errorf("both operands are real, or both integers")
			}
			_, err := integerArguments(b, new(work))
			return err
		},
		emit: emitMixedPower,
	}
}

// emitMixedPower emits a kernel in which each thread computes an element.
func emitMixedPower(b kernels.Binding) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80)}
	args, err := integerArguments(b, w)
	if err != nil {
		return nil, err
	}
	to := flat(layoutOf(b.Out[0]), args)
	total := to.rows() * to.width
	k, l := w.threads("power", total)
	for i := range args {
		args[i].parameter(k, l, fmt.Sprintf("x%d", i))
	}
	y := l.output(k, 0)
	index := threadIndex(k, total)
	row, column := k.DivRem(index, to.width)
	place := func(a argument) ptx.GlobalPtr {
		at := rowOffset(k, row, a.axes)
		if a.whole {
			at = k.Add(at, column)
		}
		return k.Offset(a.base, at, a.typ.Size())
	}
	base, exponent := args[0], args[1]
	out := k.Offset(y, index, b.Out[0].Type.Size())
	if base.typ.IsFloat() {
		n := k.LongToFloat(loadInteger(k, place(exponent), exponent.typ), exponent.typ != graph.U64)
		storage{typ: base.typ}.storeOne(k, out, power(k, base.loadOne(k, place(base)), n))
	} else {
		x, n := loadInteger(k, place(base), base.typ), exponent.loadOne(k, place(exponent))
		storeInteger(k, out, base.typ, integerPower(k, x, n, base.typ))
	}
	w.end(k, l)
	return w, nil
}

// integerPower is an integer to a real power, rounded toward 0 and saturated: exact where the exponent is whole.
func integerPower(k *ptx.K, x ptx.Long, y ptx.Float, t graph.DataType) ptx.Long {
	const most = 1 << 62
	near := power(k, k.LongToFloat(x, t != graph.U64), y)
	n := k.FloatToLong(y, true)
	exact := integerOperation{K: k, x: [3]ptx.Long{x, n}, signed: true}.power()
	whole := k.Both(k.EqF(k.Floor(y), y), k.LtF(k.AbsF(near), ptx.F(most)))
	return k.SelectL(whole, saturated(k, exact, t), truncated(k, near, t))
}
