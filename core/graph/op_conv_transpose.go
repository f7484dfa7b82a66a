package graph

import (
	"cmp"
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ConvTransposeAttrs are the attributes of a transposed convolution. Empty lists mean 1 for strides and dilations and 0
// for pads and output padding.
type ConvTransposeAttrs struct {
	Strides       []int
	Dilations     []int
	Pads          []int   // begin of each spatial axis, then end of each: what is cut off the output
	OutputPadding []int   // added to the end of each axis of the output
	OutputShape   []int   // the output's spatial extents, from which Pads follow; nil if Pads are given
	AutoPad       AutoPad // other than AutoPadNone, the output's extents are the input's times the strides
	Group         int
}

// ConvTranspose is the gradient of a convolution (deconvolution) for x [N,C,D1,...] with weights w [C,M/group,K1,...] and an
// optional bias [M], giving y [N,M,E1,...] with E = (D-1)*stride + (K-1)*dilation + 1 + output padding - pads:
//
//	y[n,m,e] = bias[m] + sum of x[n,c,d] * w[c,m%(M/group),k] over c in m's group and d, k with d*stride + k*dilation - pad = e
//
// Quantised x and w multiply as integers as in [Conv]; w may have a scale for each index of its axis 1.
var ConvTranspose = &Op{
	Name:  "ConvTranspose",
	Attrs: ConvTransposeAttrs{},
	Reals: AsIntegers,
	Onnx:  []string{"ConvTranspose"},
	Class: ClassConvolution, Inputs: []Role{Data, Weights, Bias}, Memory: Written,
	Moves: computed,
	FLOPs: transposedFLOPs,
	Product: &Product{
		Axes:   func(l *Layer) (out, in int) { return 1, 0 },
		Groups: func(l *Layer) int { return l.Attrs.(ConvTransposeAttrs).Group },
	},
	Infer: inferConvTranspose,
	Eval:  evalConvTranspose,
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(ConvTransposeAttrs)
		attrs := Attributes{"strides": a.Strides, "dilations": a.Dilations, "group": a.Group, "output_padding": a.OutputPadding, "output_shape": a.OutputShape}
		return e.Node("ConvTranspose", exportPads(attrs, a.Pads, a.AutoPad))
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		w := n.Input(1)
		if w == nil {
			return nil, nil, fmt.Errorf("input 1 (weights) is missing")
		}
		if err := checkKernelShape(n, w); err != nil {
			return nil, nil, err
		}
		a := ConvTransposeAttrs{
			Strides: n.Ints("strides"), Dilations: n.Ints("dilations"), Group: n.Int("group", 1),
			OutputPadding: n.Ints("output_padding"), OutputShape: n.Ints("output_shape"),
		}
		var err error
		a.Pads, a.AutoPad, err = importPads(n)
		return a, n.Inputs, err
	},
}

// Windows returns the geometry on each spatial axis for a kernel and the spatial extents of an actual input. The pads
// are what is cut off the output.
func (a ConvTransposeAttrs) Windows(kernel, in []int) []Window {
	ws := make([]Window, len(kernel))
	for i, k := range kernel {
		w := Window{Kernel: k, Stride: at(a.Strides, i, 1), Dilation: at(a.Dilations, i, 1), PadBegin: at(a.Pads, i, 0), PadEnd: at(a.Pads, i+len(kernel), 0)}
		if out, fixed := a.extent(i, symbolic.Const(in[i])); fixed {
			want, _ := out.IsConst()
			total := max(0, (in[i]-1)*w.Stride+w.Span()+at(a.OutputPadding, i, 0)-want)
			w.PadBegin = total - total/2
			if a.AutoPad == AutoPadSameUpper {
				w.PadBegin = total / 2
			}
			w.PadEnd = total - w.PadBegin
		}
		ws[i] = w
	}
	return ws
}

// extent returns the output's extent on a spatial axis where it does not follow from the pads.
func (a ConvTransposeAttrs) extent(axis int, in symbolic.Dim) (out symbolic.Dim, fixed bool) {
	if len(a.OutputShape) > 0 {
		return symbolic.Const(at(a.OutputShape, axis, 0)), true
	}
	return in.MulN(at(a.Strides, axis, 1)), a.AutoPad != AutoPadNone
}

