package products

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// product is what convolutions and matrix products with constant weights are to the tile kernels: a matrix of output
// pixels times output channels, each the sum over taps and input channels. A matrix product is a convolution of 1x1
// pixels.
type product struct {
	typ      numeric.DataType // of the input's elements and the weights'
	n, h, w  int              // input images, rows, columns
	p, q     int              // output rows, columns
	c, k     int              // channels of one group: input, output
	groups   int
	r, s     int // taps: rows, columns
	stride   [2]int
	dilation [2]int
	pad      [2]int // top, left
	widthIn  int    // elements of a pixel, padding included
	widthOut int
	pitchIn  int // elements from one pixel to the next: more than the width in a slice of channels
	pitchOut int

	alpha float32
	bias  []float32 // by output channel of all groups; nil for none
	given bool      // weights and bias are inputs: a kernel before the product's packs them
	scale []float32 // of integer sums, by output channel; nil for reals
	zeroX int32     // of quantised inputs
	zeroW int32     // of the weights
	zeros []int32   // of the weights by output channel, where they differ; else nil

	weight numeric.Value // [k*groups, c, r, s], or [c, k] if columns is set
	column bool
	// transposed weights are [c*groups, k, r, s].
	transposed bool
	subpixel   *subpixel // of transposed convolutions on tiles: its phases; else nil
}

// pixels returns the rows of the product's result.
func (p *product) pixels() int { return p.n * p.p * p.q }

// vector is how many elements 16 bytes hold.
func (p *product) vector() int { return 16 / p.typ.Size() }

// depthC returns the channels of one tap as they lie in a row of packed weights: padded to 16 bytes.
func (p *product) depthC() int { return emit.RoundUp(p.c, p.vector()) }

// depth returns the length of a row of packed weights in elements, a multiple of 128 bytes.
func (p *product) depth() int { return emit.RoundUp(p.r*p.s*p.depthC(), 128/p.typ.Size()) }

// productOf returns the product that a layer is.
func productOf(b kernels.Binding) (*product, error) {
	return productBy(b, func(p *product) error {
		switch b.Layer.Op {
		case graph.Conv:
			return p.convolution(b)
		case graph.ConvTranspose:
			return p.transposedConvolution(b)
		}
		return p.matrices(b)
	})
}

// productBy returns the product that a layer is, with a geometry that is filled in by a function.
func productBy(b kernels.Binding, geometry func(*product) error) (*product, error) {
	if len(b.In) < 2 || b.Consts[1] == nil || b.Consts[0] != nil {
		return nil, fmt.Errorf("it takes an activation and constant weights")
	}
	p := &product{typ: b.In[0].Type, groups: 1, alpha: 1, stride: [2]int{1, 1}, dilation: [2]int{1, 1}}
	p.weight, _ = b.Const(1)
	if err := geometry(p); err != nil {
		return nil, err
	}
	if err := p.quantisation(b); err != nil {
		return nil, err
	}
	if p.pixels() == 0 || p.c == 0 || p.k == 0 {
		return nil, fmt.Errorf("a tensor is empty")
	}
	return p, nil
}

