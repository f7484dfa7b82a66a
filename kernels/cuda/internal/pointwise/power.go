package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// mixedPowerTactic is the one element-wise operation whose operands may differ in kind: a real to an integer power, or an
// integer to a real one. The result is of the first's type.
func mixedPowerTactic() emit.Tactic {
	return emit.Tactic{
		Name: "power_mixed_linear", Op: graph.Pointwise, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			p := b.Layer.Attrs.(graph.Elementwise).Program
			if len(p.Code) != 1 || p.Code[0].Op != elementwise.Pow || p.Code[0].Arg[0] != 0 || p.Code[0].Arg[1] != 1 || b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("the layer is not one power")
			}
			kinds := 0
			for _, t := range b.Layer.Inputs {
				switch {
				case t.Type == numeric.F32, t.Type == numeric.F16:
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
			_, err := integerArguments(b, new(emit.Work))
			return err
		},
		Emit: emitMixedPower,
	}
}

// emitMixedPower emits a kernel in which each thread computes an element.
func emitMixedPower(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	args, err := integerArguments(b, w)
	if err != nil {
		return nil, err
	}
	to := flat(emit.LayoutOf(b.Out[0]), args)
	total := to.Rows() * to.Width
	k, l := w.Threads("power", total)
	for i := range args {
		args[i].Parameter(k, l, fmt.Sprintf("x%d", i))
	}
	y := l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	row, column := k.DivRem(index, to.Width)
	place := func(a emit.Argument) ptx.GlobalPtr {
		at := emit.RowOffset(k, row, a.Axes)
		if a.Whole {
			at = k.Add(at, column)
		}
		return k.Offset(a.Base, at, a.Type.Size())
	}
	base, exponent := args[0], args[1]
	out := k.Offset(y, index, b.Out[0].Type.Size())
	if base.Type.IsFloat() {
		n := k.LongToFloat(emit.LoadInteger(k, place(exponent), exponent.Type), exponent.Type != numeric.U64)
		emit.Storage{Type: base.Type}.StoreOne(k, out, emit.Power(k, base.LoadOne(k, place(base)), n))
	} else {
		x, n := emit.LoadInteger(k, place(base), base.Type), exponent.LoadOne(k, place(exponent))
		emit.StoreInteger(k, out, base.Type, integerPower(k, x, n, base.Type))
	}
	w.End(k, l)
	return w, nil
}

// integerPower is an integer to a real power, rounded toward 0 and saturated: exact where the exponent is whole.
func integerPower(k *ptx.K, x ptx.Long, y ptx.Float, t numeric.DataType) ptx.Long {
	const most = 1 << 62
	near := emit.Power(k, k.LongToFloat(x, t != numeric.U64), y)
	n := k.FloatToLong(y, true)
	exact := integerOperation{K: k, x: [3]ptx.Long{x, n}, signed: true}.power()
	whole := k.Both(k.EqF(k.Floor(y), y), k.LtF(k.AbsF(near), ptx.F(most)))
	return k.SelectL(whole, emit.Saturated(k, exact, t), emit.Truncated(k, near, t))
}
