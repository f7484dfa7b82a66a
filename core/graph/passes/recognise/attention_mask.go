package recognise

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// mask is what is added to scores, or where they are replaced.
type mask struct {
	t       *graph.Tensor // added, or, if it selects, true where scores stay
	negated bool          // it selects, and is true where scores go
	selects bool
	fill    float64        // what takes their place
	dims    []symbolic.Dim // of the scores at that place
}

// hidden is what the scores of keys that are not to be seen have at most: half precision goes as far, and exp of it is 0 beside any
// score within 9000 of it.
const hidden = -10000

// vanishing is a number to which a score may be added without changing it.
const vanishing = -1e30

// mask returns the mask of the attention, nil if there is none, and whether it is causal beside it.
func (a *attention) mask(c *pass.Candidate, h operands) (m *graph.Tensor, causal, ok bool) {
	var added, seen *graph.Tensor
	var masks []mask
	for _, m := range a.added() {
		if !keepsMatrices(m.dims, a.scores.Outputs[0].Dims) {
			masks = append(masks, m)
			continue
		}
		masks = append(masks, m.parts()...)
		if fill, ok := m.hidesBehind(h.q.rows, h.k.rows); ok {
			c.Note("%s hides what is causal and more by %g: a row of that alone is a mean over all keys, so it stays whole", m.t.Name, fill)
		}
	}
	for _, m := range masks {
		if m.doesNothing() {
			continue
		}
		if keepsMatrices(m.dims, a.scores.Outputs[0].Dims) && m.isCausal(h.q.rows, h.k.rows) {
			causal = true
			continue
		}
		t, selects, ok := a.plain(c, m)
		if !ok {
			return nil, false, false
		}
		if t = a.placed(t, m.dims, h); t == nil {
			return nil, false, c.Miss(pass.WrongShape, "the mask %s has %d dims, the scores %s", m.t, len(m.t.Dims), symbolic.Format(m.dims))
		}
		switch {
		case selects && seen != nil:
			seen = a.draft.layer(t.Name+"_and", match.Ops().Named("And"), graph.Elementwise{Program: elementwise.Binary(elementwise.And)}, seen, t)
		case selects:
			seen = t
		case added != nil:
			added = a.draft.layer(t.Name+"_sum", match.Ops().Named("Add"), graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, added, t)
		default:
			added = t
		}
	}
	switch {
	case seen == nil:
		return added, causal, true
	case added == nil:
		return seen, causal, true
	}
	return a.choose(seen, added, a.number("hidden", added.Type, math.Inf(-1))), causal, true
}

// added returns the masks, of which those that are added to scores in another shape than the product's, one after the other, are one:
//
//	t = Reshape(s, [B, H, W, H, W])
//	u = Add(t, rows [B, H, W, H, 1])         ->   mask = Reshape(Add(rows, columns), [B, H*W, H*W])
//	v = Add(u, columns [B, H, W, 1, W])
//	w = Reshape(v, [B, H*W, H*W])
func (a *attention) added() []mask {
	scores := a.scores.Outputs[0].Dims
	var masks []mask
	for _, m := range a.masks {
		if n := len(masks) - 1; n >= 0 && !m.selects && !masks[n].selects && symbolic.Equal(m.dims, masks[n].dims) && !keepsMatrices(m.dims, scores) {
			add := graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}
			if t := a.draft.layer(m.t.Name+"_sum", match.Ops().Named("Add"), add, masks[n].t, m.t); t != nil {
				masks[n].t = t
				continue
			}
		}
		masks = append(masks, m)
	}
	return masks
}

// multiplied returns the mask of scores that are multiplied once they are masked.
func (a *attention) multiplied(m mask, factor float64) mask {
	if m.selects {
		m.fill *= factor
	} else {
		m.t = a.times(m.t, factor)
	}
	return m
}

// atLeast notes that masked scores become no less than a number beside which scores vanish: so does their mask.
func (a *attention) atLeast(least float64) {
	switch {
	case a.sinks != nil:
		a.fault = "scores are bounded with their sinks"
	case len(a.masks) > 1:
		a.fault = "the scores are bounded behind several masks"
	case len(a.masks) == 1 && a.masks[0].selects:
		a.masks[0].fill = max(a.masks[0].fill, least)
	case len(a.masks) == 1:
		m := &a.masks[0]
		m.t = a.changed(m.t, "_bounded", "Max", elementwise.Max, a.number("least", m.t.Type, least))
	}
}

