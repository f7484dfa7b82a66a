package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// transposedTactics are the transposed convolutions.
func transposedTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		list = append(list, emit.Tactic{
			Name: "conv_transposed_" + f.String(), Op: graph.ConvTranspose, In: f, Out: kernels.NHWC, Strided: f == kernels.NHWC,
			Match: func(b kernels.Binding) error {
				if _, err := transposedOf(b); err != nil {
					return err
				}
				return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
			},
			Emit: func(b kernels.Binding) (*emit.Work, error) {
				t, err := transposedOf(b)
				if err != nil {
					return nil, err
				}
				return t.emit(b)
			},
			Cost: func(b kernels.Binding) []emit.Job {
				t, err := transposedOf(b)
				if err != nil {
					return nil
				}
				return t.jobs(b)
			},
		})
	}
	return list
}

// transposed is a transposed convolution in which each thread gathers directChannels channels of an output pixel from the
// input pixels that reach it: with e = y + pad, by tap r those in row (e - r*dilation) / stride where that is whole.
type transposed struct {
	*direct
}

func transposedOf(b kernels.Binding) (*transposed, error) {
	d, err := directOf(b, 1)
	if err != nil {
		return nil, err
	}
	return &transposed{d}, nil
}

// transposedConvolution fills in the geometry of a ConvTranspose in one or two spatial axes.
func (p *product) transposedConvolution(b kernels.Binding) error {
	a := b.Layer.Attrs.(graph.ConvTransposeAttrs)
	x, y, w := b.In[0].Dims, b.Out[0].Dims, b.In[1].Dims
	if len(x) != 3 && len(x) != 4 {
		return fmt.Errorf("%d spatial axes, the kernel takes 1 or 2", len(x)-2)
	}
	windows := a.Windows(w[2:], x[2:])
	if len(windows) == 1 {
		windows = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, windows[0]}
		x, y = []int{x[0], x[1], 1, x[2]}, []int{y[0], y[1], 1, y[2]}
	}
	p.transposed, p.groups = true, max(1, a.Group)
	p.n, p.h, p.w, p.p, p.q = x[0], x[2], x[3], y[2], y[3]
	p.c, p.k = x[1]/p.groups, y[1]/p.groups
	for i, d := range windows {
		if d.PadBegin < 0 {
			return fmt.Errorf("negative pads")
		}
		p.stride[i], p.dilation[i], p.pad[i] = d.Stride, d.Dilation, d.PadBegin
	}
	p.r, p.s = windows[0].Kernel, windows[1].Kernel
	if err := p.windowsFit(); err != nil {
		return err
	}
	p.rows(b.In[0], b.Out[0])
	return p.addBias(b, 1, p.k*p.groups)
}

func (d *transposed) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	w.Constants = d.packDirect()
	var err error
	out := d.joined()
	out.zeroX = 0 // it is taken off the input's elements
	if d.out, err = emit.NewRowOutput(b, out.sums(), w); err != nil {
		return nil, err
	}
	t, l := d.thread(w)
	t.begin()
	(&transposedThread{t}).sum()
	t.finish()
	w.End(t.K, l)
	return w, nil
}

// thread starts the kernel and finds what a thread computes: neighbouring threads neighbouring channels, then pixels.
func (d *transposed) thread(w *emit.Work) (*directThread, *emit.Launch) {
	vectors := emit.CeilDiv(d.widthOut, directChannels)
	total := d.n * d.p * d.q * vectors
	k, l := w.Threads("deconv", total)
	d.x.Base = l.Input(k, 0)
	weights := ptx.GlobalPtr{}
	if d.given {
		weights = l.Scratch(k, "w", 0)
	} else {
		weights = l.Constant(k, "w", 0)
	}
	d.out.Parameters(k, l)
	pixel, vector := k.DivRem(emit.ThreadIndex(k, total), vectors)
	line, column := k.DivRem(pixel, d.q)
	image, row := k.DivRem(line, d.p)
	t := &directThread{direct: d.direct, K: k, image: image, channel: k.Mul(vector, ptx.U(directChannels)), pixel: pixel}
	t.weights = k.Offset(weights, t.channel, 4)
	t.top, t.left = k.Add(row, ptx.U(d.pad[0])), k.Add(column, ptx.U(d.pad[1]))
	return t, l
}

// transposedThread is the code of one thread, whose top and left are the output's place on its padded plane.
type transposedThread struct{ *directThread }

// sum adds the products of the taps that meet the input.
func (t *transposedThread) sum() {
	tap := 4 * t.rowWeights() * t.c
	at := t.VarGlobal(t.weights)
	t.taps(0, t.top, func(r, y ptx.Uint, inRow ptx.Cond) {
		line := t.Mad(t.image, ptx.U(t.h), y)
		if t.planar { // rows of a plane; planes are further apart
			line = t.Mad(t.image, ptx.U(t.c*t.groups*t.h), y)
		}
		t.taps(1, t.left, func(s, x ptx.Uint, inColumn ptx.Cond) {
			p := tapPixel{inside: t.Both(inRow, inColumn), at: t.Mad(line, ptx.U(t.w), x)}
			if !t.planar {
				p.at = t.Mul(p.at, ptx.U(t.pitchIn))
			}
			t.SetGlobal(at, t.Offset(t.weights, t.Mad(r, ptx.U(t.s), s), tap))
			t.tap([]tapPixel{p}, at)
		})
	})
}

// taps calls body for the taps along an axis that may meet the input from the given place: the tap, the input's row or
// column under it, and whether it is there. Without dilation only every stride-th tap does.
func (t *transposedThread) taps(axis int, place ptx.Uint, body func(tap, under ptx.Uint, inside ptx.Cond)) {
	extent, count := t.h, t.r
	if axis == 1 {
		extent, count = t.w, t.s
	}
	stride, dilation := t.stride[axis], t.dilation[axis]
	first, step := ptx.U(0), 1
	if dilation == 1 {
		_, first = t.DivRem(place, stride)
		step = stride
	}
	t.For(first, ptx.U(count), ptx.U(step), func(tap ptx.Uint) {
		reach := t.Mul(tap, ptx.U(dilation))
		under, rest := t.DivRem(t.Sub(place, reach), stride)
		inside := t.Both(t.Le(reach, place), t.Lt(under, ptx.U(extent)))
		if dilation > 1 && stride > 1 {
			inside = t.Both(inside, t.Eq(rest, ptx.U(0)))
		}
		body(tap, under, inside)
	})
}

// jobs estimates the launch: the taps that meet the input are one of so many as the strides say.
func (d *transposed) jobs(b kernels.Binding) []emit.Job {
	threads := d.n * d.p * d.q * emit.CeilDiv(d.widthOut, directChannels)
	taps := emit.CeilDiv(d.r, d.stride[0]) * emit.CeilDiv(d.s, d.stride[1])
	return []emit.Job{emit.ThreadJob(threads, 70+taps*(24+d.c*(2*directChannels+8)), emit.Traffic(b)).Multiplying(taps * d.c * directChannels)}
}
