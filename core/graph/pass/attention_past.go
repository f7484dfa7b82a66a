package pass

import (
	"github.com/trtui/trtui/core/graph"
)

// attentionPast lets attention read earlier keys and values where they lie, in place of a copy of them and of the new ones. Places
// count from the first of all keys then, so that only what hides no key by its place is the same.
//
//	k = Concat(pastK, newK) axis=2
//	v = Concat(pastV, newV) axis=2
//	y = Attention(q, k, v, mask)     ->   y = Attention(q, newK, newV, mask, pastK, pastV)
var attentionPast = Pass{
	Name:  "attention-past",
	Doc:   "let attention read past keys and values where they lie",
	Rules: []string{"past-into-attention"},
	run:   func(r *rewrite) { r.each(r.takePast) },
}

func (r *rewrite) takePast(l *graph.Layer) bool {
	if l.Op != graph.Attention || l.Input(graph.AttentionPastK) != nil {
		return false
	}
	k, v := l.Inputs[graph.AttentionK], l.Inputs[graph.AttentionV]
	a, b := k.Producer, v.Producer
	if a == nil || b == nil || a == b || a.Op != graph.Concat || b.Op != graph.Concat {
		return false
	}
	c := r.candidate("past-into-attention", a, b, l)
	attrs := l.Attrs.(graph.AttentionAttrs)
	switch {
	case !c.sole(k, l) || !c.sole(v, l):
		return false
	case len(l.Outputs) > 1:
		return c.miss(WrongAttribute, "%s has keys, values or scores as outputs", l.Name)
	case attrs.Causal || attrs.Left > 0 || attrs.Right > 0:
		return c.miss(WrongAttribute, "%s hides keys by their places", l.Name)
	case l.Input(graph.AttentionKVLengths) != nil || l.Input(graph.AttentionCos) != nil:
		return c.miss(WrongAttribute, "%s counts its keys, or turns them", l.Name)
	}
	for _, t := range []*graph.Layer{a, b} {
		if len(t.Inputs) != 2 || t.Epilogue.Args > 0 || len(t.Outputs[0].Dims) != 4 || t.Attrs.(graph.ConcatAttrs).Axis != 2 {
			return c.miss(WrongShape, "%s does not join two tensors of [batch, heads, places, size] by their places", t.Name)
		}
	}
	inputs := make([]*graph.Tensor, graph.AttentionPastV+1)
	copy(inputs, l.OpInputs())
	inputs[graph.AttentionPastK], inputs[graph.AttentionK] = a.Inputs[0], a.Inputs[1]
	inputs[graph.AttentionPastV], inputs[graph.AttentionV] = b.Inputs[0], b.Inputs[1]
	by := &graph.Layer{Name: l.Name, Op: graph.Attention, Attrs: attrs, Inputs: append(inputs, l.EpilogueInputs()...), Outputs: l.Outputs, Epilogue: l.Epilogue, From: c.members}
	trial := &graph.Layer{Name: l.Name, Op: graph.Attention, Attrs: attrs, Inputs: inputs, Outputs: []*graph.Tensor{{Name: "y"}}}
	if err := trial.Infer(); err != nil {
		return c.miss(WrongShape, "%v", err)
	}
	if !c.supported(by) || !c.enabled() {
		return false
	}
	l.Outputs[0].Producer = nil // so that it stays when its layer goes
	r.net.Remove(l)
	by = r.net.Insert(by)
	r.net.Remove(a)
	r.net.Remove(b)
	return c.fire(by)
}