// times returns t multiplied by a factor.
func (a *attention) times(t *graph.Tensor, factor float64) *graph.Tensor {
	return a.changed(t, "_times", "Mul", elementwise.Mul, a.number("factor", t.Type, factor))
}

// changed returns what an operation makes of t and a constant of one element, a constant where t is one.
func (a *attention) changed(t *graph.Tensor, suffix, op string, code elementwise.Op, k *graph.Tensor) *graph.Tensor {
	name, by, attrs := t.Name+suffix, match.Ops().Named(op), graph.Elementwise{Program: elementwise.Binary(code)}
	if x, ok := t.Const(); ok {
		n, _ := k.Const()
		y := numeric.NewValue(t.Type, x.Dims...)
		l := &graph.Layer{Name: name, Op: by, Attrs: attrs, Inputs: []*graph.Tensor{t, k}, Outputs: []*graph.Tensor{{Name: name, Type: t.Type, Dims: t.Dims}}}
		if l.Eval([]numeric.Value{x, n}, []numeric.Value{y}) == nil {
			return a.draft.constant(name, y)
		}
	}
	return a.draft.layer(name, by, attrs, t, k)
}

// number returns a constant of one element.
func (a *attention) number(name string, t numeric.DataType, v float64) *graph.Tensor {
	x := numeric.NewValue(t)
	numeric.FromReal(x, []float32{float32(v)}, numeric.Range{})
	return a.draft.constant(a.softmax.Name+"_"+name, x)
}

// choose returns x where t is true and y elsewhere.
func (a *attention) choose(t, x, y *graph.Tensor) *graph.Tensor {
	p := elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}
	return a.draft.layer(t.Name+"_mask", match.Ops().Named("Where"), graph.Elementwise{Program: p}, t, x, y)
}

// plain returns a mask as one that is added, or as one that is true where scores stay, or records why it is neither.
func (a *attention) plain(c *pass.Candidate, m mask) (t *graph.Tensor, selects, ok bool) {
	switch {
	case !m.selects:
		return m.t, false, true
	case m.t.Type != numeric.Bool && !isZeroOrOne(m.t):
		return nil, false, c.Miss(pass.WrongType, "the mask %s is %s", m.t, m.t.Type)
	}
	if m.t = a.truth(m.t); m.t == nil {
		return nil, false, false
	}
	switch {
	case math.IsInf(m.fill, -1), m.fill <= hidden && m.leavesSome():
		if !m.negated {
			return m.t, true, true
		}
		if l := m.t.Producer; l != nil {
			if p, ok := graph.ProgramOf(l); ok && len(p.Code) == 1 && p.Code[0].Op == elementwise.Not && l.Inputs[0].Type == numeric.Bool {
				return l.Inputs[0], true, true
			}
		}
		t := a.draft.layer(m.t.Name+"_not", match.Ops().Named("Not"), graph.Elementwise{Program: elementwise.Unary(elementwise.Not)}, m.t)
		return t, true, true
	case m.fill <= vanishing:
		zero, fill := a.number("zero", numeric.F32, 0), a.number("hidden", numeric.F32, m.fill)
		if m.negated {
			zero, fill = fill, zero
		}
		return a.choose(m.t, zero, fill), false, true
	}
	return nil, false, c.Miss(pass.WrongAttribute, "masked scores become %g, which may be all of a row", m.fill)
}

// placed returns a mask of scores in a shape with the axes of an attention's mask; nil if its own are others.
func (a *attention) placed(t *graph.Tensor, scores []symbolic.Dim, h operands) *graph.Tensor {
	n := len(t.Dims)
	full := []symbolic.Dim{h.q.batch, h.q.heads, h.q.rows, h.k.rows}
	switch {
	case !keepsMatrices(scores, full):
	case n <= 2, n <= 4 && symbolic.Equal(scores, full):
		return t
	case allOnes(t.Dims[:n-2]):
		return a.draft.reshape(t, t.Dims[n-2:])
	}
	return a.regrouped(t, scores, full)
}

