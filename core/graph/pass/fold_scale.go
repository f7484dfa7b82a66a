package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// foldScale moves constants per channel that a layer's result is multiplied by, divided by or added to into its
// weights and bias, computed in float64:
//
//	t = Conv(x, w, c)       y = Conv(x, w*a, c*a + b)
//	u = Mul(t, a)       ->
//	y = Add(u, b)
var foldScale = Pass{
	Name:  "fold-scale",
	Doc:   "fold scales and biases into weights",
	Rules: []string{"scale-into-weights"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			e, ok := pointwiseOf(l)
			if !ok || len(e.inputs) < 2 {
				return false
			}
			for at, t := range e.inputs {
				others := e.others(at)
				constant := !slices.ContainsFunc(others, func(t *graph.Tensor) bool { return !t.IsConst() })
				if constant && isAnchor(t.Producer) {
					return r.foldScale(t.Producer, l, e, at)
				}
			}
			return false
		})
	},
}

func (r *rewrite) foldScale(p, l *graph.Layer, e pointwise, at int) bool {
	c := r.candidate("scale-into-weights", p, l)
	y := l.Outputs[0]
	if !c.sole(p.Outputs[0], l) {
		return false
	}
	if !symbolic.Equal(y.Dims, p.Outputs[0].Dims) {
		return c.miss(WrongShape, "%s broadcasts %s", l.Name, p.Outputs[0])
	}
	x, ok := c.linear(p)
	if !ok {
		return false
	}
	consts := make([][]float64, len(e.inputs))
	for i, t := range e.inputs {
		if i == at {
			continue
		}
		if consts[i], ok = perChannel(t, len(y.Dims), 1, x.n); !ok {
			return c.miss(WrongShape, "%s is not one value per channel", t)
		}
	}
	scale, shift, ok := channelAffine(e.program, at, x.n, consts)
	if !ok {
		return c.miss(WrongAttribute, "%s is not linear", e.program)
	}
	x.scaleOutputs(scale, shift)
	if !c.fits(x) || !c.enabled() {
		return false
	}
	x.store(r, slices.ContainsFunc(scale, func(s float64) bool { return s != 1 }))
	p.SetOutput(0, y)
	r.net.Remove(l)
	return c.fire(p)
}
