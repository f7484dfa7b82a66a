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

// Element-wise layers of integers, which wrap around to their type: shape arithmetic, masks, indices. In registers every
// integer has 64 bits, whatever it is stored in, so that one translation serves all types.

// integerTactics are these layers: programs, and what works on bits.
func integerTactics() []emit.Tactic {
	list := []emit.Tactic{mixedPowerTactic(), {
		Name: "pointwise_integers", Op: graph.Pointwise, In: kernels.Linear, Out: kernels.Linear, InPlace: true,
		Match: func(b kernels.Binding) error {
			p := b.Layer.Attrs.(graph.Elementwise).Program
			for _, in := range p.Code {
				if integerTranslations[in.Op] == nil {
					return fmt.Errorf("element-wise operation %s has no translation to integers", in.Op)
				}
			}
			return checkIntegers(b)
		},
		Emit: func(b kernels.Binding) (*emit.Work, error) { return emitIntegers(b, integerProgram(b)) },
	}}
	for _, bits := range []struct {
		op   *graph.Op
		code integerCode
	}{
		{graph.BitwiseAnd, func(k *ptx.K, x []ptx.Long) ptx.Long { return k.AndL(x[0], x[1]) }},
		{graph.BitwiseOr, func(k *ptx.K, x []ptx.Long) ptx.Long { return k.OrL(x[0], x[1]) }},
		{graph.BitwiseXor, func(k *ptx.K, x []ptx.Long) ptx.Long { return k.XorL(x[0], x[1]) }},
		{graph.BitwiseNot, func(k *ptx.K, x []ptx.Long) ptx.Long { return k.XorL(x[0], ptx.L(-1)) }},
	} {
		list = append(list, bitsTactic(bits.op, func(kernels.Binding) integerCode { return bits.code }))
	}
	return append(list, bitsTactic(graph.BitShift, func(b kernels.Binding) integerCode {
		left, signed := b.Layer.Attrs.(graph.ShiftAttrs).Left, b.In[0].Type.Signed()
		return func(k *ptx.K, x []ptx.Long) ptx.Long {
			by := k.Low(k.SelectL(k.LtL(x[1], ptx.L(64), false), x[1], ptx.L(64)))
			if left {
				return k.ShlL(x[0], by)
			}
			return k.ShrL(x[0], by, signed)
		}
	}))
}

// integerCode computes an element from the inputs'.
type integerCode func(k *ptx.K, x []ptx.Long) ptx.Long

func bitsTactic(op *graph.Op, code func(kernels.Binding) integerCode) emit.Tactic {
	return emit.Tactic{
		Name: "bits_linear", Op: op, In: kernels.Linear, Out: kernels.Linear, InPlace: true,
		Match: checkIntegers,
		Emit:  func(b kernels.Binding) (*emit.Work, error) { return emitIntegers(b, code(b)) },
	}
}

// checkIntegers returns an error unless all tensors are plain integers or truth values, some integers among them.
func checkIntegers(b kernels.Binding) error {
	if b.Layer.Epilogue.Args > 0 || len(b.Out) != 1 {
		return fmt.Errorf("the kernel has one output and no epilogue")
	}
	integers := false
	for _, list := range [][]*graph.Tensor{b.Layer.Inputs, b.Layer.Outputs} {
		for _, t := range list {
			if t == nil {
				return fmt.Errorf("an input is left out")
			}
			if !t.Type.IsInteger() && t.Type != numeric.Bool || t.Range.IsSet() {
				return fmt.Errorf("%s is %s, the kernel takes integers that are not quantised, and bool", t.Name, t.TypeString())
			}
			integers = integers || t.Type.IsInteger()
		}
	}
	if !integers {
		return fmt.Errorf("there are no integers")
	}
	_, err := integerArguments(b, new(emit.Work))
	return err
}

// integerArguments returns how the inputs are read along the output; constants are appended to the work's.
func integerArguments(b kernels.Binding, w *emit.Work) ([]emit.Argument, error) {
	to := emit.LayoutOf(b.Out[0])
	list := make([]emit.Argument, len(b.In))
	for i, d := range b.In {
		from := emit.LayoutOf(d)
		a := emit.Argument{Input: i, Width: from.Width, Pitch: from.Pitch, Storage: emit.Storage{Type: d.Type}}
		if b.Consts[i] != nil {
			a.Fixed, a.Offset = true, w.Append(b.Consts[i])
		}
		var err error
		if a.Axes, a.Whole, err = to.Reach(from); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		list[i] = a
	}
	return list, nil
}