func inferConvTranspose(l *Layer) error {
	a := l.Attrs.(ConvTransposeAttrs)
	x, w, kernel, err := l.kernelOf()
	if err != nil {
		return err
	}
	if a.Group < 1 {
		return fmt.Errorf("group is %d, want at least 1", a.Group)
	}
	if conflict(x.Dims[1], w.Dims[0]) {
		return fmt.Errorf("input %s has %s channels, weights %s want %s", x.TypeString(), x.Dims[1], w.TypeString(), w.Dims[0])
	}
	if c, ok := w.Dims[0].IsConst(); ok && c%a.Group != 0 {
		return fmt.Errorf("%d input channels cannot be split into %d groups", c, a.Group)
	}
	channels := w.Dims[1].MulN(a.Group)
	if b := l.Input(2); b != nil && (len(b.Dims) != 1 || conflict(b.Dims[0], channels)) {
		return fmt.Errorf("bias %s does not fit %s output channels", b.TypeString(), channels)
	}
	if _, err := windowDims(kernel, a.Strides, a.Dilations, a.Pads, AutoPadSameUpper, x.Dims[2:]); err != nil {
		return err
	}
	if err := cmp.Or(checkList("output_padding", a.OutputPadding, len(kernel), 0), checkList("output_shape", a.OutputShape, len(kernel), 0)); err != nil {
		return err
	}
	dims := []symbolic.Dim{x.Dims[0], channels}
	for i, k := range kernel {
		out, fixed := a.extent(i, x.Dims[i+2])
		if !fixed {
			span := (k-1)*at(a.Dilations, i, 1) + 1
			cut := at(a.Pads, i, 0) + at(a.Pads, i+len(kernel), 0)
			out = x.Dims[i+2].AddN(-1).MulN(at(a.Strides, i, 1)).AddN(span + at(a.OutputPadding, i, 0) - cut)
		}
		dims = append(dims, out)
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), dims
	return nil
}

func evalConvTranspose(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(ConvTransposeAttrs)
	x, w, y := in[0], in[1], out[0]
	if x.Dims[1] != w.Dims[0] {
		return fmt.Errorf("input of shape %v does not fit weights of shape %v", x.Dims, w.Dims)
	}
	ws := a.Windows(w.Dims[2:], x.Dims[2:])
	cin, perGroup, kernel := x.Dims[1]/a.Group, w.Dims[1], numeric.Count(w.Dims[2:])
	plane, outPlane := numeric.Count(x.Dims[2:]), numeric.Count(y.Dims[2:])
	d := newDot(l, x, w)
	taps := make([]int, kernel)       // the place in a plane of x that each tap meets, -1 where it meets none
	xs := make([]int, 0, cin*kernel)  // offsets of a group's elements that meet a tap,
	wts := make([]int, 0, cin*kernel) // and of the weights that go with them
	for e := range outPlane {
		transposedTaps(taps, ws, x.Dims[2:], y.Dims[2:], e)
		xs, wts = xs[:0], wts[:0]
		for c := range cin {
			for k, off := range taps {
				if off >= 0 {
					xs, wts = append(xs, c*plane+off), append(wts, c*perGroup*kernel+k)
				}
			}
		}
		for n := range y.Dims[0] {
			for g := range a.Group {
				weights := weightsAt{begin: g * cin * perGroup * kernel, step: kernel, channels: perGroup}
				d.each((n*x.Dims[1]+g*cin)*plane, xs, weights, wts, func(m int) {
					d.store(y, (n*y.Dims[1]+g*perGroup+m)*outPlane+e, m)
				})
			}
		}
	}
	if len(in) > 2 && in[2].Data != nil {
		return addBias(y, in[2])
	}
	return nil
}

// transposedTaps fills in the offset in an input plane of what each kernel tap adds to output place e, or -1.
func transposedTaps(taps []int, ws []Window, in, out []int, e int) {
	place := unravel(e, out)
	kernel := make([]int, len(ws))
	for i, w := range ws {
		kernel[i] = w.Kernel
	}
	for k := range taps {
		off := 0
		for i, tap := range unravel(k, kernel) {
			p := place[i] + ws[i].PadBegin - tap*ws[i].Dilation
			if p < 0 || p%ws[i].Stride != 0 || p/ws[i].Stride >= in[i] {
				off = -1
				break
			}
			off = off*in[i] + p/ws[i].Stride
		}
		taps[k] = off
	}
}
