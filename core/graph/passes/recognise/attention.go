package recognise

import (
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Attention finds scaled dot-product attention in its parts:
//
//	q = Transpose(Reshape(x0, [B, S, H, D])) perm=[0 2 1 3]
//	k = Transpose(Reshape(x1, [B, S, H, D])) perm=[0 2 3 1]
//	v = Transpose(Reshape(x2, [B, S, H, D])) perm=[0 2 1 3]
//	s = MatMul(q, k)
//	t = Mul(s, 1/sqrt D)                  ->   y = Attention(x0, x1, x2, mask) heads=H
//	u = Add(t, mask)
//	p = Softmax(u)
//	o = MatMul(p, v)
//	y = Reshape(Transpose(o) perm=[0 2 1 3], [B, S, H*D])
//
// The factor may be before the product, on one operand or both, the mask added, selected by or both multiplied by and added, heads cut
// and joined by any moves, and keys and values repeated for groups of heads. Operands that no moves lead to from a projection are read as
// they are. A mask that is exactly the causal one becomes the attribute, of one that hides what is behind And more, the rest is the mask.
var Attention = pass.Pass{
	Name:  "recognise-attention",
	Doc:   "recognise attention that is written as several layers",
	Rules: []string{"attention", "attention-heads", "attention-mask", "norm-heads", "gather-in-order", "scatter-in-order"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			switch {
			case l.Epilogue.Args > 0:
				return false
			case l.Op == graph.Attention:
				return normHeads(r, l.Inputs[graph.AttentionQ]) || normHeads(r, l.Inputs[graph.AttentionK]) || cutsHeads(r, l) || seesByPlace(r, l)
			}
			switch l.Op {
			case graph.Softmax:
				return recogniseAttention(r, l)
			case graph.Gather, graph.GatherND:
				return gathersInOrder(r, l)
			case graph.ScatterND:
				return scattersInOrder(r, l)
			}
			return false
		})
	},
}

// attention is the match of an attention under way.
type attention struct {
	r               *pass.Rewrite
	scores, product *graph.Layer
	softmax         *graph.Layer
	inner           []*graph.Layer // between them, with them
	steps           int            // that were gone in search of the scores
	scale, softcap  float64
	factors         []*graph.Layer // that multiply or divide the scores by one number a row
	squashed        bool           // a tanh has been met
	sinks           *sinks         // nil for none
	masks           []mask
	reshaped        *graph.Layer // that gives the scores other rows
	fault           string       // what keeps the scores from being those of an attention
	draft           draft
}

// maxSteps bounds the search for the scores, which branches: what is added to them may be made of scores, too.
const maxSteps = 8 * maxWalk

func recogniseAttention(r *pass.Rewrite, l *graph.Layer) bool {
	a := &attention{r: r, softmax: l, scale: 1, inner: []*graph.Layer{l}}
	a.draft = draft{r: r, from: l.From}
	if a.scores = a.before(l.Inputs[0]); a.scores == nil {
		return false
	}
	if a.product = a.after(l.Outputs[0]); a.product == nil {
		return false
	}
	a.inner = append(a.inner, a.measuring()...)
	c := r.Candidate("attention", a.inner...)
	rank := len(a.scores.Outputs[0].Dims)
	s := l.Attrs.(graph.SoftmaxAttrs)
	last := len(l.Inputs[0].Dims) - 1
	switch {
	case s.Log || s.Axis != -1 && s.Axis != last:
		return c.Miss(pass.WrongAttribute, "the softmax is not over the keys")
	case a.sinks != nil && !a.sinks.dropped:
		return c.Miss(pass.WrongAttribute, "the weights of the sinks %s have values", a.sinks.joined.Inputs[1].Name)
	case a.fault != "":
		return c.Miss(pass.WrongAttribute, "%s", a.fault)
	case a.reshaped != nil && !keepsMatrices(a.beside(l.Inputs[0].Dims), a.scores.Outputs[0].Dims):
		return c.Miss(pass.WrongAttribute, "the scores are reshaped before the softmax, by %s", a.reshaped.Name)
	case !a.scalesRows():
		return c.Miss(pass.WrongAttribute, "the scores are scaled row by row in another shape, by %s", a.factors[0].Name)
	case rank < 3 || len(a.product.Inputs[0].Dims) < 3 || !sameRanks(a.scores) || !sameRanks(a.product):
		return c.Miss(pass.WrongShape, "the scores have %d dims", rank)
	case !match.IsFloat(a.scores.Outputs[0]) || a.scores.Outputs[0].Type != a.product.Outputs[0].Type:
		return c.Miss(pass.WrongType, "the scores are %s, the result is %s", a.scores.Outputs[0].Type, a.product.Outputs[0].Type)
	}
	if !c.Contained(a.product) {
		return false
	}
	h, ok := a.operands()
	if !ok {
		return c.Miss(pass.WrongShape, "%s, %s and %s do not have the shapes of queries, keys and values",
			a.scores.Inputs[0], a.scores.Inputs[1], a.product.Inputs[1])
	}
	if !a.sink(c, h) {
		return false
	}
	by, ok := a.layer(c, h)
	if !ok || !c.Has(by) || !c.Enabled() {
		return false
	}
	a.put(c, h, by)
	return true
}