// convolution fills in the geometry of a Conv in one or two spatial axes.
func (p *product) convolution(b kernels.Binding) error {
	a := b.Layer.Attrs.(graph.ConvAttrs)
	x, y, w := b.In[0].Dims, b.Out[0].Dims, b.In[1].Dims
	if len(x) != 3 && len(x) != 4 {
		return fmt.Errorf("%d spatial axes, the kernel takes 1 or 2", len(x)-2)
	}
	win := graph.Windows(w[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x[2:])
	if len(win) == 1 {
		win = []graph.Window{{Kernel: 1, Stride: 1, Dilation: 1}, win[0]}
		x, y = []int{x[0], x[1], 1, x[2]}, []int{y[0], y[1], 1, y[2]}
	}
	if err := p.plane(max(1, a.Group), win, x, y); err != nil {
		return err
	}
	p.rows(b.In[0], b.Out[0])
	return p.addBias(b, 1, p.k*p.groups)
}

// plane fills in the geometry of windows over images: x and y are [images, channels, rows, columns].
func (p *product) plane(groups int, win []graph.Window, x, y []int) error {
	p.groups = groups
	p.n, p.h, p.w = x[0], x[2], x[3]
	p.p, p.q = y[2], y[3]
	p.c, p.k = x[1]/p.groups, y[1]/p.groups
	for i, d := range win {
		if d.PadBegin < 0 || d.PadEnd < 0 {
			return fmt.Errorf("negative pads")
		}
		p.stride[i], p.dilation[i], p.pad[i] = d.Stride, d.Dilation, d.PadBegin
	}
	p.r, p.s = win[0].Kernel, win[1].Kernel
	return p.windowsFit()
}

// matrices fills in the geometry of a Gemm or MatMul with a constant right side.
func (p *product) matrices(b kernels.Binding) error {
	x, w := b.In[0], b.In[1].Dims
	p.column, p.r, p.s, p.h, p.w, p.p, p.q = true, 1, 1, 1, 1, 1, 1
	if len(w) != 2 || len(x.Dims) < 2 {
		return fmt.Errorf("%v times %v: the kernel takes a constant matrix", x.Dims, w)
	}
	beta := float32(1)
	if a, ok := b.Layer.Attrs.(graph.GemmAttrs); ok {
		if a.TransA {
			return fmt.Errorf("the left side is transposed")
		}
		p.column, p.alpha, beta = !a.TransB, a.Alpha, a.Beta
	}
	if p.c, p.k = w[0], w[1]; !p.column {
		p.c, p.k = p.k, p.c
	}
	last := x.Dims[len(x.Dims)-1]
	if last != p.c {
		return fmt.Errorf("%v times %v", x.Dims, w)
	}
	p.n = numeric.Count(x.Dims) / max(1, last)
	if x.Format == kernels.NHWC && len(x.Dims) > 2 {
		return fmt.Errorf("columns are not channels in %v", x)
	}
	p.rows(x, b.Out[0])
	return p.addBias(b, beta, p.k)
}

// rows sets how the pixels, or rows of matrices, of input and output lie.
func (p *product) rows(x, y kernels.Desc) {
	in, out := emit.LayoutOf(x), emit.LayoutOf(y)
	p.widthIn, p.pitchIn, p.widthOut, p.pitchOut = in.Width, in.Pitch, out.Width, out.Pitch
}

// addBias reads input 2, a constant row.
func (p *product) addBias(b kernels.Binding, beta float32, channels int) error {
	if len(b.Layer.OpInputs()) < 3 || b.Layer.Inputs[2] == nil || p.given {
		return nil
	}
	v, ok := b.Const(2)
	if n := v.Len(); !ok || n != channels && n != 1 || n > 1 && v.Dims[len(v.Dims)-1] != channels {
		return fmt.Errorf("the bias is not a constant row of %d", channels)
	}
	real := numeric.ToReal(v, b.Layer.Inputs[2].Range).Floats()
	p.bias = make([]float32, channels)
	for i := range p.bias {
		p.bias[i] = beta * real[i%len(real)]
	}
	return nil
}

// quantisation reads the ranges of integer inputs and weights.
func (p *product) quantisation(b kernels.Binding) error {
	x, w := b.Layer.Inputs[0], b.Layer.Inputs[1]
	if !x.Type.IsInteger() {
		if w.Type != x.Type && !w.Type.IsFloat() {
			return fmt.Errorf("input of %s with weights of %s", x.Type, w.Type)
		}
		return nil
	}
	if x.Type.Size() != 1 || w.Type.Size() != 1 || !x.Quantized() || !w.Quantized() {
		return fmt.Errorf("input of %s with weights of %s: not quantised bytes", x.Type, w.Type)
	}
	if most := emit.MaxElements / (largestByte(x.Type) * largestByte(w.Type)); p.r*p.s*p.c > most {
		return fmt.Errorf("a sum of %d products of bytes may leave 32 bits", p.r*p.s*p.c)
	}
	axis := 0
	if p.column || p.transposed {
		axis = 1
	}
	if w.Range.PerChannel() && w.Range.Axis != axis {
		return fmt.Errorf("scales of %s are along axis %d, not %d", w.Name, w.Range.Axis, axis)
	}
	channels := p.k * p.groups
	p.scale = make([]float32, channels)
	p.zeroX, p.zeroW = x.Range.ZeroAt(0), w.Range.ZeroAt(0)
	zeros := make([]int32, channels)
	for i := range p.scale {
		at := i
		if p.transposed {
			at = i % p.k
		}
		p.scale[i] = x.Range.ScaleAt(0) * w.Range.ScaleAt(at)
		if zeros[i] = w.Range.ZeroAt(at); zeros[i] != p.zeroW {
			p.zeros = zeros
		}
	}
	return nil
}

// largestByte is the largest magnitude of a byte of the type.
func largestByte(t numeric.DataType) int {
	if t == numeric.U8 {
		return 255
	}
	return 128
}

// sums returns what the product's sums stand for.
func (p *product) sums() emit.Sums {
	s := emit.Sums{Channels: p.k, Groups: p.groups, Width: p.widthOut, Pitch: p.pitchOut, Alpha: p.alpha, Bias: p.bias, Scale: p.scale}
	if p.zeroX != 0 {
		s.Zeros = p.zeroSums
	}
	return s
}

// steps returns into how many pieces of bk bytes the kernels cut the sum.
func (p *product) steps(bk int) int { return emit.CeilDiv(p.r*p.s*p.depthC()*p.typ.Size(), bk) }

// source returns where a weight lies in the layer's constant.
func (p *product) source(channel, c, tap int) int {
	if p.column {
		return c*p.k + channel
	}
	if p.transposed {
		return ((channel/p.k*p.c+c)*p.k+channel%p.k)*p.r*p.s + tap
	}
	return (channel*p.c+c)*p.r*p.s + tap
}

// weightsHaveZeros reports whether a zero point of the weights is not 0.
func (p *product) weightsHaveZeros() bool { return p.zeroW != 0 || p.zeros != nil }

// zeroOf is the zero point of an output channel's weights, 0 behind the last channel.
func (p *product) zeroOf(channel int) int32 {
	switch {
	case p.zeros == nil:
		return p.zeroW
	case channel < len(p.zeros):
		return p.zeros[channel]
	}
	return 0
}

// zeroSums returns, by output channel, what an input's zero point adds to the sums of integers: zeroX times the sum of the
// weights less their own zero point; zeros behind the last, up to the row's length. Of phases there is a row each.
func (p *product) zeroSums(row int) []int32 {
	if p.subpixel != nil {
		return p.subpixel.zeroSums(p, row)
	}
	sums := make([]int32, row)
	weights := p.weight.Ints()
	for o := range p.k * p.groups {
		for t := range p.r * p.s {
			for c := range p.c {
				sums[o] += int32(weights[p.source(o, c, t)]) - p.zeroOf(o)
			}
		}
		sums[o] *= p.zeroX
	}
	return sums
}