// emitIntegers emits a kernel in which each thread computes an element.
func emitIntegers(b kernels.Binding, code integerCode) (*emit.Work, error) {
	w := emit.NewWork()
	args, err := integerArguments(b, w)
	if err != nil {
		return nil, err
	}
	to := flat(emit.LayoutOf(b.Out[0]), args)
	total := to.Rows() * to.Width
	k, l := w.Threads("integers", total)
	for i := range args {
		args[i].Parameter(k, l, fmt.Sprintf("x%d", i))
	}
	y := l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	row, column := k.DivRem(index, to.Width)
	x := make([]ptx.Long, len(args))
	for i, a := range args {
		at := emit.RowOffset(k, row, a.Axes)
		if a.Whole {
			at = k.Add(at, column)
		}
		x[i] = emit.LoadInteger(k, k.Offset(a.Base, at, a.Type.Size()), a.Type)
	}
	t := b.Out[0].Type
	emit.StoreInteger(k, k.Offset(y, index, t.Size()), t, code(k, x))
	w.End(k, l)
	return w, nil
}

// wrap is v reduced to the numbers of an integer type.
func wrap(k *ptx.K, v ptx.Long, t numeric.DataType) ptx.Long {
	if !t.IsInteger() || t.Size() == 8 {
		return v
	}
	by := ptx.U(64 - 8*t.Size())
	return k.ShrL(k.ShlL(v, by), by, emit.Signed(t))
}

// integerProgram returns the code of a layer's program. Operations on U64, alone, are unsigned.
func integerProgram(b kernels.Binding) integerCode {
	p := b.Layer.Attrs.(graph.Elementwise).Program
	types := make([]numeric.DataType, len(b.In))
	for i, d := range b.In {
		types[i] = d.Type
	}
	all, _ := p.Types(types) // the layer's shape inference has checked them
	return func(k *ptx.K, x []ptx.Long) ptx.Long {
		values := append([]ptx.Long(nil), x...)
		for i, in := range p.Code {
			o := integerOperation{K: k, signed: true, imm: [2]int64{int64(in.Imm[0]), int64(in.Imm[1])}}
			for j := range in.Op.Info().Arity {
				o.x[j] = values[in.Arg[j]]
				o.signed = o.signed && all[in.Arg[j]] != numeric.U64
			}
			values = append(values, wrap(k, integerTranslations[in.Op](o), all[p.Args+i]))
		}
		return values[len(values)-1]
	}
}

// integerOperation is an operation's operands.
type integerOperation struct {
	*ptx.K
	x      [3]ptx.Long
	imm    [2]int64
	signed bool
}

func (o integerOperation) less(a, b ptx.Long) ptx.Cond { return o.LtL(a, b, o.signed) }
func (o integerOperation) truth(c ptx.Cond) ptx.Long   { return o.SelectL(c, ptx.L(1), ptx.L(0)) }
func (o integerOperation) is(i int) ptx.Cond           { return o.EqL(o.x[i], ptx.L(0)).Not() }

// pick is a where c holds, else b.
func (o integerOperation) pick(c ptx.Cond, a, b ptx.Long) ptx.Long { return o.SelectL(c, a, b) }

// divided is what f makes of the operands, 0 where the divisor is 0.
func (o integerOperation) divided(f func(a, b ptx.Long, signed bool) ptx.Long) ptx.Long {
	zero := o.EqL(o.x[1], ptx.L(0))
	return o.pick(zero, ptx.L(0), f(o.x[0], o.pick(zero, ptx.L(1), o.x[1]), o.signed))
}

// power is x to the power y by squaring; of a negative y, 0 but for x of 1 and -1.
func (o integerOperation) power() ptx.Long {
	negative := o.LtL(o.x[1], ptx.L(0), true)
	one := o.Either(o.EqL(o.x[0], ptx.L(1)), o.EqL(o.x[0], ptx.L(-1)))
	result, square := o.VarL(ptx.L(1)), o.VarL(o.x[0])
	y := o.VarL(o.pick(negative, o.AndL(o.x[1], ptx.L(1)), o.x[1]))
	o.For(ptx.U(0), ptx.U(63), ptx.U(1), func(ptx.Uint) {
		odd := o.EqL(o.AndL(y, ptx.L(1)), ptx.L(1))
		o.SetL(result, o.pick(odd, o.MulL(result, square), result))
		o.SetL(square, o.MulL(square, square))
		o.SetL(y, o.ShrL(y, ptx.U(1), false))
	})
	return o.pick(o.Both(negative, one.Not()), ptx.L(0), result)
}

