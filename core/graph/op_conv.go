package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// ConvAttrs are the attributes of a convolution over any number of spatial axes. Empty lists mean 1 for strides and
// dilations and 0 for pads.
type ConvAttrs struct {
	Strides   []int
	Dilations []int
	Pads      []int   // begin of each spatial axis, then end of each
	AutoPad   AutoPad // how Pads follow from the input's extent, where it is not AutoPadNone
	Group     int     // input channels are split into so many groups that do not see each other
}

// AutoPad is ONNX's rule for pads that follow from the extents: the output is ceil(input / stride) long, and the odd
// element of padding goes to the end (upper) or the begin (lower).
type AutoPad uint8

// The padding rules. VALID is AutoPadNone without pads.
const (
	AutoPadNone AutoPad = iota
	AutoPadSameUpper
	AutoPadSameLower
)

// Conv is the convolution (cross-correlation) of x [N,C,D1,...] with weights w [M,C/group,K1,...] and an optional bias
// [M], giving y [N,M,E1,...]:
//
//	y[n,m,e] = bias[m] + sum over c, k of x[n, g*C/group+c, e*stride + k*dilation - pad] * w[m,c,k],  g = m*group/M
//
// where x is zero outside its extent. With quantised x and w the sum is of (x-zx)*(w-zw) over integers, exactly, and
// the result (float32(sum) * scale) + bias with scale = sx*sw[m], each operation rounded to float32. Input 2, the bias, is F32.
var Conv = &Op{
	Name:  "Conv",
	Attrs: ConvAttrs{},
	Reals: AsIntegers,
	Onnx:  []string{"Conv"},
	Class: ClassConvolution, Inputs: []Role{Data, Weights, Bias}, Memory: Written,
	Moves: computed,
	FLOPs: convFLOPs,
	Product: &Product{
		Axes:   func(l *Layer) (out, in int) { return 0, 1 },
		Groups: func(l *Layer) int { return l.Attrs.(ConvAttrs).Group },
	},
	Infer:  inferConv,
	Eval:   evalConv,
	Export: func(e *Exporter) error { return e.Node("Conv", e.Layer.Attrs.(ConvAttrs).onnx()) },
	Import: func(n *Node) (any, []*Tensor, error) {
		w := n.Input(1)
		if w == nil {
			return nil, nil, fmt.Errorf("input 1 (weights) is missing")
		}
		a, err := importConv(n, w)
		return a, n.Inputs, err
	},
}

// onnx returns the attributes of ONNX's convolutions.
func (a ConvAttrs) onnx() Attributes {
	return exportPads(Attributes{"strides": a.Strides, "dilations": a.Dilations, "group": a.Group}, a.Pads, a.AutoPad)
}

// exportPads adds what importPads reads.
func exportPads(attrs Attributes, pads []int, auto AutoPad) Attributes {
	switch auto {
	case AutoPadSameUpper:
		attrs["auto_pad"] = "SAME_UPPER"
	case AutoPadSameLower:
		attrs["auto_pad"] = "SAME_LOWER"
	default:
		attrs["pads"] = pads
	}
	return attrs
}

// importConv reads the attributes of a convolution with weights w.
func importConv(n *Node, w *Tensor) (ConvAttrs, error) {
	if err := checkKernelShape(n, w); err != nil {
		return ConvAttrs{}, err
	}
	a := ConvAttrs{Strides: n.Ints("strides"), Dilations: n.Ints("dilations"), Group: n.Int("group", 1)}
	var err error
	a.Pads, a.AutoPad, err = importPads(n)
	return a, err
}

// checkKernelShape checks the attribute of that name against the weights' shape, from which the kernel is taken.
func checkKernelShape(n *Node, w *Tensor) error {
	k := n.Ints("kernel_shape")
	for i, v := range k {
		if i+2 >= len(w.Dims) || conflict(w.Dims[i+2], symbolic.Const(v)) {
			return fmt.Errorf("kernel_shape %v does not fit the weights' shape %s", k, symbolic.Format(w.Dims))
		}
	}
	return nil
}

