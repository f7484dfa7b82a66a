package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// piece is a part of an axis, in the sense in which [2, 3*4] has the pieces 2, 3 and 4: changes of shape join and cut axes
// between pieces, transpositions reorder them. An axis of extent 1 has none.
type piece struct {
	size     symbolic.Dim
	role     role
	repeated bool // what is along it are copies
}

// role says what an axis of an operand of an attention is.
type role uint8

const (
	batchRole role = iota // with heads, where the operand has but one axis for both
	headRole
	rowRole   // the places of the sequence
	depthRole // the elements of a head
)

// layout says where the pieces of an operand's axes are in a tensor that it was made of, or that is made of it.
type layout struct {
	axes  [][]*piece
	order []*piece // all of them, as the operand has them
	mixed bool     // the operand has one axis for batch and heads
}

// layoutOf returns the layout of an operand whose axes have the given roles.
func layoutOf(t *graph.Tensor, roles ...role) *layout {
	v := &layout{mixed: !slices.Contains(roles, headRole)}
	for i, d := range t.Dims {
		axis := []*piece{}
		if !d.Is(1) {
			axis = append(axis, &piece{size: d, role: roles[i]})
		}
		v.axes = append(v.axes, axis)
		v.order = append(v.order, axis...)
	}
	return v
}

// flat returns the pieces in the order of the tensor's elements.
func (v *layout) flat() []*piece { return slices.Concat(v.axes...) }

// of returns the pieces of a role, as the operand has them.
func (v *layout) of(r role) []*piece {
	var list []*piece
	for _, p := range v.order {
		if p.role == r {
			list = append(list, p)
		}
	}
	return list
}

// permute makes v the layout of a tensor whose axis i is axis perm[i] of the present one.
func (v *layout) permute(perm []int) {
	axes := make([][]*piece, len(perm))
	for i, p := range perm {
		axes[i] = v.axes[p]
	}
	v.axes = axes
}

// reshape makes v the layout of the same elements under other dims, cutting pieces where needed. It reports false where they
// do not fit.
func (v *layout) reshape(dims []symbolic.Dim) bool {
	left := v.flat()
	axes := make([][]*piece, len(dims))
	for i, d := range dims {
		for !d.Is(1) {
			if len(left) == 0 {
				return false
			}
			p := left[0]
			if rest, ok := exactly(d, p.size); ok {
				axes[i], left, d = append(axes[i], p), left[1:], rest
				continue
			}
			rest, ok := exactly(p.size, d)
			if !ok {
				return false
			}
			a, b := &piece{d, p.role, p.repeated}, &piece{rest, p.role, p.repeated}
			axes[i], left, d = append(axes[i], a), append([]*piece{b}, left[1:]...), symbolic.Const(1)
			v.order = slices.Replace(v.order, slices.Index(v.order, p), slices.Index(v.order, p)+1, a, b)
		}
	}
	v.axes = axes
	return len(left) == 0
}

// exactly returns d / by where nothing is left.
func exactly(d, by symbolic.Dim) (symbolic.Dim, bool) {
	if by.Is(0) {
		return symbolic.Dim{}, false
	}
	q := d.Div(by)
	return q, q.Mul(by).Equal(d)
}

// narrow makes v the layout of a tensor of the given dims that is repeated to the present ones, from out, along axes of
// extent 1.
func (v *layout) narrow(dims, out []symbolic.Dim) bool {
	more := len(out) - len(dims)
	if more < 0 {
		return false
	}
	for i, d := range out {
		if i >= more && dims[i-more].Equal(d) {
			continue
		}
		if i >= more && !dims[i-more].Is(1) {
			return false
		}
		for _, p := range v.axes[i] {
			p.repeated = true
		}
		v.axes[i] = nil
	}
	v.axes = v.axes[more:]
	return true
}

// form is a tensor that can be an operand of an attention, or its result, with the heads in the last axis or in one of their own.
type form struct {
	t                  *graph.Tensor
	dims               []symbolic.Dim // that t is to be brought to: [batch, rows, heads*depth] or [batch, heads, rows, depth]
	batch, rows, depth symbolic.Dim
	heads, repeats     symbolic.Dim // heads that there are, and how often each is repeated
	scale              float64      // by which it is multiplied then
	layers             []*graph.Layer
	turned             bool // the last two axes of t are to be swapped first
}

// asIs reports whether t need not be reshaped.
func (f form) asIs() bool { return !f.turned && symbolic.Equal(f.t.Dims, f.dims) }

// forms returns the forms that a tensor of the layout v has: of each number of axes one for each way in which pieces can be
// batch or heads.
func (v *layout) forms(t *graph.Tensor) []form {
	lead, rows, depth := v.of(batchRole), v.of(rowRole), v.of(depthRole)
	if slices.ContainsFunc(slices.Concat(rows, depth), func(p *piece) bool { return p.repeated }) {
		return nil
	}
	var list []form
	cut, heads := len(lead), v.of(headRole)
	if v.mixed {
		cut = 0
	}
	for ; cut <= len(lead); cut++ {
		batch, heads := lead[:cut], slices.Concat(lead[cut:], heads)
		own := slices.DeleteFunc(slices.Clone(heads), func(p *piece) bool { return p.repeated })
		if slices.ContainsFunc(batch, func(p *piece) bool { return p.repeated }) || !slices.Equal(own, heads[:len(own)]) {
			continue // heads that are repeated as a whole are not those of an attention
		}
		f := form{t: t, batch: count(batch), rows: count(rows), depth: count(depth), heads: count(own), repeats: count(heads[len(own):]), scale: 1}
		flat := v.flat()
		if slices.Equal(flat, slices.Concat(batch, rows, own, depth)) {
			f.dims = []symbolic.Dim{f.batch, f.rows, f.heads.Mul(f.depth)}
			list = append(list, f)
		}
		if slices.Equal(flat, slices.Concat(batch, own, rows, depth)) {
			f.dims = []symbolic.Dim{f.batch, f.heads, f.rows, f.depth}
			list = append(list, f)
		}
	}
	return list
}

