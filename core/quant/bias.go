package quant

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// BiasCorrection says what the biases of products in 8 bits take back of what rounding does to the means of their outputs.
type BiasCorrection string

// The ways to correct biases.
const (
	CorrectOff   BiasCorrection = "off"
	CorrectFast  BiasCorrection = "fast"  // what rounding does to weights, by the means of activations
	CorrectExact BiasCorrection = "exact" // and to activations, by running what is quantised layer by layer
)

// BiasCorrections are the ways to correct biases, each better than the one before it and slower.
func BiasCorrections() []BiasCorrection {
	return []BiasCorrection{CorrectOff, CorrectFast, CorrectExact}
}

// Product is a layer with constant weights as bias correction sees it: a convolution or matrix product, in a float network
// and in the one in which [Place] has quantised it.
//
// Rounding of weights and activations does not leave the mean of an output channel as it was: y = w x becomes y' = w' x', and
// its expected value moves by E[y'] - E[y] = w' E[x'] - w E[x]. That is the same for every input, so that the bias takes it
// back (M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", 2019, section 4.2).
type Product struct {
	layer    *graph.Layer
	real     []float32   // weights before they were quantised
	stored   []float32   // the real numbers that the quantised ones stand for
	dims     []int       // of the weights
	coverage [][]float64 // by spatial axis and tap: the share of output places at which the tap lies inside the input
}

// NewProduct returns the product that l is in a network where Place has worked; before is the layer of the same name before
// that, and env the values of symbols. The error says why its bias cannot be corrected.
func NewProduct(l, before *graph.Layer, env map[string]int) (*Product, error) {
	if kindOf(l) != weighted || len(l.Inputs) < 2 || l.Inputs[0] == nil || l.Inputs[1] == nil {
		return nil, errors.New("it multiplies by no constant weights")
	}
	q := l.Inputs[1].Producer
	if !isDequantized(l.Inputs[1]) || q.Inputs[0].Producer != nil {
		return nil, errors.New("its weights stay in floating point")
	}
	if before == nil || before.Op != l.Op || !before.Inputs[1].IsConst() {
		return nil, errors.New("its weights before quantisation are not known")
	}
	w, _ := before.Inputs[1].Const()
	stored, ok := q.Inputs[0].Const()
	if !ok || !w.Type.IsFloat() {
		return nil, errors.New("its weights are not constant")
	}
	p := &Product{layer: l, real: w.Floats(), dims: w.Dims}
	p.stored = numeric.ToReal(stored, q.Attrs.(graph.QuantAttrs).Range).Floats()
	if len(p.stored) != len(p.real) {
		return nil, errors.New("its weights before quantisation are others")
	}
	if l.Op.Class == graph.ClassMatrix {
		if len(w.Dims) != 2 {
			return nil, fmt.Errorf("its weights have %d axes, not 2", len(w.Dims))
		}
		return p, nil
	}
	x := symbolic.Eval(l.Inputs[0].Dims, env)
	if len(x) != len(w.Dims) || len(x) < 3 {
		return nil, errors.New("its weights and its input differ in rank")
	}
	switch a := l.Attrs.(type) {
	case graph.ConvAttrs:
		p.cover(graph.Windows(w.Dims[2:], a.Strides, a.Dilations, a.Pads, a.AutoPad, x[2:]), x[2:])
	case graph.ConvTransposeAttrs:
		p.coverTransposed(a.Windows(w.Dims[2:], x[2:]), x[2:], symbolic.Eval(l.Outputs[0].Dims, env)[2:])
	default:
		return nil, fmt.Errorf("%s is none of Conv, ConvTranspose, Gemm and MatMul", l.Op.Name)
	}
	return p, nil
}

// In returns the product as the layer of the same name in a copy of the network.
func (p *Product) In(n *graph.Network) *Product {
	in := *p
	in.layer = n.Layer(p.layer.Name)
	return &in
}

// Stored returns the product with other integers for weights.
func (p *Product) Stored(q numeric.Value) *Product {
	with := *p
	with.stored = numeric.ToReal(q, p.layer.Inputs[1].Producer.Attrs.(graph.QuantAttrs).Range).Floats()
	return &with
}

// Layer returns the layer in the quantised network.
func (p *Product) Layer() *graph.Layer { return p.layer }

// Channels returns the number of output channels.
func (p *Product) Channels() int { return channelsOf(p.layer, p.dims).outputs }

// cover sets the coverage of a convolution's taps.
func (p *Product) cover(ws []graph.Window, in []int) {
	for i, w := range ws {
		share, out := make([]float64, w.Kernel), w.Out(in[i])
		for k := range share {
			n := 0
			for o := range out {
				if at := o*w.Stride + k*w.Dilation - w.PadBegin; at >= 0 && at < in[i] {
					n++
				}
			}
			share[k] = float64(n) / float64(max(1, out))
		}
		p.coverage = append(p.coverage, share)
	}
}

