package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// cancelReshapes merges neighbours that only change shape or order, and removes those that undo each other.
//
//	a = Reshape(x, [2, 12])             y = Reshape(x, [4, 6])
//	y = Reshape(a, [4, 6])      ->
//
//	a = Transpose(x) perm=[0 2 3 1]     y = Transpose(x) perm=[0 3 1 2]
//	y = Transpose(a) perm=[0 2 3 1] ->
//
//	y = Transpose(x f32[2,1,5]) perm=[0 2 1]  ->  y = Reshape(x, [2, 5, 1])
//
// A Reshape that stands between element-wise layers goes behind them: see sinkReshape.
var cancelReshapes = Pass{
	Name:  "cancel-reshapes",
	Doc:   "merge or cancel neighbouring reshapes and transposes",
	Rules: []string{"merge-reshapes", "merge-transposes", "transpose-to-reshape", "reshape-behind"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			switch l.Op {
			case graph.Reshape:
				return r.mergeReshapes(l) || r.sinkReshape(l)
			case graph.Transpose:
				return r.mergeTransposes(l) || r.transposeToReshape(l)
			}
			return false
		})
	},
}

func (r *rewrite) mergeReshapes(l *graph.Layer) bool {
	inner := l.Inputs[0].Producer
	if inner == nil || inner.Op != graph.Reshape {
		return false
	}
	c := r.candidate("merge-reshapes", inner, l)
	x, y := inner.Inputs[0], l.Outputs[0]
	if symbolic.Equal(x.Dims, y.Dims) {
		return c.cancel(inner, l)
	}
	if !c.sole(inner.Outputs[0], l) {
		return false
	}
	shape, ok := reshapeTo(x, y.Dims)
	if !ok {
		return c.miss(WrongShape, "%s has more than one unknown extent", y)
	}
	if !c.enabled() {
		return false
	}
	by := r.replace(l, r.reshape(x, y.Name+"_shape", shape))
	r.net.Remove(inner)
	return c.fire(by)
}

// cancel removes l, which undoes inner, and inner too if nothing else needs it.
func (c *candidate) cancel(inner, l *graph.Layer) bool {
	if !c.enabled() {
		return false
	}
	r := c.r
	if !r.bypass(l, inner.Inputs[0]) {
		return c.miss(NetworkOutput, "%s connects an output to an input", l.Name)
	}
	r.drop(l, Eliminated, nil)
	if r.used(inner) {
		c.apart = true
		return c.fire(inner)
	}
	r.drop(inner, Eliminated, nil)
	r.net.Remove(inner)
	return c.fire()
}

func (r *rewrite) mergeTransposes(l *graph.Layer) bool {
	inner := l.Inputs[0].Producer
	if inner == nil || inner.Op != graph.Transpose {
		return false
	}
	c := r.candidate("merge-transposes", inner, l)
	first, second := permOf(inner), permOf(l)
	perm := make([]int, len(second))
	for i, p := range second {
		perm[i] = first[p]
	}
	if slices.IsSorted(perm) {
		return c.cancel(inner, l)
	}
	if !c.sole(inner.Outputs[0], l) || !c.enabled() {
		return false
	}
	by := &graph.Layer{Op: graph.Transpose, Attrs: graph.TransposeAttrs{Perm: perm}, Inputs: []*graph.Tensor{inner.Inputs[0]}}
	by = r.replace(l, by)
	r.net.Remove(inner)
	return c.fire(by)
}

// permOf returns the permutation of a Transpose, which Infer has found to be one.
func permOf(l *graph.Layer) []int {
	perm, err := l.Attrs.(graph.TransposeAttrs).Resolve(len(l.Inputs[0].Dims))
	if err != nil {
		panic("pass: " + err.Error())
	}
	return perm
}

// transposeToReshape rewrites a Transpose that moves only axes of extent 1.
func (r *rewrite) transposeToReshape(l *graph.Layer) bool {
	x := l.Inputs[0]
	last := -1
	for _, p := range permOf(l) {
		if x.Dims[p].Is(1) {
			continue
		}
		if p < last {
			return false // it moves elements
		}
		last = p
	}
	c := r.candidate("transpose-to-reshape", l)
	shape, ok := reshapeTo(x, l.Outputs[0].Dims)
	if !ok {
		return c.miss(WrongShape, "%s has more than one unknown extent", l.Outputs[0])
	}
	if !c.enabled() {
		return false
	}
	return c.fire(r.replace(l, r.reshape(x, l.Outputs[0].Name+"_shape", shape)))
}