func sameRanks(l *graph.Layer) bool { return len(l.Inputs[0].Dims) == len(l.Inputs[1].Dims) }

func (a *attention) take(l *graph.Layer) {
	if !slices.Contains(a.inner, l) {
		a.inner = append(a.inner, l)
	}
}

// before returns the product whose result t is, scaled and masked, and notes by what.
func (a *attention) before(t *graph.Tensor) *graph.Layer {
	l := t.Producer
	if a.steps++; l == nil || len(l.Outputs) != 1 || a.steps > maxSteps {
		return nil
	}
	x := l.Inputs[0]
	switch {
	case l.Epilogue.Args > 0:
		return nil
	case l.Op == graph.MatMul:
		a.take(l)
		return l
	case l.Op == graph.Cast && match.IsFloat(t) && match.IsFloat(x),
		l.Op.Memory == graph.Viewed && keepsMatrices(x.Dims, t.Dims):
		return a.through(l, x, func() {})
	case l.Op.Memory == graph.Viewed:
		return a.through(l, x, func() { a.reshaped = l })
	}
	if l.Op == graph.Concat {
		if found := a.joined(l); found != nil {
			return found
		}
	}
	if movesScores(l) {
		return a.moved(l)
	}
	if x, highest := shifted(l); x != nil {
		return a.through(l, x, func() { a.take(highest) })
	}
	if x, factor, ok := scaling(l); ok {
		return a.through(l, x, func() { a.multiply(factor) })
	}
	p, ok := graph.ProgramOf(l)
	if !ok || len(p.Code) != 1 {
		return nil
	}
	in := p.Code[0]
	var args []*graph.Tensor
	for _, v := range in.Arg[:in.Op.Info().Arity] {
		args = append(args, l.Inputs[v])
	}
	switch in.Op {
	case elementwise.Tanh:
		return a.through(l, x, a.squash)
	case elementwise.Mul, elementwise.Div:
		if args[0] == x && eachRow(args[1]) && symbolic.Equal(x.Dims, t.Dims) && args[1].Type == x.Type {
			return a.through(l, x, func() { a.multiplyRows(l) })
		}
		return a.multipliedBy(l, args)
	case elementwise.Add:
		for i := range 2 {
			if found := a.blended(l, args[i], args[1-i], 1); found != nil {
				return found
			}
		}
		for i := range 2 {
			if found := a.masked(l, args[i], mask{t: args[1-i]}, 1); found != nil {
				return found
			}
		}
		return a.widened(l, args)
	case elementwise.Max:
		for i := range 2 {
			least, ok := match.Scalar(args[1-i])
			if !symbolic.Equal(args[i].Dims, t.Dims) {
				continue
			}
			found := a.through(l, args[i], func() {
				if a.atLeast(least); !ok || least > vanishing {
					a.fault = "the scores are bounded by " + args[1-i].String()
				}
			})
			if found != nil {
				return found
			}
		}
	case elementwise.Sub:
		if found := a.blended(l, args[0], args[1], -1); found != nil {
			return found
		}
		if found := a.masked(l, args[0], mask{t: args[1]}, -1); found != nil {
			return found
		}
		return a.widened(l, args[:1])
	case elementwise.Select:
		for i := range 2 {
			if fill, ok := match.Scalar(args[2-i]); ok {
				if found := a.masked(l, args[1+i], mask{t: args[0], fill: fill, selects: true, negated: i == 1}, 1); found != nil {
					return found
				}
			}
		}
		return a.widened(l, args[1:])
	}
	return nil
}

