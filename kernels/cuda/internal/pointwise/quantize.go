package pointwise

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// quantizeTactics are the changes between real and quantised numbers of any integer type, by one scale or one for each index
// of an axis, which are constants or computed by the network.
func quantizeTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.Quantize, graph.Dequantize} {
		list = append(list, emit.Tactic{
			Name: "quantize_axis_linear", Op: op, In: kernels.Linear, Out: kernels.Linear,
			Match: func(b kernels.Binding) error {
				_, err := scalingOf(b)
				return err
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				s, err := scalingOf(b)
				if err != nil {
					return nil, err
				}
				return s.emit(b), nil
			},
			Cost: func(b kernels.Binding) []emit.Job {
				return []emit.Job{emit.ThreadJob(numeric.Count(b.Out[0].Dims), 40, emit.Traffic(b))}
			},
		})
	}
	return append(list, dynamicQuantizeTactic())
}

// scaling is such a change: element i has the scale and the zero point i/inner % channels.
type scaling struct {
	inner, channels int
	reals           emit.Storage     // the side of real numbers
	integers        numeric.DataType // the other
	quantize        bool
	scale           emit.Storage
	zero            numeric.DataType // of the zero points; 0: there are none
	rng             numeric.Range    // the constants; not set: inputs 1 and 2
}

func scalingOf(b kernels.Binding) (*scaling, error) {
	a, in, out := b.Layer.Attrs.(graph.QuantAttrs), b.Layer.Inputs[0], b.Layer.Outputs[0]
	s := &scaling{inner: 1, channels: 1, rng: a.Range, quantize: b.Layer.Op == graph.Quantize, integers: in.Type}
	real := out
	if s.quantize {
		real, s.integers = in, out.Type
	}
	s.reals = emit.Storage{Type: real.Type, Range: real.Range}
	if b.Layer.Epilogue.Args > 0 || b.Consts[0] != nil {
		return nil, fmt.Errorf("the input is a constant, or there is an epilogue")
	}
	if a.Block > 0 {
		return nil, fmt.Errorf("there are scales for blocks of %d; the kernel takes one, or one for each index of an axis", a.Block)
	}
	if !s.integers.IsInteger() || real.Type != numeric.F32 && real.Type != numeric.F16 {
		return nil, fmt.Errorf("from %s to %s; the kernel is of integers, and of f32 or f16", in.Type, out.Type)
	}
	channels := len(a.Range.Scale)
	if !a.Range.IsSet() {
		s.scale = emit.Storage{Type: b.In[1].Type}
		if s.scale.Type != numeric.F32 && s.scale.Type != numeric.F16 {
			return nil, fmt.Errorf("scales are %s, the kernel takes f32 and f16", s.scale.Type)
		}
		channels = numeric.Count(b.In[1].Dims)
		if len(b.In) > 2 && b.Layer.Inputs[2] != nil {
			if s.zero = b.In[2].Type; !s.zero.IsInteger() || numeric.Count(b.In[2].Dims) != channels {
				return nil, fmt.Errorf("there are %s of %s for %d scales", b.In[2], s.zero, channels)
			}
		}
	}
	if channels > 1 {
		x := b.In[0].Dims
		if a.Range.Axis < 0 || a.Range.Axis >= len(x) || x[a.Range.Axis] != channels {
			return nil, fmt.Errorf("%d scales do not fit axis %d of %v", channels, a.Range.Axis, x)
		}
		s.channels, s.inner = channels, numeric.Count(x[a.Range.Axis+1:])
	}
	return s, nil
}

// emit emits a kernel in which each thread converts an element.
func (s *scaling) emit(b kernels.Binding) *emit.Work {
	w := emit.NewWork()
	total := numeric.Count(b.Out[0].Dims)
	k, l := w.Threads("quantize", total)
	x := l.Input(k, 0)
	var scales, zeros ptx.GlobalPtr
	if s.rng.IsSet() {
		s.scale.Type = numeric.F32
		scales = l.Constant(k, "scales", w.Append(numeric.Bytes(s.rng.Scale)))
		if len(s.rng.Zero) > 0 {
			s.zero = numeric.I32
			zeros = l.Constant(k, "zeros", w.Append(numeric.Bytes(s.rng.Zero)))
		}
	} else {
		scales = l.Operand(k, w, b, 1)
		if s.zero != 0 {
			zeros = l.Operand(k, w, b, 2)
		}
	}
	y := l.Output(k, 0)
	index := emit.ThreadIndex(k, total)
	line, _ := k.DivRem(index, s.inner)
	_, channel := k.DivRem(line, s.channels)
	scale := s.scale.LoadOne(k, k.Offset(scales, channel, s.scale.Type.Size()))
	zero := ptx.L(0)
	if s.zero != 0 {
		zero = emit.LoadInteger(k, k.Offset(zeros, channel, s.zero.Size()), s.zero)
	}
	from, to := k.Offset(x, index, b.In[0].Type.Size()), k.Offset(y, index, b.Out[0].Type.Size())
	if s.quantize {
		storeQuantized(k, to, s.integers, s.reals.LoadOne(k, from), scale, zero)
	} else {
		q := k.SubL(emit.LoadInteger(k, from, s.integers), zero)
		s.reals.StoreOne(k, to, k.MulF(k.LongToFloat(q, true), scale))
	}
	w.End(k, l)
	return w
}

// storeQuantized writes saturate(round(x / scale) + zero).
func storeQuantized(k *ptx.K, to ptx.GlobalPtr, t numeric.DataType, x, scale ptx.Float, zero ptx.Long) {
	emit.StoreInteger(k, to, t, emit.Saturated(k, k.AddL(emit.RoundedLong(k, k.DivF(x, scale)), zero), t))
}