// importPads reads pads and auto_pad, as convolutions and pooling have them.
func importPads(n *Node) ([]int, AutoPad, error) {
	pads := n.Ints("pads")
	switch mode := n.String("auto_pad", "NOTSET"); mode {
	case "NOTSET", "":
		return pads, AutoPadNone, nil
	case "VALID":
		return nil, AutoPadNone, nil
	case "SAME_UPPER":
		return nil, AutoPadSameUpper, nil
	case "SAME_LOWER":
		return nil, AutoPadSameLower, nil
	default:
		return nil, 0, fmt.Errorf("auto_pad %q is unknown", mode)
	}
}

// Window is the geometry of a convolution or pooling on one spatial axis.
type Window struct{ Kernel, Stride, Dilation, PadBegin, PadEnd int }

// Span returns the extent of input that the window covers.
func (w Window) Span() int { return (w.Kernel-1)*w.Dilation + 1 }

// Out returns the number of places of the window on an input of extent n, at least 0.
func (w Window) Out(n int) int {
	return max(0, (n+w.PadBegin+w.PadEnd-w.Span())/w.Stride+1)
}

// Windows returns the geometry on each spatial axis for a kernel and the spatial extents of an actual input.
func Windows(kernel, strides, dilations, pads []int, auto AutoPad, in []int) []Window {
	ws := make([]Window, len(kernel))
	for i, k := range kernel {
		w := Window{Kernel: k, Stride: at(strides, i, 1), Dilation: at(dilations, i, 1)}
		if auto == AutoPadNone {
			w.PadBegin, w.PadEnd = at(pads, i, 0), at(pads, i+len(kernel), 0)
		} else {
			out := (in[i] + w.Stride - 1) / w.Stride
			total := max(0, (out-1)*w.Stride+w.Span()-in[i])
			w.PadBegin, w.PadEnd = total/2, total-total/2
			if auto == AutoPadSameLower {
				w.PadBegin, w.PadEnd = w.PadEnd, w.PadBegin
			}
		}
		ws[i] = w
	}
	return ws
}

func at(list []int, i, def int) int {
	if i < len(list) {
		return list[i]
	}
	return def
}

// maxWindow bounds a window's extent, stride, dilation and padding, so that their products do not overflow.
const maxWindow = 1<<31 - 1

// checkList checks an attribute that is left out or has n numbers, none smaller than least.
func checkList(name string, list []int, n, least int) error {
	if len(list) != 0 && len(list) != n {
		return fmt.Errorf("%s %v has %d numbers, want %d", name, list, len(list), n)
	}
	if slices.ContainsFunc(list, func(v int) bool { return v < least || v > maxWindow }) {
		return fmt.Errorf("%s %v: want numbers from %d to %d", name, list, least, maxWindow)
	}
	return nil
}

// windowDims returns the spatial dims of the output for those of the input.
func windowDims(kernel, strides, dilations, pads []int, auto AutoPad, in []symbolic.Dim) ([]symbolic.Dim, error) {
	if err := cmp.Or(checkList("strides", strides, len(kernel), 1), checkList("dilations", dilations, len(kernel), 1), checkList("pads", pads, 2*len(kernel), 0)); err != nil {
		return nil, err
	}
	out := make([]symbolic.Dim, len(kernel))
	for i, k := range kernel {
		stride := at(strides, i, 1)
		if auto != AutoPadNone {
			out[i] = in[i].AddN(stride - 1).DivN(stride)
			continue
		}
		span := (k-1)*at(dilations, i, 1) + 1
		padded := in[i].AddN(at(pads, i, 0) + at(pads, i+len(kernel), 0) - span)
		if n, ok := padded.IsConst(); ok && n < 0 {
			return nil, fmt.Errorf("kernel of extent %d is larger than the padded input on spatial axis %d", span, i)
		}
		out[i] = padded.DivN(stride).AddN(1)
	}
	return out, nil
}

// needReal returns the op's input i, or an error if it is left out or holds something other than real numbers of a
// type that Eval computes with.
func (l *Layer) needReal(i int) (*Tensor, error) {
	t, err := l.need(i)
	if err == nil && !isReal(t) {
		return nil, fmt.Errorf("input %d is %s; only f32, f16, bf16 and quantised tensors are supported", i, t.TypeString())
	}
	return t, err
}