// regrouped returns t, which broadcasts to from, so that it broadcasts to other dims of as many elements. Of axes that are one there, or
// one of which is several there, t has all or none; it is expanded along the others. Nil where extents are not known well enough.
func (a *attention) regrouped(t *graph.Tensor, from, to []symbolic.Dim) *graph.Tensor {
	one := symbolic.Const(1)
	wide := slices.Concat(slices.Repeat([]symbolic.Dim{one}, len(from)-len(t.Dims)), t.Dims)
	dims := slices.Clone(to)
	for i, j := 0, 0; i < len(from) || j < len(to); {
		m, n := commonAxes(from[i:], to[j:])
		if m+n == 0 {
			return nil
		}
		switch {
		case m == 1 && n == 1:
			dims[j] = wide[i]
		case allOnes(wide[i : i+m]):
			copy(dims[j:j+n], slices.Repeat([]symbolic.Dim{one}, n))
		default:
			copy(wide[i:i+m], from[i:])
		}
		i, j = i+m, j+n
	}
	if t = a.expanded(t, wide); t == nil {
		return nil
	}
	return a.draft.reshape(t, dims)
}

// commonAxes returns how many of the first axes of either shape have as many elements as those of the other; none where that is not known.
func commonAxes(from, to []symbolic.Dim) (m, n int) {
	x, y := symbolic.Const(1), symbolic.Const(1)
	if len(from) > 0 {
		x, m = from[0], 1
	}
	if len(to) > 0 {
		y, n = to[0], 1
	}
	for !x.Equal(y) {
		switch {
		case m < len(from) && divides(x, y):
			x, m = x.Mul(from[m]), m+1
		case n < len(to) && divides(y, x):
			y, n = y.Mul(to[n]), n+1
		default:
			return 0, 0
		}
	}
	return m, n
}

// divides reports whether y is known to be a multiple of x.
func divides(x, y symbolic.Dim) bool { return !x.Is(0) && y.Div(x).Mul(x).Equal(y) }

// expanded returns t broadcast to dims; nil where an axis would become one of an extent that no input of the network has.
func (a *attention) expanded(t *graph.Tensor, dims []symbolic.Dim) *graph.Tensor {
	own := len(dims) - len(t.Dims)
	if symbolic.Equal(t.Dims, dims[own:]) && allOnes(dims[:own]) {
		return t
	}
	shape := slices.Clone(dims)
	for i := range t.Dims {
		if t.Dims[i].Equal(dims[own+i]) {
			shape[own+i] = symbolic.Const(1)
		}
	}
	s := a.draft.extents(t.Name+"_extents", shape, false)
	if s == nil {
		return nil
	}
	return a.draft.layer(t.Name+"_expanded", graph.Expand, nil, t, s)
}

// leavesSome reports whether a constant mask leaves some score of each row.
func (m mask) leavesSome() bool {
	v, ok := m.t.Const()
	if !ok || len(v.Dims) == 0 || v.Dims[len(v.Dims)-1] == 0 {
		return false
	}
	n := v.Dims[len(v.Dims)-1]
	for row := 0; row < len(v.Data); row += n {
		some := false
		for _, b := range v.Data[row : row+n] {
			some = some || (b != 0) != m.negated
		}
		if !some {
			return false
		}
	}
	return true
}

