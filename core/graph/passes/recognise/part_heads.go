package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// PartHeads puts the columns of a projection whose heads each hold a query, a key and a value side by side into another order, so
// that all queries come first: what is cut then from each head lies in one piece. Where they come first already, the pieces are cut
// before heads are, unless each would have to be turned by itself then and no attention reads it as it is.
//
//	p = MatMul(x, w [8,24])                             p = MatMul(x, w' [8,24])
//	h = Transpose(Reshape(p, [2,5,2,12]), 0 2 1 3)      a, b, c = Split(p, axis 2)
//	q, k, v = Split(h, axis 3)                     ->   q = Transpose(Reshape(a, [2,5,2,4]), 0 2 1 3), and so on
var PartHeads = pass.Pass{
	Name:  "part-heads",
	Doc:   "order the columns of a projection so that queries, keys and values each lie in one piece",
	Rules: []string{"part-heads"},
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return partHeads(r, l) }) },
}

// headParts are the parts of heads that a projection computes: its columns are [heads][parts][size].
type headParts struct {
	product, bias *graph.Layer // bias: the Add behind it; nil for none
	reshape       *graph.Layer
	transpose     *graph.Layer // nil for none
	cuts          []headCut

	heads, parts, size int
	axis               int // of the parts, or of parts and size together, in the reshaped tensor
	rank               int // of that
}

// headCut is a tensor that is a part of each head.
type headCut struct {
	by   *graph.Layer
	y    *graph.Tensor
	part int
}

func partHeads(r *pass.Rewrite, l *graph.Layer) bool {
	if l.Op != graph.Reshape || r.Network().IsOutput(l.Outputs[0]) {
		return false
	}
	h := headParts{reshape: l}
	if !projected(r, &h) || !cutParts(r, &h) {
		return false
	}
	c := r.Candidate("part-heads", h.product, l)
	if !h.shaped() {
		return c.Miss(pass.WrongShape, "no constant shape makes heads of the parts of %s", l.Inputs[0])
	}
	if h.heads == 1 && h.transpose != nil && !h.readByAttention(r) {
		return c.Miss(pass.NoGain, "no attention reads the parts of %s, which would be turned one by one", l.Inputs[0].Name)
	}
	if !c.Enabled() {
		return false
	}
	return c.Fire(apart(r, &h)...)
}

// projected finds the product by constant weights, and what is added to it, that the Reshape alone reads.
func projected(r *pass.Rewrite, h *headParts) bool {
	p := h.reshape.Inputs[0].Producer
	if b, ok := addedRow(p); ok && r.Network().Sole(p.Outputs[0]) == h.reshape {
		h.bias, p = p, b.Producer
	}
	reader := h.reshape
	if h.bias != nil {
		reader = h.bias
	}
	if p == nil || p.Op != graph.MatMul && p.Op != graph.Gemm || p.Epilogue.Args > 0 || r.Network().Sole(p.Outputs[0]) != reader {
		return false
	}
	h.product = p
	w := p.Inputs[1]
	b := p.Input(2)
	return w.IsConst() && len(w.Dims) == 2 && match.IsFloat(w) && (b == nil || b.IsConst() && len(b.Dims) == 1)
}

// addedRow returns what l adds a constant vector to.
func addedRow(l *graph.Layer) (x *graph.Tensor, ok bool) {
	if l == nil || len(l.Inputs) != 2 || len(l.Outputs) != 1 {
		return nil, false
	}
	p, ok := graph.ProgramOf(l)
	if !ok || len(p.Code) != 1 || p.Code[0].Op != elementwise.Add || l.Epilogue.Args > 0 {
		return nil, false
	}
	for i, t := range l.Inputs {
		if other := l.Inputs[1-i]; t.IsConst() && len(t.Dims) == 1 && !other.IsConst() && len(other.Dims) > 1 && other.Dims[len(other.Dims)-1].Equal(t.Dims[0]) {
			return other, true
		}
	}
	return nil, false
}

// columns returns how many the product has.
func (h *headParts) columns() int {
	axis, _ := h.product.Op.Product.Axes(h.product)
	n, _ := h.product.Inputs[1].Dims[axis].IsConst()
	return n
}