// count returns the product of the sizes.
func count(list []*piece) symbolic.Dim {
	n := symbolic.Const(1)
	for _, p := range list {
		n = n.Mul(p.size)
	}
	return n
}

// maxWalk bounds the layers between a projection and the product.
const maxWalk = 32

// operandForms returns the forms in which the operand t of a product can be read, the best first: t itself and what it was made of by
// moves, repetitions and, if it may be scaled, factors.
func operandForms(r *pass.Rewrite, t *graph.Tensor, scaled bool, roles ...role) []form {
	v, scale := layoutOf(t, roles...), 1.0
	var list []form
	var layers []*graph.Layer
	for range maxWalk {
		for _, f := range v.forms(t) {
			f.scale, f.layers = scale, slices.Clone(layers)
			list = append(list, f)
		}
		l := t.Producer
		if l == nil || len(l.Outputs) != 1 || l.Epilogue.Args > 0 {
			break
		}
		x, factor, ok := v.before(l, scaled)
		if !ok {
			break
		}
		t, scale, layers = x, scale*factor, append(layers, l)
	}
	return preferred(list)
}

// before makes v, the layout of l's output, that of the input which it moves or multiplies by a constant factor.
func (v *layout) before(l *graph.Layer, scaled bool) (x *graph.Tensor, factor float64, ok bool) {
	if len(l.Inputs) == 0 || l.Inputs[0] == nil {
		return nil, 0, false
	}
	x = l.Inputs[0]
	y := l.Outputs[0]
	switch {
	case x.Type != y.Type:
		return nil, 0, false
	case l.Op == graph.Transpose:
		v.permute(match.Inverse(match.Perm(l)))
		return x, 1, true
	case l.Op.Memory == graph.Viewed:
		return x, 1, v.reshape(x.Dims)
	case l.Op == graph.Expand, l.Op == graph.Tile:
		return x, 1, v.narrow(x.Dims, y.Dims)
	case !scaled:
		return nil, 0, false
	}
	x, factor, ok = scaling(l)
	return x, factor, ok
}

// scaling returns what l multiplies by a constant factor, and the factor.
func scaling(l *graph.Layer) (*graph.Tensor, float64, bool) {
	p, ok := graph.ProgramOf(l)
	if !ok || l.Epilogue.Args > 0 {
		return nil, 0, false
	}
	if s, ok := timesImmediate(p); ok && l.Inputs[0].Type == l.Outputs[0].Type {
		return l.Inputs[0], s, true
	}
	if len(p.Code) != 1 || len(l.Inputs) != 2 {
		return nil, 0, false
	}
	in := p.Code[0]
	for i := range 2 {
		x, k := l.Inputs[in.Arg[i]], l.Inputs[in.Arg[1-i]]
		s, ok := match.Scalar(k)
		if !ok || !symbolic.Equal(x.Dims, l.Outputs[0].Dims) || x.Type != l.Outputs[0].Type {
			continue
		}
		switch {
		case in.Op == elementwise.Mul:
			return x, s, true
		case in.Op == elementwise.Div && i == 0 && s != 0:
			return x, 1 / s, true
		}
	}
	return nil, 0, false
}

// timesImmediate returns the number that a program multiplies its only argument by.
func timesImmediate(p elementwise.Program) (float64, bool) {
	if p.Args != 1 || len(p.Code) != 2 || p.Code[0].Op != elementwise.Const || p.Code[1].Op != elementwise.Mul {
		return 0, false
	}
	a, b := p.Code[1].Arg[0], p.Code[1].Arg[1]
	return float64(p.Code[0].Imm[0]), min(a, b) == 0 && max(a, b) == 1
}

// resultForms returns the forms in which t, the result of a product, can be written, the best first: as itself, or as what is made of
// it by moves and is all that is made of it.
func resultForms(r *pass.Rewrite, t *graph.Tensor, roles ...role) []form {
	v := layoutOf(t, roles...)
	var list []form
	var layers []*graph.Layer
	for range maxWalk {
		for _, f := range v.forms(t) {
			f.layers = slices.Clone(layers)
			list = append(list, f)
		}
		l := r.Network().Sole(t)
		if l == nil || len(l.Outputs) != 1 || l.Inputs[0] != t || l.Epilogue.Args > 0 {
			break
		}
		y := l.Outputs[0]
		if l.Op == graph.Transpose {
			v.permute(match.Perm(l))
		} else if l.Op.Memory != graph.Viewed || y.Type != t.Type || !v.reshape(y.Dims) {
			break
		}
		t, layers = y, append(layers, l)
	}
	return preferred(list)
}

// preferred sorts forms: those with the heads in the last axis come first, of these what needs no change of shape, of these what is
// farthest from the product.
func preferred(list []form) []form {
	slices.Reverse(list)
	weight := func(f form) int {
		w := len(f.dims) * 2
		if !f.asIs() {
			w++
		}
		return w
	}
	slices.SortStableFunc(list, func(a, b form) int { return weight(a) - weight(b) })
	return list
}
