package fuse

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
)

// Rotations makes the rotary embeddings of queries and keys a part of the attention between them.
//
//	s = RotaryEmbedding(q, cos, sin) heads=8
//	r = RotaryEmbedding(k, cos, sin) heads=4
//	y = Attention(s, r, v) heads=8 kVHeads=4     ->   y = Attention(q, k, v, cos, sin) heads=8 kVHeads=4
var Rotations = pass.Pass{
	Name:  "fuse-rotations",
	Doc:   "fuse the rotary embeddings of queries and keys into attention",
	Rules: []string{"rotary-into-attention"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return fuseRotation(r, l) }) },
}

func fuseRotation(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.Attention || l.Input(graph.AttentionCos) != nil {
		return false
	}
	q, k := l.Inputs[graph.AttentionQ], l.Inputs[graph.AttentionK]
	a, b := q.Producer, k.Producer
	if a == nil || b == nil || a.Op != graph.Rotary || b.Op != graph.Rotary || a == b {
		return false
	}
	c := r.Candidate("rotary-into-attention", a, b, l)
	if !c.Sole(q, l) || !c.Sole(k, l) {
		return false
	}
	attrs, p := l.Attrs.(graph.AttentionAttrs), a.Attrs.(graph.RotaryAttrs)
	for i, t := range []*graph.Layer{a, b} {
		s := t.Attrs.(graph.RotaryAttrs)
		dims := t.Inputs[graph.RotaryX].Dims
		if s.Size != 0 {
			return c.Miss(pass.WrongAttribute, "%s turns %d components of each head", t.Name, s.Size)
		}
		if heads := []int{attrs.Heads, attrs.KVHeads}[i]; len(dims) == 3 && s.Heads != heads {
			return c.Miss(pass.WrongShape, "%s turns %d heads, %s has %d", t.Name, s.Heads, l.Name, heads)
		}
		if s.Interleaved != p.Interleaved || s.Apart != p.Apart || t.Input(graph.RotaryPositions) != nil || t.Epilogue.Args > 0 {
			return c.Miss(pass.WrongAttribute, "%s and %s turn in different ways, or by positions", a.Name, b.Name)
		}
		if t.Inputs[graph.RotaryCos] != a.Inputs[graph.RotaryCos] || t.Inputs[graph.RotarySin] != a.Inputs[graph.RotarySin] {
			return c.Miss(pass.WrongAttribute, "%s and %s turn by different angles", a.Name, b.Name)
		}
	}
	attrs.Interleaved = p.Interleaved // products of queries and keys do not depend on the order of their components
	inputs := make([]*graph.Tensor, max(graph.AttentionSin+1, len(l.OpInputs())))
	copy(inputs, l.OpInputs())
	inputs[graph.AttentionQ], inputs[graph.AttentionK] = a.Inputs[graph.RotaryX], b.Inputs[graph.RotaryX]
	inputs[graph.AttentionCos], inputs[graph.AttentionSin] = a.Inputs[graph.RotaryCos], a.Inputs[graph.RotarySin]
	by := &graph.Layer{Name: l.Name, Op: graph.Attention, Attrs: attrs, Inputs: slices.Concat(inputs, l.EpilogueInputs()), Outputs: l.Outputs, Epilogue: l.Epilogue, From: c.Members}
	trial := &graph.Layer{Name: l.Name, Op: graph.Attention, Attrs: attrs, Inputs: inputs}
	for range l.Outputs {
		trial.Outputs = append(trial.Outputs, &graph.Tensor{Name: "y"})
	}
	if err := trial.Infer(); err != nil {
		return c.Miss(pass.WrongShape, "%v", err)
	}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	for _, y := range l.Outputs {
		y.Producer = nil // so that it stays when its layer goes
	}
	r.Network().Remove(l)
	by = r.Network().Insert(by)
	r.Network().Remove(a)
	r.Network().Remove(b)
	return c.Fire(by)
}
