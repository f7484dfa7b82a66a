package simplify

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// sinkReshape moves a Reshape behind an element-wise layer that reads nothing else but constants of one element, so that the
// layer comes next to the one that computes its input, and can be fused into it.
//
//	a = Sub(1, m f32[1,9])              a = Sub(1, m f32[1,9])
//	b = Reshape(a, [1, 1, 1, 9])    ->  b = Mul(a, -1e9)
//	y = Mul(b, -1e9)                    y = Reshape(b, [1, 1, 1, 9])
func sinkReshape(r *pass.Rewrite, l *graph.Layer) bool {
	x, t := l.Inputs[0], l.Outputs[0]
	if len(t.Users) == 0 || !takesFollower(x.Producer) {
		return false
	}
	u := t.Users[0]
	e, ok := match.PointwiseOf(u)
	if !ok {
		return false
	}
	y := u.Outputs[0]
	c := r.Candidate("reshape-behind", l, u)
	for _, other := range e.Inputs {
		if _, ok := match.Scalar(other); !ok && other != t {
			return c.Miss(pass.NotConstant, "%s is no constant of one element", other)
		}
	}
	if !c.Sole(x, l) || !c.Sole(t, u) {
		return false
	}
	if !symbolic.Equal(t.Dims, y.Dims) || t.Type != y.Type {
		return c.Miss(pass.WrongShape, "%s becomes %s", t, y)
	}
	if !c.Enabled() {
		return false
	}
	for i, other := range u.Inputs {
		switch v, _ := match.Scalar(other); {
		case other == t:
			u.SetInput(i, x)
		case len(other.Dims) > len(x.Dims):
			u.SetInput(i, r.NewConst(other.Name+"_scalar", other.Type, []float64{v}))
		}
	}
	u.SetOutput(0, r.Network().NewTensor(y.Name+"_before", y.Type, x.Dims))
	l.SetInput(0, u.Outputs[0])
	l.SetOutput(0, y)
	return c.Fire(u, l)
}

// takesFollower reports whether an element-wise layer may become part of l.
func takesFollower(l *graph.Layer) bool {
	if l == nil {
		return false
	}
	_, ok := match.PointwiseOf(l)
	return ok || match.IsAnchor(l) || match.IsConversion(l)
}
