package cpu

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
)

// int8Tactics are the tactics on 8-bit activations for one instruction set.
func int8Tactics(isa asm.Features, workers int) []kernels.Tactic {
	name := func(family, shape string) string { return family + "_int8_" + isaName(isa) + shape }
	needs := kernels.Feature(isa)
	cfg := ConvInt8Config{Features: isa, Workers: workers}
	stem := cfg
	stem.Stem = true
	return []kernels.Tactic{
		{
			Name: name("conv", "_direct"), Op: graph.Conv, Needs: needs, In: kernels.C16, Out: kernels.C16, Strided: true,
			Match:     func(b kernels.Binding) error { return matchConvInt8(b, false) },
			Workspace: func(b kernels.Binding) int { return workspaceConvInt8(b, cfg) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindConvInt8(b, cfg) },
		},
		{
			Name: name("conv", "_stem"), Op: graph.Conv, Needs: needs, In: kernels.Linear, Out: kernels.C16, Strided: true,
			Match:     func(b kernels.Binding) error { return matchConvInt8(b, true) },
			Workspace: func(b kernels.Binding) int { return workspaceConvInt8(b, stem) },
			Bind:      func(b kernels.Binding) (kernels.Kernel, error) { return bindConvInt8(b, stem) },
		},
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

// int8Layer checks what all layers of 8-bit products have in common, and reads their epilogue.
func int8Layer(b kernels.Binding) (Int8Epilogue, int, error) {
	l := b.Layer
	if err := quantized(l.Inputs[0]); err != nil {
		return Int8Epilogue{}, -1, fmt.Errorf("input %w", err)
	}
	w := l.Inputs[1]
	if b.Consts[1] == nil || w.Type != graph.I8 && w.Type != graph.U8 || !w.Quantized() {
		return Int8Epilogue{}, -1, fmt.Errorf("weights %s are not 8-bit constants", w.Name)
	}
	if y := l.Outputs[0]; y.Type != graph.F32 {
		if err := quantized(y); err != nil {
			return Int8Epilogue{}, -1, fmt.Errorf("output %w", err)
		}
	}
	return int8Epilogue(b)
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
			if b.Consts[residual] != nil || graph.Count(b.In[residual].Dims) != graph.Count(b.Out[0].Dims) {
				return e, -1, fmt.Errorf("residual %s is not an activation of the output's shape", t.Name)
			}
			e.ResidualScale, e.ResidualZero = t.Range.ScaleAt(0), offset(t)
		default:
			return e, -1, fmt.Errorf("the kernel has no %s in registers", in.Op)
		}
	}
	if y := l.Outputs[0]; y.Type != graph.F32 {
		e.OutScale, e.OutZero = y.Range.ScaleAt(0), offset(y)
	}
	return e, residual, nil
}

func matchConvInt8(b kernels.Binding, stem bool) error {
	if _, _, err := int8Layer(b); err != nil {
		return err
	}
	s, err := convShape(b)
	if err != nil {
		return err
	}
	_, err = planConvInt8(s, ConvInt8Config{Stem: stem, Workers: 1})
	return err
}

func workspaceConvInt8(b kernels.Binding, cfg ConvInt8Config) int {
	s, err := convShape(b)
	if err != nil {
		return 0
	}
	cfg.InZero = offset(b.Layer.Inputs[0])
	c, err := planConvInt8(s, cfg)
	if err != nil {
		return 0
	}
	return c.Workspace()
}

// int8Weights returns weights less their zero points, and each output channel's scale.
func int8Weights(b kernels.Binding, filters int) (weights []int16, scale []float32) {
	v, _ := b.Const(1)
	r, sx := b.Layer.Inputs[1].Range, b.Layer.Inputs[0].Range.ScaleAt(0)
	q := v.Ints()
	weights, scale = make([]int16, len(q)), make([]float32, filters)
	each := len(q) / max(1, filters)
	for i, w := range q {
		weights[i] = int16(int32(w) - r.ZeroAt(i/each))
	}
	for c := range scale {
		scale[c] = sx * r.ScaleAt(c)
	}
	return weights, scale
}

func bindConvInt8(b kernels.Binding, cfg ConvInt8Config) (kernels.Kernel, error) {
	s, err := convShape(b)
	if err != nil {
		return nil, err
	}
	e, residual, err := int8Layer(b)
	if err != nil {
		return nil, err
	}
	weights, scale := int8Weights(b, s.Filters)
	cfg.InZero, cfg.Signed = offset(b.Layer.Inputs[0]), cfg.Stem && b.In[0].Type == graph.I8
	c, err := NewConvInt8(s, weights, scale, realConst(b, 2), cfg)
	if err != nil {
		return nil, err
	}
	return launcher(func(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
		call := ConvInt8Call{In: bytes4(b.In[0], in[0]), Epilogue: e, Workspace: ws.Host}
		if residual >= 0 {
			call.Epilogue.Residual = bytes4(b.In[residual], in[residual])
		}
		if b.Out[0].Type == graph.F32 {
			call.Epilogue.Float = tensor4(b.Out[0], out[0])
		} else {
			call.Epilogue.Out = bytes4(b.Out[0], out[0])
		}
		c.Run(parallel(st), &call)
		return nil
	}), nil
}
