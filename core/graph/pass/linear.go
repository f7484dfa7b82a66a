package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// linear is a convolution or matrix product with constant weights, seen as what its output channels have in common
// with y[m] = w[m] . x + bias[m].
type linear struct {
	l       *graph.Layer
	w       []float64       // as stored
	bias    []float64       // nil if there is none
	axis    int             // of the output: the channels
	n       int             // channels
	channel func(i int) int // the output channel of an element of the weights
}

// isAnchor reports whether l is a layer that other layers are fused into: a convolution or matrix product.
func isAnchor(l *graph.Layer) bool {
	if l == nil || len(l.Outputs) != 1 || !isFloat(l.Outputs[0]) {
		return false
	}
	switch l.Op.Name {
	case "Conv", "ConvTranspose", "Gemm", "MatMul":
		return true
	}
	return false
}

// linear returns l as linear, or records why a candidate cannot scale and shift its channels.
func (c *candidate) linear(l *graph.Layer) (linear, bool) {
	x := linear{l: l, axis: 1}
	if l.Op != graph.Conv && l.Op != graph.Gemm {
		return x, c.miss(WrongAttribute, "%s takes no bias", l.Op.Name)
	}
	if l.Epilogue.Args > 0 {
		return x, c.miss(EpilogueTaken, "%s already ends in %s", l.Name, l.Epilogue)
	}
	var ok bool
	if x.w, ok = reals(l.Inputs[1]); !ok {
		return x, c.miss(NotConstant, "weights %s are no constant of a floating type", l.Inputs[1].Name)
	}
	dims, _ := constDims(l.Inputs[1].Dims)
	x.n = dims[0]
	inner := len(x.w) / max(1, x.n)
	x.channel = func(i int) int { return i / inner }
	if g, ok := l.Attrs.(graph.GemmAttrs); ok && !g.TransB {
		x.n = dims[1]
		x.channel = func(i int) int { return i % x.n }
	}
	if b := l.Input(2); b != nil {
		if x.bias, ok = perChannel(b, len(l.Outputs[0].Dims), x.axis, x.n); !ok && l.Op == graph.Gemm {
			return x, c.miss(NotConstant, "%s is no constant per column", b.Name)
		} else if !ok {
			if x.bias, ok = reals(b); !ok || len(x.bias) != x.n {
				return x, c.miss(NotConstant, "bias %s is no constant", b.Name)
			}
		}
	}
	return x, true
}

// apply makes the layer compute scale[m]*y[m] + shift[m], in float64 until the weights are stored again.
func (x linear) apply(r *rewrite, scale, shift []float64) {
	w := x.l.Inputs[1]
	beta := 1.0
	if g, ok := x.l.Attrs.(graph.GemmAttrs); ok {
		beta, g.Beta = float64(g.Beta), 1
		x.l.Attrs = g
	}
	if slices.ContainsFunc(scale, func(s float64) bool { return s != 1 }) {
		for i := range x.w {
			x.w[i] *= scale[x.channel(i)]
		}
		dims, _ := constDims(w.Dims)
		x.l.SetInput(1, r.newConst(w.Name+"_folded", w.Type, x.w, dims...))
	}
	bias := make([]float64, x.n)
	for m := range bias {
		bias[m] = shift[m]
		if x.bias != nil {
			bias[m] += beta * x.bias[m] * scale[m]
		}
	}
	x.setBias(r, bias)
}

// setBias gives the layer, which has no epilogue, another bias.
func (x linear) setBias(r *rewrite, bias []float64) {
	name := x.l.Outputs[0].Name + "_bias"
	if b := x.l.Input(2); b != nil {
		name = b.Name + "_folded"
	} else if allZero(bias) {
		return
	}
	t := r.newConst(name, x.l.Inputs[1].Type, bias, x.n)
	if len(x.l.Inputs) > 2 {
		x.l.SetInput(2, t)
	} else {
		x.l.AddInput(t)
	}
}
