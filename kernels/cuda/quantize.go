package cuda

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// quantizeTactics are the changes between real and quantised numbers of any integer type, by one scale or one for each index
// of an axis, which are constants or computed by the network.
func quantizeTactics() []tactic {
	var list []tactic
	for _, op := range []*graph.Op{graph.Quantize, graph.Dequantize} {
		list = append(list, tactic{
			name: "quantize_axis_linear", op: op, in: kernels.Linear, out: kernels.Linear,
			match: func(b kernels.Binding) error {
				_, err := scalingOf(b)
				return err
			},
			emit: func(b kernels.Binding) (*work, error) {
				s, err := scalingOf(b)
				if err != nil {
					return nil, err
				}
				return s.emit(b), nil
			},
			cost: func(b kernels.Binding) []job {
				return []job{threadJob(graph.Count(b.Out[0].Dims), 40, traffic(b))}
			},
		})
	}
	return append(list, dynamicQuantizeTactic())
}

// scaling is such a change: element i has the scale and the zero point i/inner % channels.
type scaling struct {
	inner, channels int
	reals           storage        // the side of real numbers
	integers        graph.DataType // the other
	quantize        bool
	scale           storage
	zero            graph.DataType // of the zero points; 0: there are none
	rng             graph.Range    // the constants; not set: inputs 1 and 2
}

func scalingOf(b kernels.Binding) (*scaling, error) {
	a, in, out := b.Layer.Attrs.(graph.QuantAttrs), b.Layer.Inputs[0], b.Layer.Outputs[0]
	s := &scaling{inner: 1, channels: 1, rng: a.Range, quantize: b.Layer.Op == graph.Quantize, integers: in.Type}
	real := out
	if s.quantize {
		real, s.integers = in, out.Type
	}
	s.reals = storage{typ: real.Type, rng: real.Range}
	if b.Layer.Epilogue.Args > 0 || b.Consts[0] != nil {
		return nil, fmt.Errorf("the input is a constant, or there is an epilogue")
	}
	if !s.integers.IsInteger() || real.Type != graph.F32 && real.Type != graph.F16 {
		return nil, fmt.Errorf("from %s to %s; the kernel is of integers, and of f32 or f16", in.Type, out.Type)
	}
	channels := len(a.Range.Scale)
	if !a.Range.IsSet() {
		s.scale = storage{typ: b.In[1].Type}
		if s.scale.typ != graph.F32 && s.scale.typ != graph.F16 {
			return nil, fmt.Errorf("scales are %s, the kernel takes f32 and f16", s.scale.typ)
		}
		channels = graph.Count(b.In[1].Dims)
		if len(b.In) > 2 && b.Layer.Inputs[2] != nil {
			if s.zero = b.In[2].Type; !s.zero.IsInteger() || graph.Count(b.In[2].Dims) != channels {
				return nil, fmt.Errorf("there are %s of %s for %d scales", b.In[2], s.zero, channels)
			}
		}
	}
	if channels > 1 {
		x := b.In[0].Dims
		if a.Range.Axis < 0 || a.Range.Axis >= len(x) || x[a.Range.Axis] != channels {
			return nil, fmt.Errorf("%d scales do not fit axis %d of %v", channels, a.Range.Axis, x)
		}
		s.channels, s.inner = channels, graph.Count(x[a.Range.Axis+1:])
	}
	return s, nil
}

// emit emits a kernel in which each thread converts an element.
func (s *scaling) emit(b kernels.Binding) *work {
	w := &work{module: ptx.New(ptx.SM80)}
	total := graph.Count(b.Out[0].Dims)
	k, l := w.threads("quantize", total)
	x := l.input(k, 0)
	var scales, zeros ptx.GlobalPtr
	if s.rng.IsSet() {
		s.scale.typ = graph.F32
		scales = l.constant(k, "scales", w.append(graph.Bytes(s.rng.Scale)))
		if len(s.rng.Zero) > 0 {
			s.zero = graph.I32
			zeros = l.constant(k, "zeros", w.append(graph.Bytes(s.rng.Zero)))
		}
	} else {
		scales = l.operand(k, w, b, 1)
		if s.zero != 0 {
			zeros = l.operand(k, w, b, 2)
		}
	}
	y := l.output(k, 0)
	index := threadIndex(k, total)
	line, _ := k.DivRem(index, s.inner)
	_, channel := k.DivRem(line, s.channels)
	scale := s.scale.loadOne(k, k.Offset(scales, channel, s.scale.typ.Size()))
	zero := ptx.L(0)
	if s.zero != 0 {
		zero = loadInteger(k, k.Offset(zeros, channel, s.zero.Size()), s.zero)
	}
	from, to := k.Offset(x, index, b.In[0].Type.Size()), k.Offset(y, index, b.Out[0].Type.Size())
	if s.quantize {
		storeQuantized(k, to, s.integers, s.reals.loadOne(k, from), scale, zero)
	} else {
		q := k.SubL(loadInteger(k, from, s.integers), zero)
		s.reals.storeOne(k, to, k.MulF(k.LongToFloat(q, true), scale))
	}
	w.end(k, l)
	return w
}