// needNumbers returns an error unless the given inputs, as far as they are there and the first one is, hold real numbers that Eval
// computes with: all of F64, or none.
func (l *Layer) needNumbers(inputs ...int) error {
	first, err := l.need(inputs[0])
	if err != nil {
		return err
	}
	for _, i := range inputs {
		if t := l.Input(i); first.Type != numeric.F64 && t != nil {
			if _, err := l.needReal(i); err != nil {
				return err
			}
		} else if t != nil && t.Type != numeric.F64 {
			return fmt.Errorf("input %d is %s; with %s it must be f64", i, t.TypeString(), first.TypeString())
		}
	}
	return nil
}

// kernelOf returns the inputs x and w of a convolution, plain or transposed, and the kernel's extents.
func (l *Layer) kernelOf() (x, w *Tensor, kernel []int, err error) {
	if err = l.needNumbers(0, 1, 2); err != nil {
		return nil, nil, nil, err
	}
	if w, err = l.need(1); err != nil {
		return nil, nil, nil, err
	}
	x = l.Inputs[0]
	if len(x.Dims) < 3 || len(w.Dims) != len(x.Dims) {
		return nil, nil, nil, fmt.Errorf("input %s and weights %s: want equal ranks of at least 3", x.TypeString(), w.TypeString())
	}
	kernel, err = kernelExtents(w)
	return x, w, kernel, err
}

func kernelExtents(w *Tensor) ([]int, error) {
	kernel := make([]int, len(w.Dims)-2)
	for i := range kernel {
		k, ok := w.Dims[i+2].IsConst()
		if !ok || k < 1 || k > maxWindow {
			return nil, fmt.Errorf("weights %s: the kernel's extents must be known and positive", w.TypeString())
		}
		kernel[i] = k
	}
	return kernel, nil
}

func inferConv(l *Layer) error {
	a := l.Attrs.(ConvAttrs)
	x, w, kernel, err := l.kernelOf()
	if err != nil {
		return err
	}
	dims, err := a.dims(x, w, l.Input(2), kernel)
	if err != nil {
		return err
	}
	l.Outputs[0].Type, l.Outputs[0].Dims = x.RealType(), dims
	return nil
}

// dims returns the output's dims for input x, weights w and bias b, which may be nil.
func (a ConvAttrs) dims(x, w, b *Tensor, kernel []int) ([]symbolic.Dim, error) {
	if a.Group < 1 {
		return nil, fmt.Errorf("group is %d, want at least 1", a.Group)
	}
	if conflict(x.Dims[1], w.Dims[1].MulN(a.Group)) {
		return nil, fmt.Errorf("input %s has %s channels, weights %s with group %d want %s", x.TypeString(), x.Dims[1], w.TypeString(), a.Group, w.Dims[1].MulN(a.Group))
	}
	if m, ok := w.Dims[0].IsConst(); ok && m%a.Group != 0 {
		return nil, fmt.Errorf("%d output channels cannot be split into %d groups", m, a.Group)
	}
	if b != nil && (len(b.Dims) != 1 || conflict(b.Dims[0], w.Dims[0])) {
		return nil, fmt.Errorf("bias %s does not fit %s output channels", b.TypeString(), w.Dims[0])
	}
	spatial, err := windowDims(kernel, a.Strides, a.Dilations, a.Pads, a.AutoPad, x.Dims[2:])
	if err != nil {
		return nil, err
	}
	return append([]symbolic.Dim{x.Dims[0], w.Dims[0]}, spatial...), nil
}

func evalConv(l *Layer, in, out []numeric.Value) error {
	x, w, y := in[0], in[1], out[0]
	if a := l.Attrs.(ConvAttrs); x.Dims[1] != w.Dims[1]*a.Group {
		return fmt.Errorf("input of shape %v does not fit weights of shape %v with group %d", x.Dims, w.Dims, a.Group)
	}
	d := newDot(l, x, w)
	l.Attrs.(ConvAttrs).convolve(d, x.Dims, w.Dims, y.Dims, func(at, m int) { d.store(y, at, m) })
	if len(in) > 2 && in[2].Data != nil {
		return addBias(y, in[2])
	}
	return nil
}

