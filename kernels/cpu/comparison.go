package cpu

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// exactIntegers bounds the magnitude of integers that float32 tells apart from all their neighbours.
const exactIntegers = 1 << 24

// prepareComparison prepares a program over integers that it only compares, so that float32 gives the same: with each
// other if they are narrow, else with constants that float32 holds. A wide integer next to such a constant stays on its side
// of it however it is rounded.
func prepareComparison(b kernels.Binding, isa asm.Features) (*programRun, error) {
	e, ok := b.Layer.Attrs.(graph.Elementwise)
	if !ok || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("no program, or an epilogue that follows integers")
	}
	p := e.Program
	if err := comparesExactly(b, p); err != nil {
		return nil, err
	}
	args := make([]argument, p.Args)
	for i := range args {
		var err error
		if t := b.Layer.Inputs[i]; b.Consts[i] == nil && t.RealType().IsInteger() {
			args[i], err = integerArgument(b, i, isa)
		} else {
			args[i], err = newArgument(b, i, b.Out[0], isa)
		}
		if err != nil {
			return nil, err
		}
	}
	return programOver(args, p, b.Out[0], b.Layer.Outputs[0].Range, isa)
}

// integerArgument reads integers of any type as float32.
func integerArgument(b kernels.Binding, i int, isa asm.Features) (argument, error) {
	d := b.In[i]
	arg := argument{input: i, codec: codec{kind: d.Type}}
	if d.Type.Size() == 1 {
		arg.codec.quant, arg.codec.affine = work.QuantKernel(isa), quantization(d, graph.PerTensor(1, 0))
	}
	return arg, arg.place(d, b.Out[0])
}

// comparesExactly returns an error where float32 may not give what integers do.
func comparesExactly(b kernels.Binding, p graph.Program) error {
	types := make([]graph.DataType, p.Args)
	for i := range types {
		if types[i] = b.Layer.Inputs[i].RealType(); types[i] == graph.F64 || types[i] == graph.BF16 {
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
			case graph.EltAnd, graph.EltOr, graph.EltXor, graph.EltNot: // 0 or not
				continue
			case graph.EltSelect:
				if k == 0 {
					continue
				}
			case graph.EltEqual, graph.EltLess, graph.EltLessEqual, graph.EltGreater, graph.EltGreaterEqual:
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
func smallConstant(b kernels.Binding, p graph.Program, v int) bool {
	if v >= p.Args {
		in := p.Code[v-p.Args]
		return in.Op == graph.EltConst && exactInteger(in.Imm[0])
	}
	c, ok := b.Const(v)
	if !ok {
		return false
	}
	for _, f := range graph.ToReal(c, b.Layer.Inputs[v].Range).Floats() {
		if !exactInteger(f) {
			return false
		}
	}
	return true
}

func exactInteger(f float32) bool {
	return f > -exactIntegers && f < exactIntegers && float64(f) == math.Trunc(float64(f))
}

// loadIntegers sets dst to the elements of src from at on, rounded to float32.
func loadIntegers(dst []float32, src []byte, at int, t graph.DataType) {
	switch t {
	case graph.I16:
		roundIntegers(dst, graph.View[int16](src)[at:])
	case graph.U16:
		roundIntegers(dst, graph.View[uint16](src)[at:])
	case graph.I32:
		roundIntegers(dst, graph.View[int32](src)[at:])
	case graph.U32:
		roundIntegers(dst, graph.View[uint32](src)[at:])
	case graph.I64:
		roundIntegers(dst, graph.View[int64](src)[at:])
	case graph.U64:
		roundIntegers(dst, graph.View[uint64](src)[at:])
	}
}

func roundIntegers[T graph.Element](dst []float32, src []T) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = float32(v)
	}
}
