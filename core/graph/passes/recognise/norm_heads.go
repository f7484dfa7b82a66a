package recognise

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// normHeads moves the normalisation of each head of t, queries or keys, before the Transpose that gives heads an axis of their
// own, so that what comes behind can do that itself:
//
//	x = Transpose(u) perm=[0 2 1 3]         v = RMSNormalization(u, scale)
//	t = RMSNormalization(x, scale)     ->   t = Transpose(v) perm=[0 2 1 3]
func normHeads(r *pass.Rewrite, t *graph.Tensor) bool {
	l := t.Producer
	if l == nil || l.Op != graph.RMSNorm && l.Op != graph.LayerNorm || len(l.Outputs) != 1 || l.Epilogue.Args > 0 || len(t.Dims) != 4 {
		return false
	}
	x, a := l.Inputs[0], l.Attrs.(graph.LayerNormAttrs)
	turn := x.Producer
	if turn == nil || turn.Op != graph.Transpose || turn.Epilogue.Args > 0 || match.Perm(turn)[3] != 3 || a.Axis != -1 && a.Axis != 3 {
		return false
	}
	for _, k := range l.Inputs[1:] {
		if k != nil && len(k.Dims) > 1 {
			return false
		}
	}
	c := r.Candidate("norm-heads", turn, l)
	if !c.Sole(x, l) || r.Network().Sole(t) == nil {
		return false
	}
	u := turn.Inputs[0]
	v := &graph.Tensor{Name: t.Name + "_rows"}
	by := &graph.Layer{Name: l.Name + "_rows", Op: l.Op, Attrs: l.Attrs, Inputs: append([]*graph.Tensor{u}, l.Inputs[1:]...), From: l.From, Outputs: []*graph.Tensor{v}}
	if err := by.Infer(); err != nil || !symbolic.Equal(v.Dims, u.Dims) {
		return c.Miss(pass.WrongShape, "%s cannot be normalised before its axes change places", u)
	}
	if !c.Has(by) || !c.Enabled() {
		return false
	}
	by.Outputs = []*graph.Tensor{r.Network().NewTensor(v.Name, v.Type, v.Dims)}
	by = r.Network().Insert(by)
	last := r.Replace(l, &graph.Layer{Op: graph.Transpose, Attrs: turn.Attrs, Inputs: by.Outputs})
	last.From = turn.From
	r.Network().Remove(turn)
	return c.Fire(by, last)
}