// coverTransposed sets the coverage of a transposed convolution's taps: each reaches so many places of the output.
func (p *Product) coverTransposed(ws []graph.Window, in, out []int) {
	for i, w := range ws {
		share := make([]float64, w.Kernel)
		for k := range share {
			n := 0
			for at := range in[i] {
				if o := at*w.Stride + k*w.Dilation - w.PadBegin; o >= 0 && o < out[i] {
					n++
				}
			}
			share[k] = float64(n) / float64(max(1, out[i]))
		}
		p.coverage = append(p.coverage, share)
	}
}

// Shift returns what the bias of each output channel lacks: the mean of the float layer's output less that of the quantised
// one, given the means of the channels that the former reads and of those that the latter reads. The mean over the places of
// a channel stands for each place, so that what padding leaves out is taken into account but not where in an image things are.
func (p *Product) Shift(real, quantised []float64) ([]float64, error) {
	at := channelsOf(p.layer, p.dims)
	if len(real) != at.inputs || len(quantised) != at.inputs {
		return nil, fmt.Errorf("it reads %d channels, and there are means of %d and %d", at.inputs, len(real), len(quantised))
	}
	shift := make([]float64, at.outputs)
	taps := p.taps()
	if rows, columns, ok := at.matrix(len(p.real)); ok && len(taps) == 1 {
		at.shiftMatrix(shift, p.real, p.stored, real, quantised, rows, columns)
		scaleShift(shift, p.layer)
		return shift, nil
	}
	for i := range p.real {
		o, c := at.of(i)
		shift[o] += (float64(p.real[i])*real[c] - float64(p.stored[i])*quantised[c]) * taps[i%len(taps)]
	}
	scaleShift(shift, p.layer)
	return shift, nil
}

// scaleShift multiplies a shift by what the layer multiplies its product by.
func scaleShift(shift []float64, l *graph.Layer) {
	if a, ok := l.Attrs.(graph.GemmAttrs); ok {
		for o := range shift {
			shift[o] *= float64(a.Alpha)
		}
	}
}

// matrix reports whether the weights, so many, are one matrix, and returns its rows and columns as they lie.
func (w *weightChannels) matrix(elements int) (rows, columns int, ok bool) {
	across := 0 // the axis whose channels are neighbours
	if w.strides[1] == 1 {
		across = 1
	}
	rows, columns = w.extents[1-across], w.extents[across]
	return rows, columns, w.groups == 1 && w.strides[across] == 1 && w.strides[1-across] == columns && rows*columns == elements
}

// shiftMatrix is Shift where no element has taps, or channels, to look up: the weights of a large transformer are gone through in
// the order in which they lie.
func (w *weightChannels) shiftMatrix(shift []float64, real, stored []float32, of, by []float64, rows, columns int) {
	for r := range rows {
		a, b := real[r*columns:][:columns], stored[r*columns:][:columns]
		if w.strides[1] == 1 { // a row is what an output reads
			sum, of, by := 0.0, of[:columns], by[:columns]
			for c, x := range a {
				sum += float64(x)*of[c] - float64(b[c])*by[c]
			}
			shift[r] = sum
			continue
		}
		y, u, v := shift[:columns], of[r], by[r]
		for o, x := range a {
			y[o] += float64(x)*u - float64(b[o])*v
		}
	}
}

// taps returns the coverage of each element of the kernel, in order; 1 for a product of matrices.
func (p *Product) taps() []float64 {
	list := []float64{1}
	for _, axis := range p.coverage {
		var next []float64
		for _, a := range list {
			for _, b := range axis {
				next = append(next, a*b)
			}
		}
		list = next
	}
	return list
}

// weightChannels tells which channels an element of a product's weights joins.
type weightChannels struct {
	outputs, inputs int // how many there are, of all groups
	axes, extents   [2]int
	strides         [2]int
	groups          int
}

func channelsOf(l *graph.Layer, dims []int) (w weightChannels) {
	w.axes[0], w.axes[1] = l.Op.Product.Axes(l)
	w.groups = max(1, l.Op.Product.Groups(l))
	strides := stridesOf(dims)
	for i, axis := range w.axes {
		w.extents[i], w.strides[i] = dims[axis], strides[axis]
	}
	w.outputs, w.inputs = w.extents[0], w.extents[1]
	if w.axes[0] == 0 {
		w.inputs *= w.groups
	} else {
		w.outputs *= w.groups
	}
	return w
}