// through goes on before l, whose input x has the scores, and notes what l does to them if it finds the product.
func (a *attention) through(l *graph.Layer, x *graph.Tensor, note func()) *graph.Layer {
	found := a.before(x)
	if found != nil {
		a.take(l)
		note()
	}
	return found
}

// masked is through for a mask, to which the scores do not broadcast, times a factor.
func (a *attention) masked(l *graph.Layer, x *graph.Tensor, m mask, factor float64) *graph.Layer {
	if !symbolic.Equal(x.Dims, l.Outputs[0].Dims) {
		return nil
	}
	m.dims = x.Dims
	return a.through(l, x, func() {
		if factor != 1 {
			m = a.multiplied(m, factor)
		}
		if a.masks = append(a.masks, m); a.sinks != nil {
			a.fault = "scores are masked with their sinks"
		}
	})
}

// multiply notes a factor of the scores, which may be that of a tanh.
func (a *attention) multiply(factor float64) {
	switch {
	case a.sinks != nil:
		a.fault = "scores are scaled with their sinks"
	case a.squashed && a.softcap == 0 && factor > 0 && len(a.masks) == 0:
		a.softcap, a.scale = factor, a.scale*factor
	case a.squashed:
		a.fault = "the scores are scaled after a tanh"
	default:
		a.scale *= factor
		for i := range a.masks {
			a.masks[i] = a.multiplied(a.masks[i], factor)
		}
	}
}

// multiplyRows notes that l multiplies or divides the scores by a number for each row.
func (a *attention) multiplyRows(l *graph.Layer) {
	if a.squashed || len(a.masks) > 0 || a.sinks != nil {
		a.fault = "the masked scores are scaled"
	}
	a.factors = append(a.factors, l)
}

// eachRow reports whether t has one number for a row, or for several of them.
func eachRow(t *graph.Tensor) bool { return len(t.Dims) > 0 && t.Dims[len(t.Dims)-1].Is(1) }

// scalesRows reports whether the rows that are scaled are those of the product.
func (a *attention) scalesRows() bool {
	return !slices.ContainsFunc(a.factors, func(l *graph.Layer) bool {
		return !symbolic.Equal(l.Outputs[0].Dims, a.scores.Outputs[0].Dims)
	})
}

// queries returns the operand of the product that has the queries, by the factors of their scores; nil if it is not known to take them.
func (a *attention) queries() *graph.Tensor {
	q := a.scores.Inputs[0]
	for _, l := range a.factors {
		if q = a.draft.layer(l.Outputs[0].Name+"_queries", l.Op, l.Attrs, q, l.Inputs[1]); q == nil {
			return nil
		}
	}
	return q
}

func (a *attention) squash() {
	if a.squashed || len(a.masks) > 0 || a.sinks != nil {
		a.fault = "the masked scores go through a tanh"
	}
	a.squashed = true
}

// keepsMatrices reports whether a change of shape leaves the last two axes as they are.
func keepsMatrices(from, to []symbolic.Dim) bool {
	return len(from) >= 2 && len(to) >= 2 && symbolic.Equal(from[len(from)-2:], to[len(to)-2:])
}

// after returns the product that weighs values by t, the result of the softmax.
func (a *attention) after(t *graph.Tensor) *graph.Layer {
	whole := t // what t has been reshaped from
	for range maxWalk {
		if s, isNaN := a.nanToZero(t); s != nil {
			a.take(isNaN)
			a.take(s)
			t = s.Outputs[0]
			continue
		}
		var next *graph.Layer
		for _, u := range t.Users {
			fits := u.Op.Memory == graph.Viewed || keepsMatrices(whole.Dims, t.Dims) && (u.Op == graph.Cast && match.IsFloat(u.Outputs[0]) || a.dropsSinks(u) || u.Op == graph.MatMul)
			if fits && len(u.Outputs) == 1 && u.Inputs[0] == t && u.Epilogue.Args == 0 {
				next = u
				break
			}
		}
		if next == nil {
			if next = a.movedAway(t); next == nil {
				return nil
			}
		}
		a.take(next)
		if next.Op == graph.MatMul {
			if next.Inputs[1] == t {
				return nil
			}
			return next
		}
		if t = next.Outputs[0]; next.Op.Memory != graph.Viewed {
			whole = t
		}
	}
	return nil
}

