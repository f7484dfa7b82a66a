package pass

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// sinkReshape moves a Reshape behind an element-wise layer that reads nothing else but constants of one element, so that the
// layer comes next to the one that computes its input, and can be fused into it.
//
//	a = Sub(1, m f32[1,9])              a = Sub(1, m f32[1,9])
//	b = Reshape(a, [1, 1, 1, 9])    ->  b = Mul(a, -1e9)
//	y = Mul(b, -1e9)                    y = Reshape(b, [1, 1, 1, 9])
func (r *rewrite) sinkReshape(l *graph.Layer) bool {
	x, t := l.Inputs[0], l.Outputs[0]
	if len(t.Users) == 0 || !takesFollower(x.Producer) {
		return false
	}
	u := t.Users[0]
	e, ok := pointwiseOf(u)
	if !ok {
		return false
	}
	y := u.Outputs[0]
	c := r.candidate("reshape-behind", l, u)
	for _, other := range e.inputs {
		if _, ok := scalar(other); !ok && other != t {
			return c.miss(NotConstant, "%s is no constant of one element", other)
		}
	}
	if !c.sole(x, l) || !c.sole(t, u) {
		return false
	}
	if !symbolic.Equal(t.Dims, y.Dims) || t.Type != y.Type {
		return c.miss(WrongShape, "%s becomes %s", t, y)
	}
	if !c.enabled() {
		return false
	}
	for i, other := range u.Inputs {
		switch v, _ := scalar(other); {
		case other == t:
			u.SetInput(i, x)
		case len(other.Dims) > len(x.Dims):
			u.SetInput(i, r.newConst(other.Name+"_scalar", other.Type, []float64{v}))
		}
	}
	u.SetOutput(0, r.net.NewTensor(y.Name+"_before", y.Type, x.Dims))
	l.SetInput(0, u.Outputs[0])
	l.SetOutput(0, y)
	return c.fire(u, l)
}

// takesFollower reports whether an element-wise layer may become part of l.
func takesFollower(l *graph.Layer) bool {
	if l == nil {
		return false
	}
	_, ok := pointwiseOf(l)
	return ok || isAnchor(l) || isConversion(l)
}

// isConversion reports whether l makes real numbers of integers.
func isConversion(l *graph.Layer) bool {
	return l != nil && l.Op == graph.Cast && isFloat(l.Outputs[0]) && !isFloat(l.Inputs[0]) && !l.Inputs[0].IsConst() && !l.Inputs[0].Quantized()
}