// of returns the output and the input channel of element i.
func (w *weightChannels) of(i int) (o, c int) {
	o, c = i/w.strides[0]%w.extents[0], i/w.strides[1]%w.extents[1]
	if w.axes[0] == 0 {
		c += o / max(1, w.outputs/w.groups) * w.extents[1]
	} else {
		o += c / max(1, w.extents[1]/w.groups) * w.extents[0]
	}
	return o, c
}

func stridesOf(dims []int) []int {
	strides := make([]int, len(dims))
	for i := range dims {
		strides[i] = numeric.Count(dims[i+1:])
	}
	return strides
}

// AddBias makes l give shift[c] more in each output channel, before its epilogue.
func (p *Product) AddBias(n *graph.Network, shift []float64) {
	l := p.layer
	if p.intoBias(n, shift) {
		return
	}
	x := make([]float32, len(shift))
	for c, v := range shift {
		x[c] = float32(v)
	}
	if l.Op.Input(graph.Bias) >= 0 && l.Input(2) == nil {
		setBias(l, n.AddConst(l.Outputs[0].Name+"_bias", numeric.Values(numeric.F32, x, len(x))))
		return
	}
	dims := []int{len(x)}
	if l.Op.Class == graph.ClassConvolution {
		for range len(l.Outputs[0].Dims) - 2 {
			dims = append(dims, 1)
		}
	}
	prepend(l, n.AddConst(l.Outputs[0].Name+"_bias", numeric.Values(numeric.F32, x, dims...)))
}

// intoBias adds the shift to a bias that is a constant with one value for each channel; it reports false for others.
func (p *Product) intoBias(n *graph.Network, shift []float64) bool {
	l := p.layer
	at, beta := l.Op.Input(graph.Bias), 1.0
	if at >= 0 && at >= len(l.OpInputs()) {
		return false
	}
	if at < 0 { // the first thing that the epilogue does may be to add one
		if at = addedFirst(l); at < 0 {
			return false
		}
	}
	if g, ok := l.Attrs.(graph.GemmAttrs); ok {
		beta = float64(g.Beta)
	}
	b := l.Inputs[at]
	if b == nil || beta == 0 {
		return false
	}
	v, ok := b.Const()
	if !ok || v.Len() != len(shift) || v.Type != numeric.F32 || !alongChannels(l, v.Dims) {
		return false
	}
	old := v.Floats()
	x := make([]float32, len(shift))
	for c := range x {
		x[c] = float32(float64(old[c]) + shift[c]/beta)
	}
	l.SetInput(at, n.AddConst(b.Name+"_corrected", numeric.Values(numeric.F32, x, v.Dims...)))
	return true
}

// alongChannels reports whether a constant of these extents, of which one at most is not 1, has it along the output channels.
func alongChannels(l *graph.Layer, dims []int) bool {
	if l.Op.Class == graph.ClassConvolution {
		if l.Op.Input(graph.Bias) >= 0 {
			return len(dims) == 1
		}
		return false
	}
	return len(dims) > 0 && dims[len(dims)-1] == numeric.Count(dims)
}

// addedFirst returns the input that the epilogue adds to the product before anything else; -1 if it does not begin so.
func addedFirst(l *graph.Layer) int {
	if len(l.Epilogue.Code) == 0 || l.Epilogue.Code[0].Op != elementwise.Add {
		return -1
	}
	a := l.Epilogue.Code[0].Arg
	arg := max(a[0], a[1])
	if min(a[0], a[1]) != 0 || arg == 0 || arg >= l.Epilogue.Args {
		return -1
	}
	for _, in := range l.Epilogue.Code[1:] { // the product itself, or the argument, counts once more
		for _, k := range in.Arg[:in.Op.Info().Arity] {
			if k == 0 || k == arg {
				return -1
			}
		}
	}
	return len(l.OpInputs()) + arg - 1
}

// setBias gives the layer, which has none, a bias.
func setBias(l *graph.Layer, t *graph.Tensor) {
	if len(l.OpInputs()) > 2 {
		l.SetInput(2, t)
		return
	}
	rest := slices.Clone(l.Inputs[2:])
	l.TruncateInputs(2)
	l.AddInput(t)
	for _, in := range rest {
		l.AddInput(in)
	}
}

// prepend makes the epilogue of l begin with the addition of t.
func prepend(l *graph.Layer, t *graph.Tensor) {
	rest, inputs := l.Epilogue, slices.Clone(l.EpilogueInputs())
	l.TruncateInputs(len(l.OpInputs()))
	l.Epilogue = elementwise.Program{}
	l.Fuse(elementwise.Binary(elementwise.Add), 0, t)
	if rest.Args > 0 {
		l.Fuse(rest, 0, inputs...)
	}
}
