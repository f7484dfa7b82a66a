package fuse

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// FoldScale moves constants per channel that a layer's result is multiplied by, divided by or added to into its
// weights and bias, computed in float64:
//
//	t = Conv(x, w, c)       y = Conv(x, w*a, c*a + b)
//	u = Mul(t, a)       ->
//	y = Add(u, b)
var FoldScale = pass.Pass{
	Name:  "fold-scale",
	Doc:   "fold scales and biases into weights",
	Rules: []string{"scale-into-weights"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			e, ok := match.PointwiseOf(l)
			if !ok || len(e.Inputs) < 2 {
				return false
			}
			for at, t := range e.Inputs {
				others := e.Others(at)
				constant := !slices.ContainsFunc(others, func(t *graph.Tensor) bool { return !t.IsConst() })
				if constant && match.IsAnchor(t.Producer) {
					return foldScale(r, t.Producer, l, e, at)
				}
			}
			return false
		})
	},
}

func foldScale(r *pass.Rewrite, p, l *graph.Layer, e match.Pointwise, at int) bool {
	c := r.Candidate("scale-into-weights", p, l)
	y := l.Outputs[0]
	if !c.Sole(p.Outputs[0], l) {
		return false
	}
	if !symbolic.Equal(y.Dims, p.Outputs[0].Dims) {
		return c.Miss(pass.WrongShape, "%s broadcasts %s", l.Name, p.Outputs[0])
	}
	x, ok := asLinear(c, p)
	if !ok {
		return false
	}
	consts := make([][]float64, len(e.Inputs))
	for i, t := range e.Inputs {
		if i == at {
			continue
		}
		if consts[i], ok = match.PerChannel(t, len(y.Dims), 1, x.n); !ok {
			return c.Miss(pass.WrongShape, "%s is not one value per channel", t)
		}
	}
	scale, shift, ok := match.ChannelAffine(e.Program, at, x.n, consts)
	if !ok {
		return c.Miss(pass.WrongAttribute, "%s is not linear", e.Program)
	}
	x.scaleOutputs(scale, shift)
	if !fits(c, x) || !c.Enabled() {
		return false
	}
	x.store(r, slices.ContainsFunc(scale, func(s float64) bool { return s != 1 }))
	p.SetOutput(0, y)
	r.Network().Remove(l)
	return c.Fire(p)
}