// cutParts finds the parts: every reader of the heads takes the same number of elements of each, or one of several parts.
func cutParts(r *pass.Rewrite, h *headParts) bool {
	y := h.reshape.Outputs[0]
	h.rank = len(y.Dims)
	dims := y.Dims
	if next := r.Network().Sole(y); next != nil && next.Op == graph.Transpose {
		h.transpose, y = next, next.Outputs[0]
	}
	if len(y.Users) == 0 || r.Network().IsOutput(y) || h.rank < 3 {
		return false
	}
	for _, u := range y.Users {
		if !cutPart(r, h, u) {
			return false
		}
	}
	last, _ := dims[h.rank-1].IsConst()
	before, _ := dims[h.rank-2].IsConst()
	switch h.axis {
	case h.rank - 1: // [heads][parts*size]; two halves are those of a rotary embedding
		if h.heads = before; h.size == 0 || last%h.size != 0 || last/h.size < 3 {
			return false
		}
		h.parts = last / h.size
	case h.rank - 2: // [heads][parts][size]
		if h.rank < 4 || h.size != 1 || before < 2 {
			return false
		}
		h.parts, h.size = before, last
		h.heads, _ = dims[h.rank-3].IsConst()
	case h.rank - 3: // [parts][heads][size]
		if h.rank < 5 || h.size != 1 {
			return false
		}
		h.parts, _ = dims[h.axis].IsConst()
		h.heads, h.size = 1, before*last
		return h.parts > 1 && h.parts*h.size == h.columns()
	default:
		return false
	}
	for i := range h.cuts {
		if h.axis == h.rank-1 {
			if h.cuts[i].part%h.size != 0 {
				return false
			}
			h.cuts[i].part /= h.size
		}
	}
	return h.heads > 1 && h.heads*h.parts*h.size == h.columns()
}

// cutPart notes what u cuts: where it begins stands for the part until the size is known.
func cutPart(r *pass.Rewrite, h *headParts, u *graph.Layer) bool {
	note := func(axis, first, count int, y *graph.Tensor) bool {
		if h.transpose != nil {
			perm, err := h.transpose.Attrs.(graph.TransposeAttrs).Resolve(h.rank)
			if err != nil {
				return false
			}
			axis = perm[axis]
		}
		if len(h.cuts) > 0 && (axis != h.axis || count != h.size) || r.Network().IsOutput(y) {
			return false
		}
		h.axis, h.size = axis, count
		h.cuts = append(h.cuts, headCut{u, y, first})
		return true
	}
	x := u.Inputs[0]
	positive := func(axis int) int {
		if axis < 0 {
			axis += len(x.Dims)
		}
		return axis
	}
	switch a := u.Attrs.(type) {
	case graph.SplitAttrs:
		axis, first := positive(a.Axis), 0
		for _, y := range u.Outputs {
			n, ok := y.Dims[axis].IsConst()
			if !ok || !note(axis, first, n, y) {
				return false
			}
			first += n
		}
		return true
	case graph.SliceAttrs:
		if len(u.OpInputs()) != 1 || len(a.Axes) != 1 || a.Steps != nil && a.Steps[0] != 1 {
			return false
		}
		axis := positive(a.Axes[0])
		n, ok := u.Outputs[0].Dims[axis].IsConst()
		all, ok2 := x.Dims[axis].IsConst()
		first := a.Starts[0]
		if first < 0 {
			first += all
		}
		return ok && ok2 && note(axis, max(0, first), n, u.Outputs[0])
	case graph.GatherAttrs:
		at, ok := u.Inputs[1].Ints()
		if !ok || len(at) != 1 || u.Inputs[0] != x || len(u.Inputs[1].Dims) > 1 {
			return false
		}
		axis := positive(a.Axis)
		all, ok := x.Dims[axis].IsConst()
		if at[0] < 0 {
			at[0] += all
		}
		return ok && note(axis, at[0], 1, u.Outputs[0])
	}
	return false
}

// partDims returns the dims of a part as the product has it, and as the heads have it; turned as the cuts read them.
func (h *headParts) partDims() (flat, heads, turned []symbolic.Dim) {
	flat, heads = slices.Clone(h.reshape.Inputs[0].Dims), slices.Clone(h.reshape.Outputs[0].Dims)
	flat[len(flat)-1] = symbolic.Const(h.heads * h.size)
	heads[h.axis] = symbolic.Const(1)
	if h.axis == h.rank-1 {
		heads[h.axis] = symbolic.Const(h.size)
	}
	if h.transpose == nil { // the cuts themselves say how
		return flat, nil, nil
	}
	perm, _ := h.transpose.Attrs.(graph.TransposeAttrs).Resolve(h.rank)
	for _, p := range perm {
		turned = append(turned, heads[p])
	}
	return flat, heads, turned
}

// shaped reports whether constant shapes say what becomes of the parts.
func (h *headParts) shaped() bool {
	flat, heads, turned := h.partDims()
	if h.transpose == nil {
		turned = flat
	} else if _, ok := match.ReshapeTo(&graph.Tensor{Dims: flat}, heads); !ok {
		return false
	}
	return !slices.ContainsFunc(h.cuts, func(c headCut) bool {
		_, ok := match.ReshapeTo(&graph.Tensor{Dims: turned}, c.y.Dims)
		return !ok && !symbolic.Equal(turned, c.y.Dims)
	})
}

