package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// recogniseAttention finds scaled dot-product attention that a model spells out:
//
//	q = Transpose(Reshape(xq, [B,S,H,D])) perm=[0 2 1 3]
//	k = Transpose(Reshape(xk, [B,S,H,D])) perm=[0 2 3 1]
//	v = Transpose(Reshape(xv, [B,S,H,D])) perm=[0 2 1 3]
//	s = MatMul(q, k)
//	t = Mul(s, scale)                                     ->   y = Attention(xq, xk, xv, mask) heads=H
//	m = Add(t, mask)
//	p = Softmax(m)
//	o = MatMul(p, v)
//	y = Reshape(Transpose(o) perm=[0 2 1 3], [B,S,H*D])
//
// The scale may stand before the product, on either side; the mask may be selected; a constant triangle is a causal mask; heads
// of keys and values may be repeated for several of queries. Where heads have an axis of their own and are not split or joined
// next to it, they keep it.
var recogniseAttention = Pass{
	Name:  "recognise-attention",
	Doc:   "recognise attention that is written as several layers",
	Rules: []string{"attention"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			if !isProduct(l) || l.Inputs[0].Producer == nil || l.Inputs[0].Producer.Op != graph.Softmax {
				return false
			}
			m := attentionMatch{r: r, factor: 1}
			return m.weights(l) && m.recognise(l)
		})
	},
}

// isProduct reports whether l is a matrix product of two tensors that are no constants, and nothing more.
func isProduct(l *graph.Layer) bool {
	return l.Op == graph.MatMul && l.Epilogue.Args == 0 && !l.Inputs[0].IsConst() && !l.Inputs[1].IsConst() && isFloat(l.Outputs[0])
}

// attentionMatch is a match under way.
type attentionMatch struct {
	r       *rewrite
	inner   []*graph.Layer // that the match is made of, those of operands aside
	scores  *graph.Layer   // the product of queries and keys
	factor  float64
	mask    *graph.Tensor
	causal  bool
	problem func(c *candidate) bool // records why it is no attention, though it looks like one
}

// hidden is a number that, added to a score, leaves the key no weight. Exports have -10000, the lowest number of a type, or
// -inf; scores of a model that works are far from it.
const hidden = -1e4

// weights follows the softmax that l multiplies values by to the product that it is of.
func (m *attentionMatch) weights(l *graph.Layer) bool {
	softmax := l.Inputs[0].Producer
	a, rank := softmax.Attrs.(graph.SoftmaxAttrs), len(softmax.Outputs[0].Dims)
	if a.Log || a.Flatten && a.Axis != rank-1 && a.Axis != -1 || a.Axis != rank-1 && a.Axis != -1 || softmax.Epilogue.Args > 0 {
		return false
	}
	m.inner = []*graph.Layer{l, softmax}
	for t := softmax.Inputs[0]; ; {
		p := t.Producer
		if p == nil {
			return false
		}
		if isProduct(p) {
			m.scores = p
			m.inner = append(m.inner, p)
			return true
		}
		next, ok := m.step(p, t)
		if !ok || len(m.inner) > maxPattern {
			return false
		}
		m.inner = append(m.inner, p)
		t = next
	}
}

// step takes in a layer between product and softmax, whose result is t: a factor or a mask. It returns the scores that it is of.
func (m *attentionMatch) step(l *graph.Layer, t *graph.Tensor) (*graph.Tensor, bool) {
	p := pattern{net: m.r.net}
	in, args, ok := p.op(t)
	if !ok {
		return nil, false
	}
	switch in.Op {
	case graph.EltMul, graph.EltDiv:
		for i, x := range args {
			s, ok := scalar(args[1-i])
			if !ok || in.Op == graph.EltDiv && i == 1 || s == 0 {
				continue
			}
			if in.Op == graph.EltDiv {
				s = 1 / s
			}
			m.factor *= s
			return x, true
		}
	case graph.EltAdd:
		for i, x := range args {
			if m.leads(x) && graph.EqualDims(x.Dims, t.Dims) {
				return x, m.add(args[1-i])
			}
		}
	case graph.EltSelect:
		return m.selected(args, t)
	}
	return nil, false
}

