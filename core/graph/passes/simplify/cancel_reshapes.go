package simplify

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// CancelReshapes merges neighbours that only change shape or order, and removes those that undo each other.
//
//	a = Reshape(x, [2, 12])             y = Reshape(x, [4, 6])
//	y = Reshape(a, [4, 6])      ->
//
//	a = Transpose(x) perm=[0 2 3 1]     y = Transpose(x) perm=[0 3 1 2]
//	y = Transpose(a) perm=[0 2 3 1] ->
//
//	y = Transpose(x f32[2,1,5]) perm=[0 2 1]  ->  y = Reshape(x, [2, 5, 1])
//
// A Reshape that stands between element-wise layers goes behind them: see sinkReshape. So do transpositions of all that is joined.
var CancelReshapes = pass.Pass{
	Name:  "cancel-reshapes",
	Doc:   "merge or cancel neighbouring reshapes and transposes",
	Rules: []string{"merge-reshapes", "merge-transposes", "transpose-to-reshape", "reshape-behind", "transposes-behind"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			switch l.Op {
			case graph.Reshape:
				return mergeReshapes(r, l) || sinkReshape(r, l)
			case graph.Transpose:
				return mergeTransposes(r, l) || transposeToReshape(r, l)
			case graph.Concat:
				return sinkTransposes(r, l)
			}
			return false
		})
	},
}

func mergeReshapes(r *pass.Rewrite, l *graph.Layer) bool {
	inner := l.Inputs[0].Producer
	if inner == nil || inner.Op != graph.Reshape {
		return false
	}
	c := r.Candidate("merge-reshapes", inner, l)
	x, y := inner.Inputs[0], l.Outputs[0]
	if symbolic.Equal(x.Dims, y.Dims) {
		return cancel(c, inner, l)
	}
	if !c.Sole(inner.Outputs[0], l) {
		return false
	}
	shape, ok := match.ReshapeTo(x, y.Dims)
	if !ok {
		return c.Miss(pass.WrongShape, "%s has more than one unknown extent", y)
	}
	if !c.Enabled() {
		return false
	}
	by := r.Replace(l, r.Reshape(x, y.Name+"_shape", shape))
	r.Network().Remove(inner)
	return c.Fire(by)
}

// cancel removes l, which undoes inner, and inner too if nothing else needs it.
func cancel(c *pass.Candidate, inner, l *graph.Layer) bool {
	if !c.Enabled() {
		return false
	}
	r := c.Rewrite()
	if !r.Bypass(l, inner.Inputs[0]) {
		return c.Miss(pass.NetworkOutput, "%s connects an output to an input", l.Name)
	}
	r.Eliminate(l, nil)
	if r.Used(inner) {
		c.Apart = true
		return c.Fire(inner)
	}
	r.Eliminate(inner, nil)
	r.Network().Remove(inner)
	return c.Fire()
}

func mergeTransposes(r *pass.Rewrite, l *graph.Layer) bool {
	inner := l.Inputs[0].Producer
	if inner == nil || inner.Op != graph.Transpose {
		return false
	}
	c := r.Candidate("merge-transposes", inner, l)
	perm := match.Composed(match.Perm(inner), match.Perm(l))
	if slices.IsSorted(perm) {
		return cancel(c, inner, l)
	}
	if !c.Sole(inner.Outputs[0], l) || !c.Enabled() {
		return false
	}
	by := &graph.Layer{Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: perm}, Inputs: []*graph.Tensor{inner.Inputs[0]}}
	by = r.Replace(l, by)
	r.Network().Remove(inner)
	return c.Fire(by)
}

// transposeToReshape rewrites a Transpose that moves only axes of extent 1.
func transposeToReshape(r *pass.Rewrite, l *graph.Layer) bool {
	x := l.Inputs[0]
	if !match.KeepsOrder(l) {
		return false
	}
	c := r.Candidate("transpose-to-reshape", l)
	shape, ok := match.ReshapeTo(x, l.Outputs[0].Dims)
	if !ok {
		return c.Miss(pass.WrongShape, "%s has more than one unknown extent", l.Outputs[0])
	}
	if !c.Enabled() {
		return false
	}
	return c.Fire(r.Replace(l, r.Reshape(x, l.Outputs[0].Name+"_shape", shape)))
}

// sinkTransposes joins first what is transposed before it is joined, and transposes the whole.
//
//	a = Transpose(x) perm=[3 1 2 0]
//	b = Transpose(z) perm=[3 1 2 0]        c = Concat(x, z) axis=3
//	y = Concat(a, b) axis=0           ->   y = Transpose(c) perm=[3 1 2 0]
func sinkTransposes(r *pass.Rewrite, l *graph.Layer) bool {
	var from []*graph.Layer
	for _, t := range l.Inputs {
		if !match.IsTranspose(t.Producer) || slices.Contains(from, t.Producer) {
			return false
		}
		from = append(from, t.Producer)
	}
	if len(from) < 2 || l.Epilogue.Args > 0 {
		return false
	}
	c := r.Candidate("transposes-behind", append(slices.Clone(from), l)...)
	perm := match.Perm(from[0])
	for _, t := range from {
		if !slices.Equal(match.Perm(t), perm) {
			return c.Miss(pass.WrongAttribute, "%s and %s move other axes", from[0].Name, t.Name)
		}
		if !c.Sole(t.Outputs[0], l) {
			return false
		}
	}
	if !c.Enabled() {
		return false
	}
	y := l.Outputs[0]
	dims := make([]symbolic.Dim, len(perm))
	joined := &graph.Layer{Name: l.Name + "_joined", Op: l.Op, Attrs: graph.ConcatAttrs{Axis: perm[axisOf(l)]}}
	for i, p := range perm {
		dims[p] = y.Dims[i]
	}
	for _, t := range from {
		joined.Inputs = append(joined.Inputs, t.Inputs[0])
	}
	joined.Outputs = []*graph.Tensor{r.Network().NewTensor(y.Name+"_joined", y.Type, dims)}
	by := r.Replace(l, &graph.Layer{Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: perm}, Inputs: joined.Outputs})
	for _, t := range from {
		r.Network().Remove(t)
	}
	joined.From, by.From = c.Members, c.Members
	return c.Fire(r.Network().Insert(joined), by)
}