// dynamicQuantizeTactic is the change to bytes by a range that is computed, too.
func dynamicQuantizeTactic() emit.Tactic {
	return emit.Tactic{
		Name: "quantize_dynamic_linear", Op: graph.DynamicQuantize, In: kernels.Linear, Out: kernels.Linear,
		Match: func(b kernels.Binding) error {
			in := b.Layer.Inputs[0]
			if b.Consts[0] != nil || emit.Storable(in) != nil || in.Type == numeric.Bool {
				return fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
			}
			if b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("the kernel has no epilogue")
			}
			return nil
		},
		Workspace: func(b kernels.Binding) int { return 8 * extremeBlocks(numeric.Count(b.In[0].Dims)) },
		Emit:      emitDynamicQuantize,
		Cost: func(b kernels.Binding) []emit.Job {
			n := numeric.Count(b.In[0].Dims)
			blocks := extremeBlocks(n)
			return []emit.Job{
				emit.ThreadJob(blocks*emit.BlockThreads, 60+8*emit.CeilDiv(n, blocks*emit.BlockThreads), emit.Traffic(b)),
				emit.ThreadJob(32, 60+8*emit.CeilDiv(blocks, 32), 0), emit.ThreadJob(n, 40, emit.Traffic(b)),
			}
		},
	}
}

// extremeBlocks is how many blocks share the search for the extremes of n elements.
func extremeBlocks(n int) int { return max(1, min(512, n/(8*emit.BlockThreads))) }

// emitDynamicQuantize emits the kernels that find the extremes of each block's elements and 0, the scale and the zero point
// of all, and the bytes.
func emitDynamicQuantize(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	x := emit.Storage{Type: b.In[0].Type, Range: b.Layer.Inputs[0].Range}
	total := numeric.Count(b.In[0].Dims)
	blocks := extremeBlocks(total)
	emitExtremes(w, x, total, blocks)

	k, l := w.Threads("scale", 32)
	parts, scaleP, zeroP := l.Scratch(k, "parts", 0), l.Output(k, 1), l.Output(k, 2)
	lane := emit.ThreadIndex(k, 32)
	low, high := k.VarF(ptx.F(0)), k.VarF(ptx.F(0))
	k.For(lane, ptx.U(blocks), ptx.U(32), func(i ptx.Uint) {
		p := k.LoadF(k.Offset(parts, i, 8), 2)
		k.SetF(low, k.MinNaN(low, p[0]))
		k.SetF(high, k.MaxNaN(high, p[1]))
	})
	low, high = emit.AcrossWarp(k, low, (*ptx.K).MinNaN), emit.AcrossWarp(k, high, (*ptx.K).MaxNaN)
	scale := k.DivF(k.SubF(high, low), ptx.F(255))
	scale = k.SelectF(k.GtF(scale, ptx.F(0)), scale, ptx.F(1))
	zero := emit.Saturated(k, emit.RoundedLong(k, k.DivF(k.NegF(low), scale)), numeric.U8)
	k.Exit(k.Ne(lane, ptx.U(0)))
	k.StoreF(scaleP, scale)
	emit.StoreInteger(k, zeroP, numeric.U8, zero)
	w.End(k, l)

	k, l = w.Threads("quantize", total)
	x.Base = l.Input(k, 0)
	y, scaleP, zeroP := l.Output(k, 0), l.Output(k, 1), l.Output(k, 2)
	index := emit.ThreadIndex(k, total)
	v := x.LoadOne(k, k.Offset(x.Base, index, x.Type.Size()))
	storeQuantized(k, k.Offset(y, index, 1), numeric.U8, v, k.LoadF(scaleP, 1)[0], emit.LoadInteger(k, zeroP, numeric.U8))
	w.End(k, l)
	return w, nil
}

// emitExtremes emits the kernel whose blocks each write the smallest and the largest of their elements and 0.
func emitExtremes(w *emit.Work, x emit.Storage, total, blocks int) {
	k, l := w.Threads("extremes", blocks*emit.BlockThreads)
	x.Base = l.Input(k, 0)
	parts := l.Scratch(k, "parts", 0)
	thread, block := k.Thread(), k.BlockX()
	low, high := k.VarF(ptx.F(0)), k.VarF(ptx.F(0))
	first := k.Mad(block, ptx.U(emit.BlockThreads), thread)
	k.For(first, ptx.U(total), ptx.U(blocks*emit.BlockThreads), func(i ptx.Uint) {
		v := x.LoadOne(k, k.Offset(x.Base, i, x.Type.Size()))
		k.SetF(low, k.MinNaN(low, v))
		k.SetF(high, k.MaxNaN(high, v))
	})
	low, high = emit.AcrossWarp(k, low, (*ptx.K).MinNaN), emit.AcrossWarp(k, high, (*ptx.K).MaxNaN)
	const warps = emit.BlockThreads / 32
	shared := k.Array("extremes", 8*warps, 16)
	k.If(k.Eq(k.And(thread, ptx.U(31)), ptx.U(0)), func() {
		k.StoreSharedF(k.OffsetShared(shared, k.Shr(thread, 5), 8), low, high)
	})
	k.Barrier()
	k.Exit(k.Ne(thread, ptx.U(0)))
	low, high = ptx.F(0), ptx.F(0)
	for i := range warps {
		p := k.LoadSharedF(shared.At(8*i), 2)
		low, high = k.MinNaN(low, p[0]), k.MaxNaN(high, p[1])
	}
	k.StoreF(k.Offset(parts, block, 8), low, high)
	w.End(k, l)
}