// nanToZero returns the layers that make t's NaN, which are of rows that see no key, zero.
func (a *attention) nanToZero(t *graph.Tensor) (s, isNaN *graph.Layer) {
	for _, u := range t.Users {
		p, ok := graph.ProgramOf(u)
		if !ok || len(p.Code) != 1 || p.Code[0].Op != elementwise.Select || u.Epilogue.Args > 0 {
			continue
		}
		in := p.Code[0]
		zero, ok := match.Scalar(u.Inputs[in.Arg[1]])
		test := u.Inputs[in.Arg[0]].Producer
		if !ok || zero != 0 || u.Inputs[in.Arg[2]] != t || test == nil {
			continue
		}
		q, ok := graph.ProgramOf(test)
		if ok && len(q.Code) == 2 && q.Args == 1 && test.Inputs[0] == t && q.Code[1].Op == elementwise.Not &&
			q.Code[0].Op == elementwise.Equal && q.Code[0].Arg[0] == 0 && q.Code[0].Arg[1] == 0 {
			return u, test
		}
	}
	return nil, nil
}

// layer returns the attention, whose result is in the form of y.
func (a *attention) layer(c *pass.Candidate, h operands) (*graph.Layer, bool) {
	inputs, ok := a.inputs(c, h)
	if !ok {
		return nil, false
	}
	attrs := graph.AttentionAttrs{Heads: h.heads, KVHeads: h.groups, Scale: float32(a.scale * h.q.scale * h.k.scale), Softcap: float32(a.softcap)}
	if attrs.Scale == 0 || math.IsInf(float64(attrs.Scale), 0) || attrs.Scale != attrs.Scale {
		return nil, c.Miss(pass.WrongAttribute, "the scores are scaled by %g", attrs.Scale)
	}
	m, causal, ok := a.mask(c, h)
	if !ok {
		return nil, false
	}
	if attrs.Causal = causal; m != nil {
		inputs = append(inputs, m)
	}
	if a.sinks != nil {
		inputs = append(inputs, make([]*graph.Tensor, graph.AttentionSinks+1-len(inputs))...)
		inputs[graph.AttentionSinks] = a.sinks.heads
	}
	return a.of(c, h, attrs, inputs)
}

// inputs returns queries, keys and values in their forms.
func (a *attention) inputs(c *pass.Candidate, h operands) ([]*graph.Tensor, bool) {
	list := make([]*graph.Tensor, 3)
	for i, f := range []form{h.q, h.k, h.v} {
		t := f.t
		if f.turned {
			t = a.draft.layer(t.Name+"_turned", graph.Transpose, graph.TransposeAttrs{Perm: swapped(len(t.Dims))}, t)
		}
		if list[i] = a.draft.reshape(t, f.dims); list[i] == nil {
			return nil, c.Miss(pass.WrongShape, "%s cannot be given the shape %s", t, symbolic.Format(f.dims))
		}
	}
	return list, true
}

// of returns the attention of these inputs.
func (a *attention) of(c *pass.Candidate, h operands, attrs graph.AttentionAttrs, inputs []*graph.Tensor) (*graph.Layer, bool) {
	y := &graph.Tensor{Name: h.y.t.Name, Type: h.y.t.Type, Dims: h.y.dims}
	by := &graph.Layer{Name: a.softmax.Name, Op: graph.Attention, Attrs: attrs, Inputs: inputs, Outputs: []*graph.Tensor{y}}
	if err := by.Infer(); err != nil || !symbolic.Equal(y.Dims, h.y.dims) {
		return nil, c.Miss(pass.WrongShape, "%s, %s and %s do not make %s", inputs[0], inputs[1], inputs[2], symbolic.Format(h.y.dims))
	}
	if !a.draft.shaped(by, h.y.t.Dims) {
		return nil, c.Miss(pass.WrongShape, "%s cannot be given the shape %s", y, symbolic.Format(h.y.t.Dims))
	}
	return by, true
}

// put makes the attention compute the result in place of its parts.
func (a *attention) put(c *pass.Candidate, h operands, by *graph.Layer) {
	gone := slices.Clone(a.inner)
	if a.sinks != nil {
		gone = append(gone, a.sinks.layers...)
	}
	for _, f := range []form{h.y, h.q, h.k, h.v} {
		for _, l := range f.layers {
			if !slices.Contains(gone, l) {
				gone = append(gone, l)
			}
		}
	}
	stand(c, &a.draft, h.y.t, by, append(gone, measured(gone)...))
}