// leads reports whether t is made of a product of two tensors by factors and masks.
func (m *attentionMatch) leads(t *graph.Tensor) bool {
	for range maxPattern {
		l := t.Producer
		if l == nil {
			return false
		}
		if isProduct(l) {
			return true
		}
		p := pattern{net: m.r.net}
		in, args, ok := p.op(t)
		if !ok {
			return false
		}
		i := slices.IndexFunc(args, func(x *graph.Tensor) bool {
			return x.Producer != nil && !x.IsConst() && graph.EqualDims(x.Dims, t.Dims) && x.Type == t.Type
		})
		if i < 0 || !slices.Contains([]graph.EltOp{graph.EltMul, graph.EltDiv, graph.EltAdd, graph.EltSelect}, in.Op) {
			return false
		}
		t = args[i]
	}
	return false
}

// add takes in a mask that is added to scores, behind which there is no factor.
func (m *attentionMatch) add(mask *graph.Tensor) bool {
	switch {
	case m.factor != 1:
		m.problem = func(c *candidate) bool {
			return c.miss(WrongAttribute, "the mask %s is added before the scores are scaled", mask.Name)
		}
	case isTriangle(mask, func(v float64) bool { return v == 0 }, func(v float64) bool { return v <= hidden }):
		m.causal = true
	case m.mask != nil:
		m.problem = func(c *candidate) bool {
			return c.miss(WrongAttribute, "there are two masks, %s and %s", m.mask.Name, mask.Name)
		}
	default:
		m.mask = mask
	}
	return true
}

// selected takes in a mask by which scores or a number are chosen.
func (m *attentionMatch) selected(args []*graph.Tensor, t *graph.Tensor) (*graph.Tensor, bool) {
	chosen, x, other := args[0], args[1], args[2]
	seen := func(v float64) bool { return v != 0 }
	unseen := func(v float64) bool { return v == 0 }
	if s, ok := scalar(x); ok && s <= hidden {
		x, other, seen, unseen = other, x, unseen, seen
	}
	s, ok := scalar(other)
	if !ok || s > hidden || !graph.EqualDims(x.Dims, t.Dims) || !m.leads(x) {
		return nil, false
	}
	switch {
	case m.factor != 1:
		m.problem = func(c *candidate) bool {
			return c.miss(WrongAttribute, "scores are chosen by %s before they are scaled", chosen.Name)
		}
	case isTriangle(chosen, seen, unseen):
		m.causal = true
	default:
		m.problem = func(c *candidate) bool {
			return c.miss(NotConstant, "scores are chosen by %s, which is not known to leave every query a key", chosen.Name)
		}
	}
	return x, true
}

// isTriangle reports whether a constant hides from each query the keys behind its own place, and no other.
func isTriangle(t *graph.Tensor, seen, unseen func(float64) bool) bool {
	v, ok := t.Const()
	dims, known := constDims(t.Dims)
	if !ok || !known || len(dims) < 2 {
		return false
	}
	n := dims[len(dims)-1]
	if n < 1 || dims[len(dims)-2] != n || graph.Count(dims) != n*n {
		return false
	}
	for i, x := range v.Float64s() {
		if causal := i%n <= i/n; causal && !seen(x) || !causal && !unseen(x) {
			return false
		}
	}
	return true
}

