package cpu

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// int8Tactics are the tactics on 8-bit activations for one instruction set.
func int8Tactics(isa asm.Features, workers int) []kernels.Tactic {
	cfg := ConvInt8Config{Features: isa, Workers: workers}
	stem := cfg
	stem.Stem = true
	blocked := func(family, shape string, op *graph.Op, in kernels.Format, plan int8Planner) kernels.Tactic {
		return kernels.Tactic{
			Name: family + "_int8_" + work.ISAName(isa) + shape, Op: op, Needs: kernels.Feature(isa), In: in, Out: kernels.C16, Strided: true,
			Match:     plan.match,
			Workspace: plan.workspace,
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return plan.bind(b, isa) },
		}
	}
	linear := func(family string, op *graph.Op) kernels.Tactic {
		return kernels.Tactic{
			Name: family + "_int8_" + work.ISAName(isa), Op: op, Needs: kernels.Feature(isa),
			Match:     matchGemmInt8,
			Workspace: func(b kernels.Binding) int { return workspaceGemmInt8(b, cfg) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindGemmInt8(b, cfg) },
		}
	}
	rows := cfg
	rows.Planar = true
	planar := blocked("conv_transposed", "_subpixel_planar", graph.ConvTranspose, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return transposedInt8(b, rows, full) })
	planar.Out = kernels.Linear
	return []kernels.Tactic{
		planar,
		blocked("conv", "_depthwise", graph.Conv, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return depthwiseInt8(b, cfg, full) }),
		blocked("conv", "_direct", graph.Conv, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return directInt8(b, cfg, full) }),
		blocked("conv", "_stem", graph.Conv, kernels.Linear, func(b kernels.Binding, full bool) (int8Computation, error) { return directInt8(b, stem, full) }),
		blocked("conv_transposed", "_subpixel", graph.ConvTranspose, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return transposedInt8(b, cfg, full) }),
		blocked("maxpool", "", graph.MaxPool, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return poolInt8(b, cfg) }),
		blocked("avgpool", "", graph.AveragePool, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return poolInt8(b, cfg) }),
		blocked("reduce_mean", "", graph.ReduceMean, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return meanInt8(b, cfg) }),
		blocked("gemm", "_pointwise", graph.Gemm, kernels.C16, func(b kernels.Binding, full bool) (int8Computation, error) { return productInt8(b, cfg, full) }),
		linear("gemm", graph.Gemm),
		linear("matmul", graph.MatMul),
	}
}

// offset returns the zero point of a tensor's bytes as the kernels see them, unsigned.
func offset(t *graph.Tensor) int32 {
	z := t.Range.ZeroAt(0)
	if t.Type == graph.I8 {
		z += 128
	}
	return z
}

// quantized returns an error unless t has 8-bit elements with one scale for all.
func quantized(t *graph.Tensor) error {
	if t.Type != graph.I8 && t.Type != graph.U8 || !t.Quantized() || t.Range.PerChannel() {
		return fmt.Errorf("%s is not 8-bit with one scale", t.Name)
	}
	return nil
}

// int8Output is what becomes of the sums of a layer on bytes: all of it in registers, or float32 and then a program.
type int8Output struct {
	registers Int8Epilogue
	residual  int // index among the layer's inputs; -1 for none
	program   *programRun
	floats    kernels.Desc // what the program reads: an output of float32 itself, else as many in the workspace
	inPlace   bool         // the former
}

// newInt8Output reads the layer's epilogue.
func newInt8Output(b kernels.Binding, isa asm.Features) (int8Output, error) {
	l := b.Layer
	if err := quantized(l.Inputs[0]); err != nil {
		return int8Output{}, fmt.Errorf("input %w", err)
	}
	y := l.Outputs[0]
	if y.Type != graph.F32 && y.Type != graph.F16 {
		if err := quantized(y); err != nil {
			return int8Output{}, fmt.Errorf("output %w", err)
		}
	}
	e, residual, err := int8Epilogue(b)
	if err == nil && y.Type != graph.F16 {
		return int8Output{registers: e, residual: residual}, nil
	}
	o := int8Output{registers: Int8Epilogue{Inner: NoLimits(), Outer: NoLimits()}, residual: -1}
	o.floats = kernels.Desc{Type: graph.F32, Dims: b.Out[0].Dims, Format: b.Out[0].Format}
	if o.inPlace = y.Type == graph.F32; o.inPlace {
		o.floats = b.Out[0]
	}
	p := l.Epilogue
	if p.Args == 0 {
		p = identity
	}
	o.program, err = newProgramRun(b, p, len(l.OpInputs()), &own{desc: o.floats}, isa)
	return o, err
}

// workspace returns the bytes of the float32 that a program reads there.
func (o *int8Output) workspace() int {
	if o.inPlace {
		return 0
	}
	return o.floats.Bytes()
}

// int8Epilogue reads the layer's epilogue as the kernels compute it: a clamp, a residual, a clamp. It returns the
// residual's index among the layer's inputs, -1 for none.
func int8Epilogue(b kernels.Binding) (Int8Epilogue, int, error) {
	l := b.Layer
	e := Int8Epilogue{Inner: NoLimits(), Outer: NoLimits()}
	residual := -1
	first := len(l.OpInputs()) - 1
	for i, in := range l.Epilogue.Code {
		last := 0
		if i > 0 {
			last = l.Epilogue.Args + i - 1
		}
		lo, hi := float32(0), float32(math.Inf(1))
		switch {
		case in.Op == graph.EltClamp && in.Arg[0] == last:
			lo, hi = in.Imm[0], in.Imm[1]
			fallthrough
		case in.Op == graph.EltRelu && in.Arg[0] == last:
			if residual < 0 {
				e.ClampInner, e.Inner = true, intersect(e.Inner, lo, hi)
			} else {
				e.Outer = intersect(e.Outer, lo, hi)
			}
		case in.Op == graph.EltAdd && residual < 0 && (in.Arg[0] == last || in.Arg[1] == last):
			arg := in.Arg[0] + in.Arg[1] - last
			if arg == 0 || arg >= l.Epilogue.Args {
				return e, -1, fmt.Errorf("epilogue %s adds no second tensor", l.Epilogue)
			}
			residual = first + arg
			t := l.Inputs[residual]
			if err := quantized(t); err != nil {
				return e, -1, fmt.Errorf("residual %w", err)
			}
			if b.Consts[residual] != nil || b.In[residual].Format != b.Out[0].Format || graph.Count(b.In[residual].Dims) != graph.Count(b.Out[0].Dims) {
				return e, -1, fmt.Errorf("residual %s is not an activation of the output's shape", t.Name)
			}
			e.ResidualScale, e.ResidualZero = t.Range.ScaleAt(0), offset(t)
		default:
			return e, -1, fmt.Errorf("the kernel has no %s in registers", in.Op)
		}
	}
	if y := l.Outputs[0]; y.Quantized() {
		e.OutScale, e.OutZero = y.Range.ScaleAt(0), offset(y)
	}
	return e, residual, nil
}
