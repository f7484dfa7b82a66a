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

// Tactics compute element-wise layers, as programs on strips, in either format and on all types that have a
// codec.
func Tactics(isa asm.Features) []kernels.Tactic {
	list := []kernels.Tactic{castPrograms(isa), dynamicTactic(isa), rowsTactic(isa)}
	for _, op := range []struct {
		family  string
		op      *graph.Op
		prepare func(kernels.Binding, asm.Features) (*programs.Program, error)
	}{
		{"pointwise", graph.Pointwise, preparePointwise},
		{"batchnorm", graph.BatchNorm, prepareBatchNorm},
		{"quantize", graph.Quantize, prepareQuantize},
		{"dequantize", graph.Dequantize, prepareDequantize},
		{"cast", graph.Cast, prepareCast},
		{"convert", graph.Reformat, prepareConvert},
	} {
		for _, f := range []kernels.Format{kernels.C16, kernels.Linear} {
			list = append(list, kernels.Tactic{
				Name: fmt.Sprintf("%s_%s_%s", op.family, work.ISAName(isa), f), Op: op.op, Needs: kernels.Feature(isa), In: f, Out: f,
				Strided: true, InPlace: true,
				Match: func(b kernels.Binding) error {
					_, err := op.prepare(b, 0)
					return err
				},
				Bind: func(b kernels.Binding) (kernels.Kernel, error) {
					p, err := op.prepare(b, isa)
					if err != nil {
						return nil, err
					}
					return pointwiseKernel{p}, nil
				},
			})
		}
	}
	return list
}

// pointwiseKernel is a program over a layer's inputs.
type pointwiseKernel struct{ program *programs.Program }

// Launch runs the program.
func (k pointwiseKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.program.Launch(work.Loop(st), kernels.Mem{}, in, out[0])
	return nil
}

// withEpilogue returns p followed by the layer's epilogue: the arguments stay the layer's inputs in order.
func withEpilogue(p elementwise.Program, l *graph.Layer) elementwise.Program {
	if l.Epilogue.Args == 0 {
		return p
	}
	return p.Then(l.Epilogue, 0)
}

func preparePointwise(b kernels.Binding, isa asm.Features) (*programs.Program, error) {
	p, ok := graph.ProgramOf(b.Layer)
	if !ok {
		return prepareComparison(b, isa)
	}
	return programs.New(b, withEpilogue(p, b.Layer), 0, nil, isa)
}

// prepareBatchNorm makes of a batch normalisation a factor and a summand for each channel.
func prepareBatchNorm(b kernels.Binding, isa asm.Features) (*programs.Program, error) {
	l := b.Layer
	var params [4][]float32
	for i := range params {
		if b.Consts[1+i] == nil {
			return nil, fmt.Errorf("input %s is not constant", l.Inputs[1+i].Name)
		}
		if params[i] = work.RealConst(b, 1+i); len(params[i]) != b.In[0].Dims[1] {
			return nil, fmt.Errorf("%d numbers for %d channels", len(params[i]), b.In[0].Dims[1])
		}
	}
	eps := float64(l.Attrs.(graph.BatchNormAttrs).Epsilon)
	factor, summand := make([]float32, len(params[0])), make([]float32, len(params[0]))
	for c := range factor {
		f := float64(params[0][c]) / math.Sqrt(float64(params[3][c])+eps)
		factor[c], summand[c] = float32(f), float32(float64(params[1][c])-float64(params[2][c])*f)
	}
	dims := make([]int, len(b.Out[0].Dims))
	for i := range dims {
		dims[i] = 1
	}
	dims[1] = len(factor)
	x, err := programs.NewArgument(b, 0, b.Out[0], isa)
	if err != nil {
		return nil, err
	}
	args := []programs.Argument{x, {Input: 1, Data: factor}, {Input: 2, Data: summand}}
	for i := range args[1:] {
		if err := args[1+i].Spread(dims, b.Out[0]); err != nil {
			return nil, err
		}
	}
	p := elementwise.Binary(elementwise.Mul).Then(elementwise.Binary(elementwise.Add), 0)
	for i := 1; i < l.Epilogue.Args; i++ {
		arg, err := programs.NewArgument(b, len(l.OpInputs())+i-1, b.Out[0], isa)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return programs.Over(args, withEpilogue(p, l), b.Out[0], l.Outputs[0].Range, isa)
}

func prepareQuantize(b kernels.Binding, isa asm.Features) (*programs.Program, error) {
	a := b.Layer.Attrs.(graph.QuantAttrs)
	if !a.Range.IsSet() || len(b.Layer.OpInputs()) != 1 {
		return nil, fmt.Errorf("scales are not constant")
	}
	if b.Layer.Inputs[0].Quantized() {
		return nil, fmt.Errorf("the input is quantised already")
	}
	if b.Out[0].Type != numeric.I8 && b.Out[0].Type != numeric.U8 {
		return nil, fmt.Errorf("output is %s, not 8-bit", b.Out[0].Type)
	}
	return programs.New(b, withEpilogue(programs.Identity, b.Layer), 0, nil, isa)
}

// prepareDequantize reads the input by the layer's own range: that of the tensor does not count.
func prepareDequantize(b kernels.Binding, isa asm.Features) (*programs.Program, error) {
	a := b.Layer.Attrs.(graph.QuantAttrs)
	if !a.Range.IsSet() || len(b.Layer.OpInputs()) != 1 || b.Layer.Epilogue.Args > 0 {
		return nil, fmt.Errorf("scales are not constant, or there is an epilogue")
	}
	if b.In[0].Type != numeric.I8 && b.In[0].Type != numeric.U8 || b.Consts[0] != nil {
		return nil, fmt.Errorf("input is %s, not an 8-bit activation", b.In[0].Type)
	}
	x := programs.Argument{Input: 0}
	var err error
	if x.Codec, err = programs.NewCodec(b.In[0], a.Range, isa); err != nil {
		return nil, err
	}
	if err := x.Place(b.In[0], b.Out[0]); err != nil {
		return nil, err
	}
	return programs.Over([]programs.Argument{x}, programs.Identity, b.Out[0], b.Layer.Outputs[0].Range, isa)
}

// prepareCast converts between the floating types, and truth values to them.
func prepareCast(b kernels.Binding, isa asm.Features) (*programs.Program, error) {
	for i, d := range []kernels.Desc{b.In[0], b.Out[0]} {
		if d.Type != numeric.F32 && d.Type != numeric.F16 && (i == 1 || d.Type != numeric.Bool) {
			return nil, fmt.Errorf("%s is neither f32 nor f16", d)
		}
	}
	return programs.New(b, withEpilogue(programs.Identity, b.Layer), 0, nil, isa)
}

// prepareConvert changes type or scale and keeps the order.
func prepareConvert(b kernels.Binding, isa asm.Features) (*programs.Program, error) {
	if b.In[0].Type == b.Out[0].Type && b.Layer.Inputs[0].Range.Equal(b.Layer.Outputs[0].Range) {
		return nil, fmt.Errorf("nothing to convert from %v to %v", b.In[0], b.Out[0])
	}
	return programs.New(b, withEpilogue(programs.Identity, b.Layer), 0, nil, isa)
}
