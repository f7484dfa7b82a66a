package cpu

import (
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/asm"
	"github.com/trtui/trtui/kernels/cpu/work"
)

// int8Computation computes sums of bytes in blocks of channels.
type int8Computation struct {
	workspace int // bytes
	run       func(work.Parallel, *ConvInt8Call)
}

// int8Planner returns a layer's computation, or why there is none; unless full, it may have no weights.
type int8Planner func(b kernels.Binding, full bool) (int8Computation, error)

func (plan int8Planner) match(b kernels.Binding) error {
	if _, err := newInt8Output(b, 0); err != nil {
		return err
	}
	_, err := plan(b, false)
	return err
}

func (plan int8Planner) workspace(b kernels.Binding) int {
	c, err := plan(b, false)
	if err != nil {
		return 0
	}
	o, err := newInt8Output(b, 0)
	if err != nil {
		return 0
	}
	return o.workspace() + c.workspace
}

func (plan int8Planner) bind(b kernels.Binding, isa asm.Features) (kernels.Kernel, error) {
	c, err := plan(b, true)
	if err != nil {
		return nil, err
	}
	k := &int8Kernel{b: b, run: c.run}
	if k.int8Output, err = newInt8Output(b, isa); err != nil {
		return nil, err
	}
	k.calls.New = func() any { return new(ConvInt8Call) }
	return k, nil
}

// int8Kernel is a computation on bytes in blocks of channels, bound to a layer.
type int8Kernel struct {
	b   kernels.Binding
	run func(work.Parallel, *ConvInt8Call)
	int8Output
	calls sync.Pool
}

// Launch computes the layer.
func (k *int8Kernel) Launch(st kernels.Stream, in, out []kernels.Mem, ws kernels.Mem) error {
	call := k.calls.Get().(*ConvInt8Call)
	*call = ConvInt8Call{In: work.Bytes(k.b.In[0], in[0]), Epilogue: k.registers}
	var floats kernels.Mem
	if n := k.workspace(); n > 0 {
		floats.Host, ws.Host = ws.Host[:n:n], ws.Host[n:]
	} else if k.inPlace {
		floats = out[0]
	}
	call.Workspace = ws.Host
	if k.residual >= 0 {
		call.Epilogue.Residual = work.Bytes(k.b.In[k.residual], in[k.residual])
	}
	switch {
	case k.program != nil:
		call.Epilogue.Float = work.Floats(k.floats, floats)
	case k.b.Out[0].Type == graph.F32:
		call.Epilogue.Float = work.Floats(k.b.Out[0], out[0])
	default:
		call.Epilogue.Out = work.Bytes(k.b.Out[0], out[0])
	}
	k.run(work.Loop(st), call)
	*call = ConvInt8Call{}
	k.calls.Put(call)
	if k.program != nil {
		k.program.launch(work.Loop(st), floats, in, out[0])
	}
	return nil
}

// constantBytes checks that a product's weights are bytes, with one scale or one for each index of the given axis.
func constantBytes(b kernels.Binding, axis int) error {
	w := b.Layer.Inputs[1]
	if w.Range.PerChannel() && w.Range.Axis != axis {
		return fmt.Errorf("scales of %s are along axis %d, not %d", w.Name, w.Range.Axis, axis)
	}
	if b.Consts[1] == nil || w.Type != graph.I8 && w.Type != graph.U8 || !w.Quantized() {
		return fmt.Errorf("weights %s are not 8-bit constants", w.Name)
	}
	return nil
}

// directInt8 is a convolution from blocks of channels or, as cfg says, of a stem's plain rows.
func directInt8(b kernels.Binding, cfg ConvInt8Config, full bool) (int8Computation, error) {
	s, err := convShape(b)
	if err == nil {
		err = constantBytes(b, 0)
	}
	if err != nil {
		return int8Computation{}, err
	}
	cfg.InZero, cfg.Signed = offset(b.Layer.Inputs[0]), cfg.Stem && b.In[0].Type == graph.I8
	if !full {
		c, err := planConvInt8(s, cfg)
		if err != nil {
			return int8Computation{}, err
		}
		return int8Computation{workspace: c.Workspace()}, nil
	}
	weights, scale := int8Weights(b, s.Filters)
	c, err := NewConvInt8(s, weights, scale, work.RealConst(b, 2), cfg)
	if err != nil {
		return int8Computation{}, err
	}
	return int8Computation{c.Workspace(), c.Run}, nil
}

func depthwiseInt8(b kernels.Binding, cfg ConvInt8Config, full bool) (int8Computation, error) {
	s, err := convShape(b)
	if err == nil {
		err = constantBytes(b, 0)
	}
	if err == nil {
		err = depthwise(s)
	}
	if err != nil {
		return int8Computation{}, err
	}
	cfg.InZero = offset(b.Layer.Inputs[0])
	if !full {
		var w windowInt8
		err := w.init(s, byte(cfg.InZero), cfg.Workers)
		return int8Computation{workspace: w.workers * w.scratch}, err
	}
	weights, scale := int8Weights(b, s.Filters)
	c, err := NewDepthwiseInt8(s, weights, scale, work.RealConst(b, 2), cfg)
	if err != nil {
		return int8Computation{}, err
	}
	return int8Computation{c.Workspace(), c.Run}, nil
}

// int8Weights returns a convolution's weights less their zero points, and each output channel's scale.
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