// storeQuantized writes saturate(round(x / scale) + zero).
func storeQuantized(k *ptx.K, to ptx.GlobalPtr, t graph.DataType, x, scale ptx.Float, zero ptx.Long) {
	storeInteger(k, to, t, saturated(k, k.AddL(roundedLong(k, k.DivF(x, scale)), zero), t))
}

// dynamicQuantizeTactic is the change to bytes by a range that is computed, too.
func dynamicQuantizeTactic() tactic {
	return tactic{
		name: "quantize_dynamic_linear", op: graph.DynamicQuantize, in: kernels.Linear, out: kernels.Linear,
		match: func(b kernels.Binding) error {
			in := b.Layer.Inputs[0]
			if b.Consts[0] != nil || storable(in) != nil || in.Type == graph.Bool {
				return fmt.Errorf("%s is %s, the kernel takes f32, f16 and bytes quantised by one scale", in.Name, in.Type)
			}
			if b.Layer.Epilogue.Args > 0 {
				return fmt.Errorf("the kernel has no epilogue")
			}
			return nil
		},
		workspace: func(b kernels.Binding) int { return 8 * extremeBlocks(graph.Count(b.In[0].Dims)) },
		emit:      emitDynamicQuantize,
		cost: func(b kernels.Binding) []job {
			n := graph.Count(b.In[0].Dims)
			blocks := extremeBlocks(n)
			return []job{
				threadJob(blocks*blockThreads, 60+8*ceilDiv(n, blocks*blockThreads), traffic(b)),
				threadJob(32, 60+8*ceilDiv(blocks, 32), 0), threadJob(n, 40, traffic(b)),
			}
		},
	}
}

// extremeBlocks is how many blocks share the search for the extremes of n elements.
func extremeBlocks(n int) int { return max(1, min(512, n/(8*blockThreads))) }

// emitDynamicQuantize emits the kernels that find the extremes of each block's elements and 0, the scale and the zero point
// of all, and the bytes.
func emitDynamicQuantize(b kernels.Binding) (*work, error) {
	w := &work{module: ptx.New(ptx.SM80)}
	x := storage{typ: b.In[0].Type, rng: b.Layer.Inputs[0].Range}
	total := graph.Count(b.In[0].Dims)
	blocks := extremeBlocks(total)
	emitExtremes(w, x, total, blocks)

	k, l := w.threads("scale", 32)
	parts, scaleP, zeroP := l.scratch(k, "parts", 0), l.output(k, 1), l.output(k, 2)
	lane := threadIndex(k, 32)
	low, high := k.VarF(ptx.F(0)), k.VarF(ptx.F(0))
	k.For(lane, ptx.U(blocks), ptx.U(32), func(i ptx.Uint) {
		p := k.LoadF(k.Offset(parts, i, 8), 2)
		k.SetF(low, k.MinNaN(low, p[0]))
		k.SetF(high, k.MaxNaN(high, p[1]))
	})
	low, high = acrossWarp(k, low, (*ptx.K).MinNaN), acrossWarp(k, high, (*ptx.K).MaxNaN)
	scale := k.DivF(k.SubF(high, low), ptx.F(255))
	scale = k.SelectF(k.GtF(scale, ptx.F(0)), scale, ptx.F(1))
	zero := saturated(k, roundedLong(k, k.DivF(k.NegF(low), scale)), graph.U8)
	k.Exit(k.Ne(lane, ptx.U(0)))
	k.StoreF(scaleP, scale)
	storeInteger(k, zeroP, graph.U8, zero)
	w.end(k, l)

	k, l = w.threads("quantize", total)
	x.base = l.input(k, 0)
	y, scaleP, zeroP := l.output(k, 0), l.output(k, 1), l.output(k, 2)
	index := threadIndex(k, total)
	v := x.loadOne(k, k.Offset(x.base, index, x.typ.Size()))
	storeQuantized(k, k.Offset(y, index, 1), graph.U8, v, k.LoadF(scaleP, 1)[0], loadInteger(k, zeroP, graph.U8))
	w.end(k, l)
	return w, nil
}

// emitExtremes emits the kernel whose blocks each write the smallest and the largest of their elements and 0.
func emitExtremes(w *work, x storage, total, blocks int) {
	k, l := w.threads("extremes", blocks*blockThreads)
	x.base = l.input(k, 0)
	parts := l.scratch(k, "parts", 0)
	thread, block := k.Thread(), k.BlockX()
	low, high := k.VarF(ptx.F(0)), k.VarF(ptx.F(0))
	first := k.Mad(block, ptx.U(blockThreads), thread)
	k.For(first, ptx.U(total), ptx.U(blocks*blockThreads), func(i ptx.Uint) {
		v := x.loadOne(k, k.Offset(x.base, i, x.typ.Size()))
		k.SetF(low, k.MinNaN(low, v))
		k.SetF(high, k.MaxNaN(high, v))
	})
	low, high = acrossWarp(k, low, (*ptx.K).MinNaN), acrossWarp(k, high, (*ptx.K).MaxNaN)
	const warps = blockThreads / 32
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
	w.end(k, l)
}