// integerTranslations says what each operation is on 64-bit integers.
var integerTranslations = map[elementwise.Op]func(integerOperation) ptx.Long{
	elementwise.Const: func(o integerOperation) ptx.Long { return ptx.L(o.imm[0]) },
	elementwise.Add:   func(o integerOperation) ptx.Long { return o.AddL(o.x[0], o.x[1]) },
	elementwise.Sub:   func(o integerOperation) ptx.Long { return o.SubL(o.x[0], o.x[1]) },
	elementwise.Mul:   func(o integerOperation) ptx.Long { return o.MulL(o.x[0], o.x[1]) },
	elementwise.Div:   func(o integerOperation) ptx.Long { return o.divided(o.DivL) },
	elementwise.Mod:   func(o integerOperation) ptx.Long { return o.divided(o.RemL) },
	elementwise.Pow:   integerOperation.power,
	elementwise.Max: func(o integerOperation) ptx.Long {
		return o.pick(o.less(o.x[0], o.x[1]), o.x[1], o.x[0])
	},
	elementwise.Min: func(o integerOperation) ptx.Long {
		return o.pick(o.less(o.x[1], o.x[0]), o.x[1], o.x[0])
	},
	elementwise.PRelu: func(o integerOperation) ptx.Long {
		return o.pick(o.less(o.x[0], ptx.L(0)), o.MulL(o.x[0], o.x[1]), o.x[0])
	},
	elementwise.Neg: func(o integerOperation) ptx.Long { return o.SubL(ptx.L(0), o.x[0]) },
	elementwise.Abs: func(o integerOperation) ptx.Long {
		return o.pick(o.less(o.x[0], ptx.L(0)), o.SubL(ptx.L(0), o.x[0]), o.x[0])
	},
	elementwise.Sign: func(o integerOperation) ptx.Long {
		return o.SubL(o.truth(o.less(ptx.L(0), o.x[0])), o.truth(o.less(o.x[0], ptx.L(0))))
	},
	elementwise.Relu: func(o integerOperation) ptx.Long { return o.pick(o.less(o.x[0], ptx.L(0)), ptx.L(0), o.x[0]) },
	elementwise.Clamp: func(o integerOperation) ptx.Long {
		low, high := ptx.L(o.imm[0]), ptx.L(o.imm[1])
		y := o.pick(o.LtL(high, o.x[0], true), high, o.x[0])
		return o.pick(o.LtL(y, low, true), low, y)
	},
	elementwise.Select:       func(o integerOperation) ptx.Long { return o.pick(o.is(0), o.x[1], o.x[2]) },
	elementwise.Equal:        func(o integerOperation) ptx.Long { return o.truth(o.EqL(o.x[0], o.x[1])) },
	elementwise.Less:         func(o integerOperation) ptx.Long { return o.truth(o.less(o.x[0], o.x[1])) },
	elementwise.LessEqual:    func(o integerOperation) ptx.Long { return o.truth(o.less(o.x[1], o.x[0]).Not()) },
	elementwise.Greater:      func(o integerOperation) ptx.Long { return o.truth(o.less(o.x[1], o.x[0])) },
	elementwise.GreaterEqual: func(o integerOperation) ptx.Long { return o.truth(o.less(o.x[0], o.x[1]).Not()) },
	elementwise.And:          func(o integerOperation) ptx.Long { return o.truth(o.Both(o.is(0), o.is(1))) },
	elementwise.Or:           func(o integerOperation) ptx.Long { return o.truth(o.Either(o.is(0), o.is(1))) },
	elementwise.Xor: func(o integerOperation) ptx.Long {
		return o.truth(o.EqL(o.XorL(o.truth(o.is(0)), o.truth(o.is(1))), ptx.L(1)))
	},
	elementwise.Not: func(o integerOperation) ptx.Long { return o.truth(o.is(0).Not()) },
}
