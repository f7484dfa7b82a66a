package fuse

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// linear is a convolution or matrix product with constant weights, seen as what its output channels have in common:
// y[m] = w[m] . x + bias[m].
type linear struct {
	l    *graph.Layer
	w    []float64       // as stored
	dims []int           // of w
	out  func(i int) int // the output channel of an element of w
	in   func(i int) int // its input channel
	n    int             // output channels; they are axis 1 of the output
	bias []float64       // of each channel, Gemm's beta included; zeros if there is none
}

// asLinear returns l as linear, or records why a candidate cannot scale and shift its channels.
func asLinear(c *pass.Candidate, l *graph.Layer) (linear, bool) {
	x := linear{l: l}
	if l.Op.Input(graph.Bias) < 0 {
		return x, c.Miss(pass.WrongAttribute, "%s takes no bias", l.Op.Name)
	}
	if l.Epilogue.Args > 0 {
		return x, c.Miss(pass.EpilogueTaken, "%s already ends in %s", l.Name, l.Epilogue)
	}
	var ok bool
	if x.w, ok = match.Reals(l.Inputs[1]); !ok {
		return x, c.Miss(pass.NotConstant, "weights %s are not a floating-point constant", l.Inputs[1].Name)
	}
	x.dims, _ = match.ConstDims(l.Inputs[1].Dims)
	x.channels()
	x.bias = make([]float64, x.n)
	b := l.Input(2)
	if b == nil {
		return x, true
	}
	list, ok := match.PerChannel(b, 2, 1, x.n)
	if !ok {
		return x, c.Miss(pass.NotConstant, "bias %s is not a constant with one value per channel", b)
	}
	beta := 1.0
	if g, ok := l.Attrs.(graph.GemmAttrs); ok {
		beta = float64(g.Beta)
	}
	for m, v := range list {
		x.bias[m] = v * beta
	}
	return x, true
}

// channels sets the number of output channels and how the weights belong to channels. In weights of groups the first axis
// goes through all of them, and says the group of an element.
func (x *linear) channels() {
	p := x.l.Op.Product
	axes := [2]int{}
	axes[0], axes[1] = p.Axes(x.l)
	groups := p.Groups(x.l)
	channel := func(axis int) func(i int) int {
		each := numeric.Count(x.dims[axis+1:])
		if axis == 0 {
			return func(i int) int { return i / each }
		}
		perGroup, first := x.dims[0]/groups, numeric.Count(x.dims[1:])
		return func(i int) int { return i/each%x.dims[axis] + i/first/perGroup*x.dims[axis] }
	}
	x.out, x.in = channel(axes[0]), channel(axes[1])
	x.n = x.dims[axes[0]]
	if axes[0] > 0 {
		x.n *= groups
	}
}

// scaleOutputs makes x stand for scale[m]*y[m] + shift[m].
func (x *linear) scaleOutputs(scale, shift []float64) {
	for i := range x.w {
		x.w[i] *= scale[x.out(i)]
	}
	for m := range x.bias {
		x.bias[m] = x.bias[m]*scale[m] + shift[m]
	}
}

// scaleInputs makes x stand for what it computes of scale[c]*x[c] + shift[c], over its input channels c.
func (x *linear) scaleInputs(scale, shift []float64) {
	alpha := 1.0
	if g, ok := x.l.Attrs.(graph.GemmAttrs); ok {
		alpha = float64(g.Alpha)
	}
	for i := range x.w {
		c := x.in(i)
		x.bias[x.out(i)] += alpha * x.w[i] * shift[c]
		x.w[i] *= scale[c]
	}
}

// fits reports whether the layer's type holds the weights and the bias, or records a miss.
func fits(c *pass.Candidate, x linear) bool {
	limit := math.MaxFloat32
	if x.l.Inputs[1].Type == numeric.F16 {
		limit = 65504
	}
	outside := func(v float64) bool { return math.IsNaN(v) || math.Abs(v) > limit }
	if slices.ContainsFunc(x.w, outside) || slices.ContainsFunc(x.bias, outside) {
		return c.Miss(pass.WrongType, "new weights are too large for %s", x.l.Inputs[1].Type)
	}
	return true
}

// store gives the layer x's weights, if they differ, and bias.
func (x linear) store(r *pass.Rewrite, differ bool) {
	w := x.l.Inputs[1]
	if differ {
		x.l.SetInput(1, r.NewConst(w.Name+"_folded", w.Type, x.w, x.dims...))
	}
	if g, ok := x.l.Attrs.(graph.GemmAttrs); ok {
		g.Beta = 1
		x.l.Attrs = g
	}
	name := x.l.Outputs[0].Name + "_bias"
	if b := x.l.Input(2); b != nil {
		name = b.Name + "_folded"
	} else if match.AllZero(x.bias) {
		return
	}
	x.setBias(r.NewConst(name, w.Type, x.bias, x.n))
}

// setBias gives the layer, which has no epilogue, another bias.
func (x linear) setBias(t *graph.Tensor) {
	if len(x.l.Inputs) > 2 {
		x.l.SetInput(2, t)
	} else {
		x.l.AddInput(t)
	}
}
