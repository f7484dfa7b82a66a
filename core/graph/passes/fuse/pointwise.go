package fuse

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Pointwise joins element-wise layers that no anchor took into one layer for each maximal connected region with a
// single output.
//
//	a = Sigmoid(x)
//	b = Mul(x, a)        ->   y = Pointwise(x, z) add(mul($0, sigmoid($0)), $1)
//	y = Add(b, z)
//
// A layer whose result broadcasts into the next is left alone, since it would be computed again for each element.
var Pointwise = pass.Pass{
	Name:  "fuse-pointwise",
	Doc:   "join element-wise layers into one",
	Rules: []string{"fuse-pointwise"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			e, integers, ok := elements(l)
			if !ok {
				return false
			}
			for at, t := range e.Inputs {
				if p := t.Producer; p != nil {
					if inner, of, ok := elements(p); ok && of == integers && fusePointwise(r, p, l, inner, e, at) {
						return true
					}
				}
			}
			return false
		})
		lone(r, "fuse-pointwise")
	},
}

// elements returns the program of an element-wise layer, which is over integers or over real numbers. Integers that extents are made of
// are no work of the engine's, and stay as they are.
func elements(l *graph.Layer) (e match.Pointwise, integers, ok bool) {
	if e, ok = match.PointwiseOf(l); ok {
		return e, false, true
	}
	e, ok = match.IntegersOf(l)
	return e, true, ok && l.Outputs[0].Value == nil
}

// keepsType reports whether the value of a layer that is joined into another has the type there that it was stored in.
func keepsType(inner match.Pointwise, t *graph.Tensor, joined match.Pointwise, y *graph.Tensor) bool {
	if match.IsFloat(y) && match.IsFloat(t) {
		return t.Type == y.Type
	}
	var args []numeric.DataType
	for _, x := range joined.Inputs {
		args = append(args, x.Type)
	}
	types, err := joined.Program.Types(args)
	return err == nil && types[joined.Program.Result()] == y.Type && types[joined.Program.Args+len(inner.Program.Code)-1] == t.Type
}

// fusePointwise joins the element-wise layer p into l, whose input at it computes.
func fusePointwise(r *pass.Rewrite, p, l *graph.Layer, inner, outer match.Pointwise, at int) bool {
	t, y := p.Outputs[0], l.Outputs[0]
	c := r.Candidate("fuse-pointwise", p, l)
	if !c.Sole(t, l) {
		return false
	}
	if !symbolic.Equal(t.Dims, y.Dims) {
		return c.Miss(pass.WrongShape, "%s would be computed again for each element of %s", t, y)
	}
	joined := match.Distinct(inner.Program.Then(outer.Program, at), slices.Concat(inner.Inputs, outer.Others(at)))
	if !keepsType(inner, t, joined, y) {
		return c.Miss(pass.WrongType, "%s is %s, %s is %s", t.Name, t.Type, y.Name, y.Type)
	}
	if len(joined.Inputs) > match.MaxProgramArgs {
		return c.Miss(pass.TooLarge, "the region would read %d tensors", len(joined.Inputs))
	}
	if n := len(joined.Program.Code); n > match.MaxProgramCode {
		return c.Miss(pass.TooLarge, "the region would have %d operations", n)
	}
	by := &graph.Layer{Op: graph.Pointwise, Attrs: graph.Elementwise{Program: joined.Program}, Inputs: joined.Inputs, Outputs: []*graph.Tensor{y}}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	by = r.Replace(l, by)
	r.Network().Remove(p)
	return c.Fire(by)
}