// apart changes the order of the columns and gives each part a Reshape of its own, and returns the new layers.
func apart(r *pass.Rewrite, h *headParts) []*graph.Layer {
	if h.heads > 1 {
		reorder(r, h)
	}
	p := h.reshape.Inputs[0]
	from := h.reshape.From
	if h.transpose != nil {
		from = r.Sources(slices.Concat(from, h.transpose.From))
	}
	split := &graph.Layer{Name: h.reshape.Name + "_parts", Op: graph.Split, Attrs: graph.SplitAttrs{Axis: len(p.Dims) - 1}, Inputs: []*graph.Tensor{p}, From: from}
	flat, _, _ := h.partDims()
	for range h.parts {
		split.Outputs = append(split.Outputs, r.Network().NewTensor(p.Name+"_part", p.Type, flat))
	}
	split = r.Network().Insert(split)
	added := []*graph.Layer{split}
	for _, cut := range h.cuts {
		added = append(added, partOf(r, h, split.Outputs[cut.part], cut)...)
	}
	for _, cut := range h.cuts {
		if len(cut.by.Inputs) > 0 { // a Split is that of several
			r.Network().Remove(cut.by)
		}
	}
	if h.transpose != nil {
		r.Network().Remove(h.transpose)
	}
	r.Network().Remove(h.reshape)
	return added
}

// reorder changes the order of the product's columns, and gives it, and what is added to it, other results.
func reorder(r *pass.Rewrite, h *headParts) {
	axis, _ := h.product.Op.Product.Axes(h.product)
	h.product.SetInput(1, reordered(r, h, h.product.Inputs[1], axis))
	if b := h.product.Input(2); b != nil {
		h.product.SetInput(2, reordered(r, h, b, 0))
	}
	p := renamed(r, h.product)
	if h.bias != nil {
		for i, t := range h.bias.Inputs {
			if t.IsConst() {
				h.bias.SetInput(i, reordered(r, h, t, 0))
			} else {
				h.bias.SetInput(i, p)
			}
		}
		p = renamed(r, h.bias)
	}
	h.reshape.SetInput(0, p)
}

// renamed gives a layer, whose result is another one now, another tensor for it.
func renamed(r *pass.Rewrite, l *graph.Layer) *graph.Tensor {
	y := l.Outputs[0]
	l.SetOutput(0, r.Network().NewTensor(y.Name+"_parts", y.Type, y.Dims))
	return l.Outputs[0]
}

// partOf makes what a cut gave of a part: with the heads' axes as they were but for that of the parts, then as the cut had it.
func partOf(r *pass.Rewrite, h *headParts, x *graph.Tensor, cut headCut) []*graph.Layer {
	y := cut.y
	_, heads, turned := h.partDims()
	var added []*graph.Layer
	insert := func(l *graph.Layer, dims []symbolic.Dim, last bool) {
		l.Name, l.From = cut.by.Name, cut.by.From
		if last {
			y.Producer, l.Outputs = nil, []*graph.Tensor{y}
		} else {
			l.Outputs = []*graph.Tensor{r.Network().NewTensor(y.Name+"_heads", y.Type, dims)}
		}
		l = r.Network().Insert(l)
		x, added = l.Outputs[0], append(added, l)
	}
	if h.transpose != nil {
		shape, _ := match.ReshapeTo(x, heads)
		insert(r.Reshape(x, y.Name+"_shape", shape), heads, false)
		insert(&graph.Layer{Op: graph.Transpose, Attrs: h.transpose.Attrs, Inputs: []*graph.Tensor{x}}, turned, symbolic.Equal(turned, y.Dims))
	}
	if x != y {
		shape, _ := match.ReshapeTo(x, y.Dims)
		insert(r.Reshape(x, y.Name+"_cut", shape), y.Dims, true)
	}
	return added
}

// reordered returns a constant whose indices [heads][parts][size] of an axis have become [parts][heads][size].
func reordered(r *pass.Rewrite, h *headParts, t *graph.Tensor, axis int) *graph.Tensor {
	v, _ := t.Const()
	to := numeric.NewValue(v.Type, v.Dims...)
	n := v.Dims[axis]
	inner := numeric.Count(v.Dims[axis+1:]) * v.Type.Size()
	for i := range n {
		head, part, at := i/(h.parts*h.size), i/h.size%h.parts, i%h.size
		j := (part*h.heads+head)*h.size + at
		for outer := range numeric.Count(v.Dims[:axis]) {
			copy(to.Data[(outer*n+j)*inner:][:inner], v.Data[(outer*n+i)*inner:])
		}
	}
	return r.Network().AddConst(t.Name+"_parts", to)
}
