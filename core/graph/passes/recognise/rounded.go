package recognise

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Rounded finds activations that are quantised to 16 bits and back. No kernel computes on integers of 16 bits, so that what they lose
// is a function of each element, which a product's epilogue takes:
//
//	q = QuantizeLinear(x) i16 0.01
//	y = DequantizeLinear(q)        ->   y = Pointwise(x) mul(clamp(round(div($0, 0.01))), 0.01)
var Rounded = pass.Pass{
	Name:  "recognise-rounded",
	Doc:   "make one element-wise layer of a quantisation to 16 bits and back",
	Rules: []string{"rounded-16"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool { return l.Op == graph.Dequantize && rounded(r, l) })
	},
}

// rounded replaces the Dequantize l and the Quantize before it.
func rounded(r *pass.Rewrite, l *graph.Layer) bool {
	q, y := l.Inputs[0].Producer, l.Outputs[0]
	if q == nil || q.Op != graph.Quantize || q.Outputs[0].Type != numeric.I16 && q.Outputs[0].Type != numeric.U16 {
		return false
	}
	x, to, from := q.Inputs[0], q.Attrs.(graph.QuantAttrs), l.Attrs.(graph.QuantAttrs)
	c := r.Candidate("rounded-16", q, l)
	if !c.Contained(l) {
		return false
	}
	scale, zero := to.Range.ScaleAt(0), to.Range.ZeroAt(0)
	switch {
	case len(q.Inputs) > 1 || len(l.Inputs) > 1 || len(to.Range.Scale) != 1 || len(from.Range.Scale) != 1 || !(scale > 0):
		return c.Miss(pass.WrongShape, "its scale is not one constant for the whole tensor")
	case from.Range.ScaleAt(0) != scale || from.Range.ZeroAt(0) != zero:
		return c.Miss(pass.NotQuantized, "%s is dequantised by another scale", l.Inputs[0].Name)
	case x.Type != numeric.F32 || y.Type != numeric.F32 || !symbolic.Equal(x.Dims, y.Dims):
		return c.Miss(pass.WrongType, "%s becomes %s", x, y)
	}
	made := &graph.Layer{Name: l.Name, Op: graph.Pointwise, Attrs: graph.Elementwise{Program: match.Rounding(to.Range, q.Outputs[0].Type)},
		Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{y}, From: c.Members}
	return c.Supported(made) && c.Enabled() && c.Substitute(l, made)
}
