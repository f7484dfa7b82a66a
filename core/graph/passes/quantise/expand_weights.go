package quantise

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
)

// ExpandWeights makes real weights of those of few bits where the target has no kernel that reads them as they are.
//
//	y = MatMulNBits(x, w, scales, zeros, bias)   ->   t = MatMul(x, w_real)
//	                                                  y = t + bias
var ExpandWeights = pass.Pass{
	Name:  "expand-weights",
	Doc:   "make real numbers of weights of few bits that the target does not read",
	Rules: []string{"real-weights"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return expandWeights(r, l) }) },
}

func expandWeights(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.MatMulNBits || r.Target(l) == nil {
		return false
	}
	c := r.Candidate("real-weights", l)
	var values [graph.NBitsBias]numeric.Value
	for i := 1; i < graph.NBitsBias; i++ {
		if t := l.Input(i); t != nil {
			v, ok := t.Const()
			if !ok {
				return c.Miss(pass.NotConstant, "%s is computed", t.Name)
			}
			values[i] = v
		}
	}
	if !c.Enabled() {
		return false
	}
	w := graph.NewNBitsWeights(l.Attrs.(graph.NBitsAttrs), values[1], values[graph.NBitsScales], values[graph.NBitsZeros])
	x, y := l.Inputs[0], l.Outputs[0]
	product := &graph.Layer{Name: l.Name, Op: graph.MatMul, Inputs: []*graph.Tensor{x, r.Network().AddConst(l.Name+"_real", w.Real(x.Type))}}
	bias := l.Input(graph.NBitsBias)
	if bias == nil {
		return c.Fire(r.Replace(l, product))
	}
	sum := r.Network().NewTensor(y.Name+"_product", y.Type, y.Dims)
	product.Outputs, product.From = []*graph.Tensor{sum}, l.From
	by := r.Replace(l, &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, Inputs: []*graph.Tensor{sum, bias}})
	return c.Fire(r.Network().Insert(product), by)
}