// seesByPlace leaves out what a mask of an attention's has that follows from places alone: the causal one, and one that hides nothing.
func seesByPlace(r *pass.Rewrite, l *graph.Layer) bool {
	t, q, k := l.Input(graph.AttentionMask), l.Inputs[graph.AttentionQ].Dims, l.Inputs[graph.AttentionK].Dims
	if t == nil || l.Input(graph.AttentionPastK) != nil || l.Input(graph.AttentionKVLengths) != nil {
		return false
	}
	keys, n := k[len(k)-2], len(t.Dims)
	if !t.Dims[n-1].Equal(keys) { // keys behind the end of a shorter one are not seen
		return false
	}
	m := mask{t: t, selects: t.Type == numeric.Bool, fill: math.Inf(-1), dims: t.Dims}
	rows := q[len(q)-2]
	causal, rest := false, []mask(nil)
	for _, part := range m.parts() {
		rank := len(part.t.Dims)
		switch {
		case part.doesNothing():
		case rank > 1 && part.t.Dims[rank-2].Equal(rows) && part.t.Dims[rank-1].Equal(keys) && part.isCausal(rows, keys):
			causal = true
		default:
			rest = append(rest, part)
		}
	}
	inputs := l.Inputs[:graph.AttentionMask:graph.AttentionMask]
	if len(rest) > 0 {
		x := rest[0].t
		if len(rest) > 1 || rest[0].negated || x == t || !x.Dims[len(x.Dims)-1].Equal(keys) {
			return false
		}
		inputs = append(inputs, x)
		inputs = append(inputs, l.Inputs[len(inputs):]...)
	}
	c := r.Candidate("attention-mask", l)
	attrs := l.Attrs.(graph.AttentionAttrs)
	attrs.Causal = attrs.Causal || causal
	by := &graph.Layer{Name: l.Name, Op: l.Op, Attrs: attrs, Inputs: inputs, Outputs: l.Outputs}
	if len(l.Outputs) != 1 || !c.Has(by) || !c.Enabled() {
		return false
	}
	return c.Fire(r.Replace(l, by))
}

// doesNothing reports whether the mask leaves all scores as they are.
func (m mask) doesNothing() bool {
	v, ok := newSurveyor().number(m.t)
	return ok && !v.choice && v.constant() && (v.at != 0) == (m.selects && !m.negated)
}

// isCausal reports whether the mask hides exactly the keys behind each query, and does nothing else.
func (m mask) isCausal(rows, keys symbolic.Dim) bool {
	if m.selects && !(m.fill <= hidden) {
		return false
	}
	n := len(m.t.Dims)
	if n < 2 || !meets(m.t.Dims[n-2], rows) || !meets(m.t.Dims[n-1], keys) {
		return false
	}
	if v, ok := newSurveyor().number(m.t); ok {
		seen, gone, ok := v.isCausal()
		switch {
		case !m.selects:
			return ok && seen == 0 && gone <= hidden
		case m.negated:
			return ok && seen == 0 && gone != 0
		}
		return ok && seen != 0 && gone == 0
	}
	v, ok := corner(m.t).Const()
	if !ok {
		return false
	}
	columns := v.Dims[len(v.Dims)-1]
	size := columns * v.Dims[len(v.Dims)-2]
	for i := range v.Len() {
		row, column := i%size/columns, i%columns
		if m.stays(v, i, column <= row) != (column <= row) {
			return false
		}
	}
	return v.Len() > 0
}

// meets reports whether the extent d of a mask is that of the scores, to which it is no broadcast.
func meets(d, scores symbolic.Dim) bool {
	_, known := d.IsConst()
	return d.Equal(scores) || !known && !d.Is(1)
}

// stays reports whether element i of a constant mask leaves its score as it is; of one that is neither hidden nor left, the answer
// is that which is not expected.
func (m mask) stays(v numeric.Value, i int, expected bool) bool {
	if m.selects {
		size := v.Type.Size()
		return slices.ContainsFunc(v.Data[i*size:(i+1)*size], func(b byte) bool { return b != 0 }) != m.negated
	}
	switch x := v.Floats()[i]; {
	case x == 0:
		return true
	case x <= hidden:
		return false
	}
	return !expected
}

// corner returns the tensor whose upper left corner t is, in its last two axes.
func corner(t *graph.Tensor) *graph.Tensor {
	for {
		l := t.Producer
		if l == nil || l.Epilogue.Args > 0 {
			return t
		}
		x := l.Inputs[0]
		switch {
		case l.Op == graph.Slice && cutsEnds(l):
		case l.Op.Memory == graph.Viewed && len(x.Dims) >= 2 && keepsMatrices(x.Dims, t.Dims):
		case l.Op == graph.Expand && len(x.Dims) >= 2 && keepsMatrices(x.Dims, t.Dims):
		default:
			return t
		}
		t = x
	}
}

// cutsEnds reports whether a Slice takes the beginning of each axis.
func cutsEnds(l *graph.Layer) bool {
	starts, steps, ok := sliceStarts(l)
	if !ok {
		return false
	}
	for _, s := range starts {
		if s != 0 {
			return false
		}
	}
	for _, s := range steps {
		if s != 1 {
			return false
		}
	}
	return len(starts) > 0
}
