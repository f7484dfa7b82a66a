package simplify

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
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
//
// A shape of which a constant cannot say enough has its extents from inputs of the network, where it has them from what is computed
// in between, which would have to stay for that:
//
//	s = Shape(x f32[batch,length,4,16])     b = Shape(ids i64[batch,length]) start=0 end=1
//	b = Slice(s, 0, 1)                      n = Shape(ids) start=1 end=2
//	n = Slice(s, 1, 2)                ->    t = Concat(b, [4], n, [16])
//	t = Concat(b, [4], n, [16])             y = Reshape(x, t)
//	y = Reshape(x, t)
var StaticReshapes = pass.Pass{
	Name:  "static-reshapes",
	Doc:   "changes of shape become Reshape to a constant shape",
	Rules: []string{"constant-shape", "canonical-reshape", "shape-of-inputs"},
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
	shape, ok := match.ReshapeTo(l.Inputs[0], l.Outputs[0].Dims)
	if !ok && l.Op == graph.Reshape && followsLayers(l.Inputs[1]) && shapeOfInputs(r, l) {
		return true
	}
	c := r.Candidate(rule, l)
	if !ok {
		return c.Miss(pass.WrongShape, "the shape %s has more than one unknown extent", symbolic.Format(l.Outputs[0].Dims))
	}
	if !c.Enabled() {
		return false
	}
	return c.Fire(r.Replace(l, r.Reshape(l.Inputs[0], l.Outputs[0].Name+"_shape", shape)))
}

// followsLayers reports whether a shape is computed from that of what a layer computes.
func followsLayers(shape *graph.Tensor) bool {
	seen := map[*graph.Layer]bool{}
	var follows func(t *graph.Tensor) bool
	follows = func(t *graph.Tensor) bool {
		l := t.Producer
		if l == nil || seen[l] {
			return false
		}
		seen[l] = true
		if l.Op == graph.ShapeOf {
			return l.Inputs[0].Producer != nil
		}
		return slices.ContainsFunc(l.OpInputs(), func(x *graph.Tensor) bool { return x != nil && follows(x) })
	}
	return follows(shape)
}

// shapeOfInputs gives a Reshape a shape whose extents are those of inputs of the network.
func shapeOfInputs(r *pass.Rewrite, l *graph.Layer) bool {
	n, x, y := r.Network(), l.Inputs[0], l.Outputs[0]
	list := match.Measured(n, y.Dims, true)
	if list == nil {
		return false
	}
	c := r.Candidate("shape-of-inputs", l)
	if !c.Enabled() {
		return false
	}
	name := y.Name + "_shape"
	shape := &graph.Layer{Name: l.Name + "_shape", Op: graph.Concat, Attrs: graph.ConcatAttrs{}}
	var added []*graph.Layer
	for i, e := range list {
		part := fmt.Sprintf("_%d", i)
		if e.Of == nil {
			shape.Inputs = append(shape.Inputs, n.AddConst(name+part, e.Value()))
			continue
		}
		extent := &graph.Layer{Name: l.Name + "_shape" + part, Op: graph.ShapeOf, Attrs: graph.ShapeAttrs{Start: e.Axis, End: e.Axis + 1}, Inputs: []*graph.Tensor{e.Of}}
		t := n.NewTensor(name+part, numeric.I64, symbolic.Shape(1))
		extent.Outputs, shape.Inputs, extent.From = []*graph.Tensor{t}, append(shape.Inputs, t), c.Members
		added = append(added, n.Insert(extent))
	}
	shape.Outputs, shape.From = []*graph.Tensor{n.NewTensor(name, numeric.I64, symbolic.Shape(len(y.Dims)))}, c.Members
	added = append(added, n.Insert(shape))
	for _, l := range added {
		if err := l.Infer(); err != nil {
			panic("static-reshapes: " + err.Error())
		}
	}
	open := slices.ContainsFunc(list, func(e match.Extents) bool {
		return slices.ContainsFunc(e.Known, func(d symbolic.Dim) bool { return d.Is(-1) })
	})
	by := &graph.Layer{Op: graph.Reshape, Attrs: graph.ReshapeAttrs{AllowZero: !open}, Inputs: []*graph.Tensor{x, shape.Outputs[0]}}
	return c.Fire(append([]*graph.Layer{r.Replace(l, by)}, added...)...)
}
