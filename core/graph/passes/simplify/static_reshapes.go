package simplify

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// StaticReshapes writes every change of shape as a Reshape to a constant shape, in which 0 stands for the input's
// extent and one -1 for what is left. What computed the shape is then dead.
//
//	s = Shape(x f32[batch,8,1,1])
//	b = Slice(s, 0, 1)                      y = Reshape(x, [0, -1])
//	t = Concat(b, [-1])             ->
//	y = Reshape(x, t)
//
//	y = Flatten(x), Squeeze(x), Unsqueeze(x)  ->  y = Reshape(x, [...])
var StaticReshapes = pass.Pass{
	Name:  "static-reshapes",
	Doc:   "changes of shape become Reshape to a constant shape",
	Rules: []string{"constant-shape", "canonical-reshape"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return staticReshape(r, l) }) },
}

func staticReshape(r *pass.Rewrite, l *graph.Layer) bool {
	rule := "canonical-reshape"
	switch {
	case l.Op.Memory != graph.Viewed || l.Op == graph.Identity:
		return false
	case l.Op == graph.Reshape:
		if l.Input(1).IsConst() {
			return false
		}
		rule = "constant-shape"
	}
	c := r.Candidate(rule, l)
	shape, ok := match.ReshapeTo(l.Inputs[0], l.Outputs[0].Dims)
	if !ok {
		return c.Miss(pass.WrongShape, "the shape %s has more than one unknown extent", symbolic.Format(l.Outputs[0].Dims))
	}
	if !c.Enabled() {
		return false
	}
	return c.Fire(r.Replace(l, r.Reshape(l.Inputs[0], l.Outputs[0].Name+"_shape", shape)))
}
