package recognise

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// operands are what an attention reads and writes, in forms that go together.
type operands struct {
	q, k, v, y    form
	heads, groups int // heads of queries, and of keys and values
}

// operands chooses forms of queries, keys, values and result, the best first.
func (a *attention) operands() (operands, bool) {
	led := func(t *graph.Tensor, r ...role) []role {
		lead := []role{batchRole, headRole}
		if n := len(t.Dims) - 2; n != len(lead) {
			lead = slices.Repeat(lead[:1], n) // any of them may be heads
		}
		return append(lead, r...)
	}
	roles := func(r ...role) []role { return led(a.scores.Outputs[0], r...) }
	scaled := a.queries()
	if scaled == nil {
		return operands{}, false
	}
	q := operandForms(a.r, scaled, true, roles(rowRole, depthRole)...)
	k := operandForms(a.r, a.scores.Inputs[1], true, roles(depthRole, rowRole)...)
	k = append(k, a.turned(roles)...)
	v := operandForms(a.r, a.product.Inputs[1], false, led(a.product.Inputs[1], rowRole, depthRole)...)
	y := resultForms(a.r, a.product.Outputs[0], led(a.product.Outputs[0], rowRole, depthRole)...)
	return together(q, k, v, y, func(k, q form) bool {
		return k.heads.Mul(k.repeats).Equal(q.heads) || k.heads.Is(1) && k.repeats.Is(1)
	})
}

// together returns the first forms of queries, keys, values and result that go together; serves says whether the heads of keys
// or values do with those of queries.
func together(q, k, v, y []form, serves func(k, q form) bool) (operands, bool) {
	for _, fy := range y {
		for _, fq := range q {
			if len(fq.dims) != len(fy.dims) || !sameRows(fq, fy) || !fq.heads.Equal(fy.heads) || !fq.repeats.Is(1) {
				continue
			}
			heads, ok := fq.heads.IsConst()
			if !ok {
				continue
			}
			for _, fk := range k {
				groups, ok := fk.heads.IsConst()
				if !ok || !fk.batch.Equal(fq.batch) || !fk.depth.Equal(fq.depth) || !serves(fk, fq) {
					continue
				}
				for _, fv := range v {
					if sameRows(fv, fk) && fv.heads.Equal(fk.heads) && serves(fv, fq) && fv.depth.Equal(fy.depth) {
						return operands{fq, fk, fv, fy, heads, groups}, true
					}
				}
			}
		}
	}
	return operands{}, false
}

// turned returns the forms of the keys' operand with its last axes swapped, for which a layer is needed.
func (a *attention) turned(roles func(...role) []role) []form {
	t := a.scores.Inputs[1]
	v := layoutOf(t, roles(depthRole, rowRole)...)
	perm := swapped(len(t.Dims))
	v.permute(perm)
	dims := make([]symbolic.Dim, len(perm))
	for i, p := range perm {
		dims[i] = t.Dims[p]
	}
	list := v.forms(t)
	for i := range list {
		list[i].turned = true
	}
	return preferred(list)
}

// swapped returns the permutation that swaps the last two of rank axes.
func swapped(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	perm[rank-2], perm[rank-1] = rank-1, rank-2
	return perm
}

func sameRows(a, b form) bool { return a.batch.Equal(b.batch) && a.rows.Equal(b.rows) }

// cutsHeads makes an attention cut and join the heads itself, where moves beside it do:
//
//	q = Transpose(Reshape(x0, [B, S, H, D])) perm=[0 2 1 3]
//	a = Attention(q, k, v)                                   ->   y = Attention(x0, x1, x2) heads=H
//	y = Reshape(Transpose(a) perm=[0 2 1 3], [B, S, H*D])
func cutsHeads(r *pass.Rewrite, l *graph.Layer) bool {
	attrs := l.Attrs.(graph.AttentionAttrs)
	q, k, v := l.Inputs[graph.AttentionQ], l.Inputs[graph.AttentionK], l.Inputs[graph.AttentionV]
	if len(l.Outputs) != 1 || l.Input(graph.AttentionPastK) != nil || len(q.Dims) != 4 {
		return false
	}
	depth, known := q.Dims[3].IsConst()
	if attrs.Scale == 0 && known {
		attrs.Scale = float32(1 / math.Sqrt(float64(depth)))
	}
	scaled, shared := attrs.Scale != 0, symbolic.Const(attrs.KVHeads)
	if len(k.Dims) == 4 {
		shared = k.Dims[1]
	}
	h, ok := together(headForms(r, q, shared, scaled), headForms(r, k, shared, scaled), headForms(r, v, shared, false),
		resultForms(r, l.Outputs[0], batchRole, headRole, rowRole, depthRole), func(f, _ form) bool { return f.heads.Mul(f.repeats).Equal(shared) })
	if !ok || h.q.t == q && h.k.t == k && h.v.t == v && h.y.t == l.Outputs[0] {
		return false
	}
	a := &attention{r: r, softmax: l, inner: []*graph.Layer{l}, draft: draft{r: r, from: l.From}}
	c := r.Candidate("attention-heads", l)
	inputs, ok := a.inputs(c, h)
	if !ok {
		return false
	}
	attrs.Heads, attrs.KVHeads, attrs.Scale = h.heads, h.groups, attrs.Scale*float32(h.q.scale*h.k.scale)
	by, ok := a.of(c, h, attrs, append(inputs, l.Inputs[3:]...))
	if !ok || !c.Has(by) || !c.Enabled() {
		return false
	}
	a.put(c, h, by)
	return true
}

// headForms returns the forms of an attention's operand, which has heads in an axis of their own or, so many of them, in the last one.
func headForms(r *pass.Rewrite, t *graph.Tensor, heads symbolic.Dim, scaled bool) []form {
	if len(t.Dims) == 4 {
		return operandForms(r, t, scaled, batchRole, headRole, rowRole, depthRole)
	}
	if heads.Is(0) {
		return nil
	}
	return []form{{t: t, dims: t.Dims, batch: t.Dims[0], rows: t.Dims[1], depth: t.Dims[2].Div(heads), heads: heads, repeats: symbolic.Const(1), scale: 1}}
}
