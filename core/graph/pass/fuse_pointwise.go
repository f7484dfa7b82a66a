package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// fusePointwise joins element-wise layers that no anchor took into one layer for each maximal connected region with a
// single output.
//
//	a = Sigmoid(x)
//	b = Mul(x, a)        ->   y = Pointwise(x, z) add(mul($0, sigmoid($0)), $1)
//	y = Add(b, z)
//
// A layer whose result broadcasts into the next is left alone, since it would be computed again for each element.
var fusePointwise = Pass{
	Name:  "fuse-pointwise",
	Doc:   "join element-wise layers into one",
	Rules: []string{"fuse-pointwise"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			e, ok := pointwiseOf(l)
			if !ok {
				return false
			}
			for at, t := range e.inputs {
				if p := t.Producer; p != nil {
					if inner, ok := pointwiseOf(p); ok && r.fusePointwise(p, l, inner, e, at) {
						return true
					}
				}
			}
			return false
		})
		r.lone("fuse-pointwise")
	},
}

// fusePointwise joins the element-wise layer p into l, whose input at it computes.
func (r *rewrite) fusePointwise(p, l *graph.Layer, inner, outer pointwise, at int) bool {
	t, y := p.Outputs[0], l.Outputs[0]
	c := r.candidate("fuse-pointwise", p, l)
	if !c.sole(t, l) {
		return false
	}
	if !symbolic.Equal(t.Dims, y.Dims) {
		return c.miss(WrongShape, "%s would be computed again for each element of %s", t, y)
	}
	if t.Type != y.Type {
		return c.miss(WrongType, "%s is %s, %s is %s", t.Name, t.Type, y.Name, y.Type)
	}
	joined := distinct(inner.program.Then(outer.program, at), slices.Concat(inner.inputs, outer.others(at)))
	if len(joined.inputs) > maxProgramArgs {
		return c.miss(TooLarge, "the region would read %d tensors", len(joined.inputs))
	}
	if n := len(joined.program.Code); n > maxProgramCode {
		return c.miss(TooLarge, "the region would have %d operations", n)
	}
	by := &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: joined.program}, Inputs: joined.inputs, Outputs: []*graph.Tensor{y}}
	if !c.supported(by) || !c.enabled() {
		return false
	}
	by = r.replace(l, by)
	r.net.Remove(p)
	return c.fire(by)
}