// convolve calls store with the place of each element of y and its channel when d holds its sum.
func (a ConvAttrs) convolve(d *dot, x, w, y []int, store func(at, m int)) {
	ws := Windows(w[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x[2:])
	perGroup := y[1] / a.Group
	cin, kernel := w[1], numeric.Count(w[2:])
	plane, outPlane := numeric.Count(x[2:]), numeric.Count(y[2:])
	taps := make([]int, kernel)       // offset of each tap in a plane of x, -1 where it is padding
	xs := make([]int, 0, cin*kernel)  // offsets of the group's elements under the window,
	wts := make([]int, 0, cin*kernel) // and of the weights that go with them
	for e := range outPlane {
		windowTaps(taps, ws, x[2:], y[2:], e)
		xs, wts = xs[:0], wts[:0]
		for c := range cin {
			for k, off := range taps {
				if off >= 0 {
					xs, wts = append(xs, c*plane+off), append(wts, c*kernel+k)
				}
			}
		}
		for n := range y[0] {
			for g := range a.Group {
				weights := weightsAt{begin: g * perGroup * cin * kernel, step: cin * kernel, first: g * perGroup, channels: perGroup}
				d.each((n*x[1]+g*cin)*plane, xs, weights, wts, func(m int) { store((n*y[1]+m)*outPlane+e, m) })
			}
		}
	}
}

// addBias adds to each element of y [N,M,...] the bias of its channel.
func addBias(y, bias numeric.Value) error {
	if bias.Len() != y.Dims[1] {
		return fmt.Errorf("bias of %d numbers does not fit an output of shape %v", bias.Len(), y.Dims)
	}
	plane := numeric.Count(y.Dims[2:])
	if y.Type == numeric.F64 {
		addChannels(numeric.View[float64](y.Data), bias.Float64s(), plane)
	} else {
		addChannels(y.F32(), bias.F32(), plane)
	}
	return nil
}

func addChannels[T float32 | float64](y, bias []T, plane int) {
	for i := range y {
		y[i] += bias[i/plane%len(bias)]
	}
}

// windowTaps fills in the offset in an input plane of each kernel tap for output place e, or -1 where that is outside.
func windowTaps(taps []int, ws []Window, in, out []int, e int) {
	place := unravel(e, out)
	tap := make([]int, len(ws))
	for k := range taps {
		off := 0
		for i, w := range ws {
			p := place[i]*w.Stride + tap[i]*w.Dilation - w.PadBegin
			if p < 0 || p >= in[i] {
				off = -1
				break
			}
			off = off*in[i] + p
		}
		taps[k] = off
		for i := len(tap) - 1; i >= 0; i-- {
			if tap[i]++; tap[i] < ws[i].Kernel {
				break
			}
			tap[i] = 0
		}
	}
}

// windowInside returns the offsets in an input plane of the taps for output place e that are not outside, in order.
func windowInside(ws []Window, in, out []int, e int) []int {
	offsets := []int{0}
	for i, p := range unravel(e, out) {
		w := ws[i]
		first := p*w.Stride - w.PadBegin
		var next []int
		for _, off := range offsets {
			// Taps below 0 are skipped at once, so that a window much larger than the input costs no time.
			k := 0
			if first < 0 {
				k = (-first + w.Dilation - 1) / w.Dilation
			}
			for ; k < w.Kernel && first+k*w.Dilation < in[i]; k++ {
				next = append(next, off*in[i]+first+k*w.Dilation)
			}
		}
		offsets = next
	}
	return offsets
}

// unravel returns the index on each axis of the i-th element of a shape.
func unravel(i int, dims []int) []int {
	place := make([]int, len(dims))
	for j := len(dims) - 1; j >= 0; j-- {
		place[j] = i % dims[j]
		i /= dims[j]
	}
	return place
}
