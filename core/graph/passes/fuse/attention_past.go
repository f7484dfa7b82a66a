package fuse

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
)

// AttentionPast lets attention read earlier keys and values where they lie, in place of a copy of them and of the new ones. Places
// count from the first of all keys then, so that only what hides no key by its place is the same.
//
//	k = Concat(pastK, newK) axis=2
//	v = Concat(pastV, newV) axis=2
//	y = Attention(q, k, v, mask)     ->   y = Attention(q, newK, newV, mask, pastK, pastV)
var AttentionPast = pass.Pass{
	Name:  "attention-past",
	Doc:   "let attention read past keys and values where they lie",
	Rules: []string{"past-into-attention"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return takePast(r, l) }) },
}

func takePast(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.Attention || l.Input(graph.AttentionPastK) != nil {
		return false
	}
	k, v := l.Inputs[graph.AttentionK], l.Inputs[graph.AttentionV]
	a, b := k.Producer, v.Producer
	if a == nil || b == nil || a == b || a.Op != graph.Concat || b.Op != graph.Concat {
		return false
	}
	c := r.Candidate("past-into-attention", a, b, l)
	attrs := l.Attrs.(graph.AttentionAttrs)
	switch {
	case !c.Sole(k, l) || !c.Sole(v, l):
		return false
	case len(l.Outputs) > 1:
		return c.Miss(pass.WrongAttribute, "%s has keys, values or scores as outputs", l.Name)
	case attrs.Causal || attrs.Left > 0 || attrs.Right > 0:
		return c.Miss(pass.WrongAttribute, "%s hides keys by their places", l.Name)
	case l.Input(graph.AttentionKVLengths) != nil || l.Input(graph.AttentionCos) != nil:
		return c.Miss(pass.WrongAttribute, "%s counts its keys, or turns them", l.Name)
	}
	for _, t := range []*graph.Layer{a, b} {
		if len(t.Inputs) != 2 || t.Epilogue.Args > 0 || len(t.Outputs[0].Dims) != 4 || t.Attrs.(graph.ConcatAttrs).Axis != 2 {
			return c.Miss(pass.WrongShape, "%s does not join two tensors of [batch, heads, places, size] by their places", t.Name)
		}
	}
	inputs := make([]*graph.Tensor, max(graph.AttentionPastV+1, len(l.OpInputs())))
	copy(inputs, l.OpInputs())
	inputs[graph.AttentionPastK], inputs[graph.AttentionK] = a.Inputs[0], a.Inputs[1]
	inputs[graph.AttentionPastV], inputs[graph.AttentionV] = b.Inputs[0], b.Inputs[1]
	by := &graph.Layer{Name: l.Name, Op: graph.Attention, Attrs: attrs, Inputs: slices.Concat(inputs, l.EpilogueInputs()), Outputs: l.Outputs, Epilogue: l.Epilogue, From: c.Members}
	trial := &graph.Layer{Name: l.Name, Op: graph.Attention, Attrs: attrs, Inputs: inputs, Outputs: []*graph.Tensor{{Name: "y"}}}
	if err := trial.Infer(); err != nil {
		return c.Miss(pass.WrongShape, "%v", err)
	}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	l.Outputs[0].Producer = nil // so that it stays when its layer goes
	r.Network().Remove(l)
	by = r.Network().Insert(by)
	r.Network().Remove(a)
	r.Network().Remove(b)
	return c.Fire(by)
}
