package fuse

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// MergeRotations makes one rotary embedding of two whose data are neighbouring parts of one tensor, as queries and keys are: it
// turns the heads of both.
//
//	q, k, v = Split(y, [64,32,32])                  p, v = Split(y, [96,32])
//	s = RotaryEmbedding(q, cos, sin) heads=8   ->   t = RotaryEmbedding(p, cos, sin) heads=12
//	r = RotaryEmbedding(k, cos, sin) heads=4        s, r = Split(t, [64,32])
var MergeRotations = pass.Pass{
	Name:  "merge-rotations",
	Doc:   "rotary embeddings of neighbouring parts become one",
	Rules: []string{"merge-rotations"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if l.Op != graph.Split || len(l.Inputs[0].Dims) != 3 {
				return false
			}
			if axis := l.Attrs.(graph.SplitAttrs).Axis; axis != 2 && axis != -1 {
				return false
			}
			for i := range len(l.Outputs) - 1 {
				if a, b := rotationOf(l.Outputs[i]), rotationOf(l.Outputs[i+1]); a != nil && b != nil && mergeRotations(r, l, i, a, b) {
					return true
				}
			}
			return false
		})
	},
}

// rotationOf returns the rotary embedding of heads that lie side by side that reads t.
func rotationOf(t *graph.Tensor) *graph.Layer {
	for _, u := range t.Users {
		if a, ok := u.Attrs.(graph.RotaryAttrs); ok && u.Inputs[graph.RotaryX] == t && a.Heads > 0 {
			return u
		}
	}
	return nil
}

// MergeRotations merges the rotations a and b of outputs i and i+1 of a split.
func mergeRotations(r *pass.Rewrite, split *graph.Layer, i int, a, b *graph.Layer) bool {
	c := r.Candidate("merge-rotations", a, b)
	s, t := split.Outputs[i], split.Outputs[i+1]
	if !c.Sole(s, a) || !c.Sole(t, b) {
		return false
	}
	p, q := a.Attrs.(graph.RotaryAttrs), b.Attrs.(graph.RotaryAttrs)
	m, ok := s.Dims[2].IsConst()
	n, ok2 := t.Dims[2].IsConst()
	if !ok || !ok2 || m*q.Heads != n*p.Heads {
		return c.Miss(pass.WrongShape, "heads of %s and %s differ in size", s, t)
	}
	heads := p.Heads + q.Heads
	p.Heads, q.Heads = heads, heads
	if p != q || a.Epilogue.Args+b.Epilogue.Args > 0 {
		return c.Miss(pass.WrongAttribute, "%s and %s turn in different ways", a.Name, b.Name)
	}
	if !slices.Equal(a.Inputs[1:], b.Inputs[1:]) {
		return c.Miss(pass.WrongAttribute, "%s and %s turn by different angles", a.Name, b.Name)
	}
	for _, l := range []*graph.Layer{a, b} {
		y := l.Outputs[0]
		if r.Network().IsOutput(y) {
			return c.Miss(pass.NetworkOutput, "%s is an output of the network", y.Name)
		}
		for _, u := range y.Users {
			if !readsSlice(r, u, y, 2) {
				return c.Miss(pass.NoGain, "%s would have to be copied for %s", y.Name, u.Name)
			}
		}
	}
	dims := []symbolic.Dim{s.Dims[0], s.Dims[1], symbolic.Const(m + n)}
	x, y := r.Network().NewTensor(s.Name+"_wide", s.Type, dims), r.Network().NewTensor(a.Outputs[0].Name+"_wide", a.Outputs[0].Type, dims)
	wide := &graph.Layer{Name: a.Name, Op: graph.Rotary, Attrs: p, Inputs: append([]*graph.Tensor{x}, a.Inputs[1:]...), Outputs: []*graph.Tensor{y}, From: c.Members}
	if !c.Supported(wide) || !c.Enabled() {
		return false
	}
	parts := &graph.Layer{Name: a.Name + "_split", Op: graph.Split, Attrs: graph.SplitAttrs{Axis: 2, Sizes: []int{m, n}}, Inputs: []*graph.Tensor{y}, From: c.Members,
		Outputs: []*graph.Tensor{a.Outputs[0], b.Outputs[0]}}
	first := joinParts(split, i, x)
	for _, l := range []*graph.Layer{a, b, split} {
		for _, t := range l.Outputs {
			t.Producer = nil // so that those that stay do when their layer goes
		}
		r.Network().Remove(l)
	}
	for _, l := range []*graph.Layer{first, wide, parts} {
		r.Network().Insert(l)
	}
	return c.Fire(wide)
}

// joinParts returns a Split of the same tensor whose output i is x, in the place of outputs i and i+1.
func joinParts(split *graph.Layer, i int, x *graph.Tensor) *graph.Layer {
	l := &graph.Layer{Name: split.Name, Op: graph.Split, Inputs: slices.Clone(split.Inputs), From: split.From}
	l.Outputs = slices.Concat(split.Outputs[:i], []*graph.Tensor{x}, split.Outputs[i+2:])
	attrs := graph.SplitAttrs{Axis: 2}
	for _, t := range l.Outputs {
		size, _ := t.Dims[2].IsConst()
		attrs.Sizes = append(attrs.Sizes, size)
	}
	l.Attrs = attrs
	return l
}
