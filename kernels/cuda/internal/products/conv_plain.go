package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// plainConvTactics are the convolutions that no faster kernel takes: over three spatial axes and more, transposed ones with
// weights that the network computes, and those of plain integers.
func plainConvTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, op := range []*graph.Op{graph.Conv, graph.ConvTranspose, graph.ConvInteger, graph.QLinearConv} {
		list = append(list, emit.Tactic{
			Name: "conv_plain_linear", Op: op, In: kernels.Linear, Out: kernels.Linear,
			Match: func(b kernels.Binding) error {
				_, err := plainConvOf(b)
				return err
			},
			Workspace: func(b kernels.Binding) int {
				if c, err := plainConvOf(b); err == nil && c.integers != nil {
					return 4 * c.integers.factors(b)
				}
				return 0
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				c, err := plainConvOf(b)
				if err != nil {
					return nil, err
				}
				return c.emit(b)
			},
			Cost: func(b kernels.Binding) []emit.Job {
				c, err := plainConvOf(b)
				if err != nil {
					return nil
				}
				return []emit.Job{emit.ThreadJob(numeric.Count(b.Out[0].Dims), 60+14*c.channels*c.count(), emit.Traffic(b))}
			},
		})
	}
	return list
}

// plainConv is a convolution of reals, or of integers with their zero points, in which each thread computes an element.
type plainConv struct {
	windowTaps
	groups, channels, filters int // channels and filters of a group
	weights, bias             int // inputs; bias is -1 where there is none
	integers                  *integerSums
}

func plainConvOf(b kernels.Binding) (*plainConv, error) {
	c := &plainConv{weights: 1, bias: -1}
	inputs := b.Layer.OpInputs()
	switch b.Layer.Op {
	case graph.ConvInteger, graph.QLinearConv:
		if c.integers = integerSumsOf(b); len(inputs) > 8 && inputs[8] != nil {
			c.bias = 8
		}
		c.weights = c.integers.second
	default:
		if len(inputs) > 2 && inputs[2] != nil {
			c.bias = 2
		}
	}
	x, y, w := b.In[0].Dims, b.Out[0].Dims, b.In[c.weights].Dims
	c.in, c.out = x[2:], y[2:]
	switch a := b.Layer.Attrs.(type) {
	case graph.ConvAttrs:
		c.windows, c.groups = graph.Windows(w[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x[2:]), max(1, a.Group)
	case graph.ConvTransposeAttrs:
		c.windows, c.groups, c.transposed = a.Windows(w[2:], x[2:]), max(1, a.Group), true
	}
	c.channels, c.filters = x[1]/c.groups, y[1]/c.groups
	if err := c.fits(); err != nil {
		return nil, err
	}
	if c.integers != nil {
		return c, c.integers.check(b, y[1], c.channels*c.count())
	}
	if given := b.Consts[1] == nil && c.transposed; len(c.in) < 3 && !given {
		return nil, fmt.Errorf("%d spatial axes, the kernel takes 3 and more, or transposed ones whose weights are computed", len(c.in))
	}
	for _, t := range inputs {
		if t != nil && t.Type != numeric.F32 && t.Type != numeric.F16 {
			return nil, fmt.Errorf("%s is %s, the kernel takes f32 and f16", t.Name, t.Type)
		}
	}
	return c, emit.CheckArguments(b, b.Layer.Epilogue, len(inputs))
}

// emit emits the kernel.
func (c *plainConv) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	var out *emit.RowOutput
	if c.integers == nil {
		var err error
		if out, err = emit.PlainOutput(b, w); err != nil {
			return nil, err
		}
	}
	if c.integers != nil {
		c.integers.emitFactors(w, b)
	}
	total := numeric.Count(b.Out[0].Dims)
	k, l := w.Threads("conv", total)
	t := &plainConvThread{plainConv: c, K: k}
	t.x = emit.Storage{Type: b.In[0].Type, Base: l.Operand(k, w, b, 0)}
	t.w = emit.Storage{Type: b.In[c.weights].Type, Base: l.Operand(k, w, b, c.weights)}
	var bias ptx.GlobalPtr
	if c.bias >= 0 {
		bias = l.Operand(k, w, b, c.bias)
	}
	if c.integers != nil {
		c.integers.parameters(k, l, w, b)
		y := l.Output(k, 0)
		index := emit.ThreadIndex(k, total)
		sum, filter := t.integers(index)
		if c.bias >= 0 {
			k.SetS(sum, k.AddSaturated(sum, k.Load(k.Offset(bias, filter, 4), 1)[0].Int()))
		}
		c.integers.store(k, y, index, sum, filter)
		w.End(k, l)
		return w, nil
	}
	out.Parameters(k, l)
	index := emit.ThreadIndex(k, total)
	sum, filter := t.reals(index)
	if c.bias >= 0 {
		s := emit.Storage{Type: b.In[c.bias].Type}
		k.SetF(sum, k.AddF(sum, s.LoadOne(k, k.Offset(bias, filter, s.Type.Size()))))
	}
	row, column := k.DivRem(index, out.Width)
	out.Store(k, row, column, []ptx.Float{sum})
	w.End(k, l)
	return w, nil
}

// plainConvThread is the code of one thread.
type plainConvThread struct {
	*plainConv
	*ptx.K
	x, w emit.Storage
}

// each runs body with the elements of the input and the weights whose products are summed for an element of the output, and
// returns its filter.
func (t *plainConvThread) each(index ptx.Uint, body func(x, w ptx.GlobalPtr, filter ptx.Uint)) (filter ptx.Uint) {
	plane, place := t.DivRem(index, numeric.Count(t.out))
	image, filter := t.DivRem(plane, t.groups*t.filters)
	group, own := t.DivRem(filter, t.filters)
	places := t.places(t.K, place)
	t.For(ptx.U(0), ptx.U(t.channels), ptx.U(1), func(c ptx.Uint) {
		channel := t.Mad(group, ptx.U(t.channels), c)
		line := t.Mul(t.Mad(image, ptx.U(t.groups*t.channels), channel), ptx.U(numeric.Count(t.in)))
		first := t.Mul(t.Mad(filter, ptx.U(t.channels), c), ptx.U(t.count()))
		if t.transposed {
			first = t.Mul(t.Mad(channel, ptx.U(t.filters), own), ptx.U(t.count()))
		}
		t.windowTaps.each(t.K, places, func(tap, at ptx.Uint) {
			body(t.Offset(t.x.Base, t.Add(line, at), t.x.Type.Size()), t.Offset(t.w.Base, t.Add(first, tap), t.w.Type.Size()), filter)
		})
	})
	return filter
}

func (t *plainConvThread) reals(index ptx.Uint) (sum ptx.Float, filter ptx.Uint) {
	sum = t.VarF(ptx.F(0))
	filter = t.each(index, func(x, w ptx.GlobalPtr, _ ptx.Uint) {
		t.FmaTo(sum, t.x.LoadOne(t.K, x), t.w.LoadOne(t.K, w))
	})
	return sum, filter
}

func (t *plainConvThread) integers(index ptx.Uint) (sum ptx.Int, filter ptx.Uint) {
	sum = t.VarS(ptx.I(0))
	s := t.plainConv.integers
	filter = t.each(index, func(x, w ptx.GlobalPtr, filter ptx.Uint) {
		a := t.SubS(t.LoadByteAs(x, t.x.Type == numeric.I8), s.zero(t.K, 0, filter))
		b := t.SubS(t.LoadByteAs(w, t.w.Type == numeric.I8), s.zero(t.K, 1, filter))
		t.SetS(sum, t.MadS(a, b, sum))
	})
	return sum, filter
}
