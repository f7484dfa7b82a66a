package simplify

import (
	"fmt"

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
// Extents of what is computed are read off inputs of the network that have them: what would be kept for its extents alone is dead, and
// has fewer readers that are in the way of fusing it.
//
//	s = Shape(x f32[batch,length,16])       b = Shape(ids i64[batch,length]) start=0 end=1
//	                                  ->    n = Shape(ids) start=1 end=2
//	                                        s = Concat(b, n, [16])
var StaticReshapes = pass.Pass{
	Name:  "static-reshapes",
	Doc:   "changes of shape become Reshape to a constant shape, and extents are those of inputs",
	Rules: []string{"constant-shape", "canonical-reshape", "shape-of-inputs"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return staticReshape(r, l) }) },
}

func staticReshape(r *pass.Rewrite, l *graph.Layer) bool {
	rule := "canonical-reshape"
	switch {
	case l.Op == graph.ShapeOf:
		return extentsOfInputs(r, l)
	case l.Op.Memory != graph.Viewed || l.Op == graph.Identity:
		return false
	case l.Op == graph.Reshape:
		if l.Input(1).IsConst() {
			return false
		}
		rule = "constant-shape"
	}
	shape, ok := match.ReshapeTo(l.Inputs[0], l.Outputs[0].Dims)
	c := r.Candidate(rule, l)
	if !ok {
		return c.Miss(pass.WrongShape, "the shape %s has more than one unknown extent", symbolic.Format(l.Outputs[0].Dims))
	}
	if !c.Enabled() {
		return false
	}
	return c.Fire(r.Replace(l, r.Reshape(l.Inputs[0], l.Outputs[0].Name+"_shape", shape)))
}

// extentsOfInputs has a Shape of what is computed read the extents of inputs of the network.
func extentsOfInputs(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Inputs[0].Producer == nil {
		return false
	}
	n, a := r.Network(), l.Attrs.(graph.ShapeAttrs)
	list := match.Measured(n, l.Inputs[0].Dims[a.Start:a.End], false)
	if list == nil {
		return false
	}
	c := r.Candidate("shape-of-inputs", l)
	if !c.Enabled() {
		return false
	}
	whole := &graph.Layer{Op: graph.Concat, Attrs: graph.ConcatAttrs{}}
	var parts []*graph.Layer
	for i, e := range list {
		part := fmt.Sprintf("_%d", i)
		if e.Of == nil {
			whole.Inputs = append(whole.Inputs, n.AddConst(l.Outputs[0].Name+part, e.Value()))
			continue
		}
		extent := &graph.Layer{Op: graph.ShapeOf, Attrs: graph.ShapeAttrs{Start: e.Axis, End: e.Axis + 1}, Inputs: []*graph.Tensor{e.Of}}
		if len(list) == 1 {
			whole = extent
			break
		}
		t := n.NewTensor(l.Outputs[0].Name+part, numeric.I64, symbolic.Shape(1))
		extent.Name, extent.Outputs, extent.From = l.Name+part, []*graph.Tensor{t}, c.Members
		whole.Inputs, parts = append(whole.Inputs, t), append(parts, n.Insert(extent))
		if err := extent.Infer(); err != nil {
			panic("static-reshapes: " + err.Error())
		}
	}
	return c.Fire(append([]*graph.Layer{r.Replace(l, whole)}, parts...)...)
}
