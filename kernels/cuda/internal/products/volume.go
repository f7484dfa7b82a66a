package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// volumeTactics are the convolutions in three spatial axes.
func volumeTactics() []emit.Tactic {
	var list []emit.Tactic
	for _, f := range []kernels.Format{kernels.NHWC, kernels.Linear} {
		for _, columns := range []int{1, 4} {
			list = append(list, emit.Tactic{
				Name: fmt.Sprintf("conv_volume_%s_%dx%d", f, columns, directChannels), Op: graph.Conv, Variant: shape("conv_volume_"+f.String(), columns, directChannels), In: f, Out: kernels.NHWC,
				Strided: f == kernels.NHWC,
				Match: func(b kernels.Binding) error {
					if _, err := volumeOf(b, columns); err != nil {
						return err
					}
					return emit.CheckArguments(b, b.Layer.Epilogue, len(b.Layer.OpInputs()))
				},
				Emit: func(b kernels.Binding) (*emit.Work, error) {
					v, err := volumeOf(b, columns)
					if err != nil {
						return nil, err
					}
					return v.emit(b)
				},
				Cost: func(b kernels.Binding) []emit.Job {
					v, err := volumeOf(b, columns)
					if err != nil {
						return nil
					}
					return v.jobs(b)
				},
			})
		}
	}
	return list
}

// volume is a direct convolution of volumes: its images are the planes of the output, n times front.out of them, and its rows
// of taps those of all planes of the kernel, one plane behind the other.
type volume struct {
	*direct
	front frontAxis
}

// frontAxis is the outermost of three spatial axes: extents of input and output, and the window.
type frontAxis struct {
	in, out int
	graph.Window
}

func volumeOf(b kernels.Binding, columns int) (*volume, error) {
	v := &volume{}
	p, err := productBy(b, func(p *product) (err error) {
		v.front, err = p.volumeConvolution(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	v.direct, err = directBy(p, b, columns)
	if err == nil {
		v.planes = v.front.in
	}
	return v, err
}

// volumeConvolution fills in the geometry of a Conv in three spatial axes, and returns the first of them.
func (p *product) volumeConvolution(b kernels.Binding) (front frontAxis, err error) {
	a, ok := b.Layer.Attrs.(graph.ConvAttrs)
	x, y, w := b.In[0].Dims, b.Out[0].Dims, b.In[1].Dims
	if !ok || len(x) != 5 {
		return front, fmt.Errorf("%d spatial axes, the kernel takes 3", len(x)-2)
	}
	windows := graph.Windows(w[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x[2:])
	front = frontAxis{in: x[2], out: y[2], Window: windows[0]}
	if front.PadBegin < 0 || front.PadEnd < 0 {
		return front, fmt.Errorf("negative pads")
	}
	// The front axis must fit as the others: it stands in for rows.
	outer := &product{p: y[2], q: 1, r: front.Kernel, s: 1, stride: [2]int{front.Stride, 1}, dilation: [2]int{front.Dilation, 1}, pad: [2]int{front.PadBegin}}
	if err := outer.windowsFit(); err != nil {
		return front, err
	}
	if err := p.plane(max(1, a.Group), windows[1:], []int{x[0] * y[2], x[1], x[3], x[4]}, []int{y[0] * y[2], y[1], y[3], y[4]}); err != nil {
		return front, err
	}
	p.r *= front.Kernel
	p.rows(b.In[0], b.Out[0])
	return front, p.addBias(b, 1, p.k*p.groups)
}

func (v *volume) emit(b kernels.Binding) (*emit.Work, error) {
	w := emit.NewWork()
	w.Constants = v.packDirect()
	var err error
	if v.out, err = emit.NewRowOutput(b, v.joined().sums(), w); err != nil {
		return nil, err
	}
	t, l := v.thread(w)
	t.begin()
	v.sum(t)
	t.finish()
	w.End(t.K, l)
	return w, nil
}

// sum adds the products of all taps: plane by plane of the input as an image's.
func (v *volume) sum(t *directThread) {
	at := t.VarGlobal(t.weights)
	image, place := t.DivRem(t.image, v.front.out)
	first := t.Sub(t.Mul(place, ptx.U(v.front.Stride)), ptx.U(v.front.PadBegin))
	planes := v.front.in
	if v.planar { // of all channels
		planes *= v.c * v.groups
	}
	t.For(ptx.U(0), ptx.U(v.front.Kernel*v.front.Dilation), ptx.U(v.front.Dilation), func(tap ptx.Uint) {
		z := t.Add(first, tap)
		inside := t.Lt(z, ptx.U(v.front.in))
		t.sumPlane(planeTaps{plane: t.Mad(image, ptx.U(planes), z), rows: v.h, taps: v.r / v.front.Kernel, inside: &inside}, at)
	})
}