// recognise puts one layer in the place of the match, of which l is the product with values.
func (m *attentionMatch) recognise(l *graph.Layer) bool {
	c := m.r.candidate("attention", m.inner...)
	if m.problem != nil {
		return m.problem(c)
	}
	scores, values := m.scores.Outputs[0], l.Inputs[1]
	if len(scores.Dims) != 4 || len(values.Dims) != 4 || len(m.scores.Inputs[0].Dims) != 4 || len(m.scores.Inputs[1].Dims) != 4 {
		return c.miss(WrongShape, "scores %s have %d axes, and not those of batch, heads, queries and keys", scores.Name, len(scores.Dims))
	}
	if m.mask != nil && (len(m.mask.Dims) > 4 || m.mask.Type != scores.Type) {
		return c.miss(WrongShape, "the mask is %s, the scores are %s", m.mask, scores)
	}
	q, rows := m.operand(m.unscaled(m.scores.Inputs[0]), []int{0, 1, 2, 3})
	k := m.furthest(m.unscaled(m.scores.Inputs[1]), []int{0, 1, 3, 2})
	v := m.furthest(values, []int{0, 1, 2, 3})
	if k.x == nil {
		return c.miss(WrongShape, "keys %s are not the transpose of what holds one key after the other", m.scores.Inputs[1].Name)
	}
	root := l
	if joined, ok := m.joined(l); ok && rows.x != nil {
		q, root = rows, joined
	}
	a := graph.AttentionAttrs{Heads: q.heads, KVHeads: k.heads, Scale: float32(m.factor), Causal: m.causal}
	if k.heads != v.heads || k.heads < 1 || q.heads%k.heads != 0 {
		return c.miss(WrongShape, "%d heads of queries, %d of keys and %d of values", q.heads, k.heads, v.heads)
	}
	by := &graph.Layer{Op: graph.Attention, Attrs: a}
	for _, o := range []attentionOperand{q, k, v} {
		m.inner = append(m.inner, m.sole(o.path)...)
	}
	if root != l {
		m.inner = append(m.inner, l.Outputs[0].Users[0], root)
	}
	if c = m.r.candidate("attention", m.inner...); !c.closed(root) || !c.enabled() {
		return false
	}
	for _, o := range []attentionOperand{q, k, v} {
		x, ok := m.joinHeads(o, c.members)
		if !ok {
			return c.miss(WrongShape, "%s has more than one unknown extent", o.x)
		}
		by.Inputs = append(by.Inputs, x)
	}
	if m.mask != nil {
		by.Inputs = append(by.Inputs, m.mask)
	}
	return c.become(root, by)
}

// unscaled follows a tensor through factors, which it takes in where nothing else needs the result.
func (m *attentionMatch) unscaled(t *graph.Tensor) *graph.Tensor {
	p := pattern{net: m.r.net}
	for len(t.Users) == 1 && !m.r.net.IsOutput(t) {
		in, args, ok := p.op(t)
		if !ok || len(args) != 2 || in.Op != graph.EltMul && in.Op != graph.EltDiv {
			return t
		}
		s, constant := scalar(args[1])
		x := args[0]
		if !constant && in.Op == graph.EltMul {
			s, constant = scalar(args[0])
			x = args[1]
		}
		if !constant || s == 0 {
			return t
		}
		if in.Op == graph.EltDiv {
			s = 1 / s
		}
		m.factor *= s
		m.inner = append(m.inner, t.Producer)
		t = x
	}
	return t
}

// joined returns the reshape that joins the heads of l's result, behind the transpose that brings them side by side; l where
// there is none.
func (m *attentionMatch) joined(l *graph.Layer) (root *graph.Layer, ok bool) {
	t := l.Outputs[0]
	for i, op := range []*graph.Op{graph.Transpose, graph.Reshape} {
		if len(t.Users) != 1 || m.r.net.IsOutput(t) || t.Users[0].Op != op || t.Users[0].Epilogue.Args > 0 {
			return l, false
		}
		if i == 0 && !slices.Equal(permOf(t.Users[0]), []int{0, 2, 1, 3}) {
			return l, false
		}
		t = t.Users[0].Outputs[0]
	}
	o := l.Outputs[0].Dims
	if want := []graph.Dim{o[0], o[2], o[1].Mul(o[3])}; !graph.EqualDims(t.Dims, want) {
		return l, false
	}
	return t.Producer, true
}

// sole returns the layers of a path, from its end on, that serve this match alone.
func (m *attentionMatch) sole(path []*graph.Layer) []*graph.Layer {
	for i, l := range path {
		t := l.Outputs[0]
		if m.r.net.IsOutput(t) || slices.ContainsFunc(t.Users, func(u *graph.Layer) bool { return !slices.Contains(m.inner, u) && !slices.Contains(path, u) }) {
			return path[:i]
		}
	}
	return path
}
