package pointwise

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/programs"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// prepareComparison prepares a program over integers that it only compares, so that float32 gives the same: with each
// other if they are narrow, else with constants that float32 holds. A wide integer next to such a constant stays on its side
// of it however it is rounded.
func prepareComparison(b kernels.Binding, isa asm.Features) (*programs.Program, error) {
	e, ok := b.Layer.Attrs.(graph.Elementwise)
	if !ok || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("no program, or an epilogue that follows integers")
	}
	p := e.Program
	if err := comparesExactly(b, p); err != nil {
		return nil, err
	}
	args := make([]programs.Argument, p.Args)
	for i := range args {
		var err error
		if t := b.Layer.Inputs[i]; b.Consts[i] == nil && t.RealType().IsInteger() {
			args[i], err = integerArgument(b, i, isa)
		} else {
			args[i], err = programs.NewArgument(b, i, b.Out[0], isa)
		}
		if err != nil {
			return nil, err
		}
	}
	return programs.Over(args, p, b.Out[0], b.Layer.Outputs[0].Range, isa)
}

// integerArgument reads integers of any type as float32.
func integerArgument(b kernels.Binding, i int, isa asm.Features) (programs.Argument, error) {
	d := b.In[i]
	arg := programs.Argument{Input: i, Codec: programs.Codec{Kind: d.Type}}
	if d.Type.Size() == 1 {
		arg.Codec.Quant, arg.Codec.Affine = work.QuantKernel(isa), programs.Quantization(d, numeric.PerTensor(1, 0))
	}
	return arg, arg.Place(d, b.Out[0])
}

// comparesExactly returns an error where float32 may not give what integers do.
func comparesExactly(b kernels.Binding, p elementwise.Program) error {
	types := make([]numeric.DataType, p.Args)
	for i := range types {
		if types[i] = b.Layer.Inputs[i].RealType(); types[i] == numeric.F64 || types[i] == numeric.BF16 {
			return fmt.Errorf("input %s is %s", b.Layer.Inputs[i].Name, types[i])
		}
	}
	all, err := p.Types(types)
	if err != nil {
		return err
	}
	if all[p.Result()].IsInteger() {
		return fmt.Errorf("the result is %s, the kernel only compares integers", all[p.Result()])
	}
	for _, in := range p.Code {
		operands := in.Arg[:in.Op.Info().Arity]
		for k, v := range operands {
			if !all[v].IsInteger() {
				continue
			}
			switch in.Op {
			case elementwise.And, elementwise.Or, elementwise.Xor, elementwise.Not: // 0 or not
				continue
			case elementwise.Select:
				if k == 0 {
					continue
				}
			case elementwise.Equal, elementwise.Less, elementwise.LessEqual, elementwise.Greater, elementwise.GreaterEqual:
				other := operands[1-k]
				if all[v].Size() <= 2 && all[other].IsInteger() || smallConstant(b, p, v) || smallConstant(b, p, other) {
					continue
				}
			}
			return fmt.Errorf("%s of integers is not exact in float32", in.Op)
		}
	}
	return nil
}

// smallConstant reports whether a value of the program is a constant of integers that float32 tells from all others.
func smallConstant(b kernels.Binding, p elementwise.Program, v int) bool {
	if v >= p.Args {
		in := p.Code[v-p.Args]
		return in.Op == elementwise.Const && exactInteger(in.Imm[0])
	}
	c, ok := b.Const(v)
	if !ok {
		return false
	}
	for _, f := range numeric.ToReal(c, b.Layer.Inputs[v].Range).Floats() {
		if !exactInteger(f) {
			return false
		}
	}
	return true
}

func exactInteger(f float32) bool {
	return f > -programs.ExactIntegers && f < programs.ExactIntegers && float64(f) == math.Trunc(float64(f))
}
