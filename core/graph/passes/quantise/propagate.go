package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// Propagate moves Dequantize behind, and Quantize before, layers that only move elements or take their
// maximum, so that these work on integers and pairs meet. Both are exact: the map between integers and real numbers is
// monotonic and the same for all elements.
//
//	t = DequantizeLinear(q)                         s = MaxPool(q)
//	y = MaxPool(t)                             ->   y = DequantizeLinear(s)
//
//	t = Concat(a, b)                                p = QuantizeLinear(a), q = QuantizeLinear(b)
//	y = QuantizeLinear(t)                      ->   y = Concat(p, q)
var Propagate = pass.Pass{
	Name:  "propagate-quantization",
	Doc:   "layers that only move elements work on integers",
	Rules: []string{"quantize-earlier", "dequantize-later"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(q *graph.Layer) bool { return quantizeEarlier(r, q) }) // first, since it keeps the quantised tensor and its name
		r.Each(func(l *graph.Layer) bool { return dequantizeLater(r, l) })
	},
}

// isQuantize reports whether l quantises to 8 bits by a range that is known and [increases].
func isQuantize(l *graph.Layer) bool {
	return l != nil && l.Op == graph.Quantize && len(l.Inputs) == 1 && increases(l.Attrs.(graph.QuantAttrs).Range) &&
		isByte(l.Attrs.(graph.QuantAttrs).Type) && match.IsFloat(l.Inputs[0])
}

// isByte reports whether t is one of the types in which layers compute on integers.
func isByte(t numeric.DataType) bool { return t == numeric.I8 || t == numeric.U8 }

// increases reports whether a range is known by which greater integers are greater numbers: then a maximum of the ones is that of
// the others, and what is clamped in the one is clamped in the other. ONNX does not say that scales are positive.
func increases(r numeric.Range) bool {
	return r.IsSet() && !slices.ContainsFunc(r.Scale, func(s float32) bool { return !(s > 0) })
}

// IsDequantize reports whether l gives the real numbers of integers by a range that is known and [increases].
func IsDequantize(l *graph.Layer) bool {
	return dequantizes(l) && increases(l.Attrs.(graph.QuantAttrs).Range)
}

// dequantizes reports whether l gives the real numbers of integers by a range that is known.
func dequantizes(l *graph.Layer) bool {
	return l != nil && l.Op == graph.Dequantize && len(l.Inputs) == 1 && l.Attrs.(graph.QuantAttrs).Range.IsSet() &&
		l.Attrs.(graph.QuantAttrs).Type == numeric.F32
}

// moves reports whether l only moves the elements of its data inputs as they are stored, or takes their maximum. Where an
// index says which, and where the layer names the type of its result, the elements stay real.
func moves(l *graph.Layer) bool {
	other := func(y *graph.Tensor) bool { return y.Type != l.Inputs[0].Type } // of another kind, such as the places of maxima
	return l.Op.Reals == graph.AsStored && l.Op.Class != graph.ClassLookup && l.Op.Class != graph.ClassConversion && l.Movement() >= graph.Filled &&
		!slices.ContainsFunc(l.Outputs, other) && given(l, graph.Fill) == nil
}

// given returns the input of a role, nil where it is left out.
func given(l *graph.Layer, role graph.Role) *graph.Tensor {
	if i := l.Op.Input(role); i >= 0 {
		return l.Input(i)
	}
	return nil
}

func dequantizeLater(r *pass.Rewrite, l *graph.Layer) bool {
	if !moves(l) || slices.Contains(l.Inputs[:l.DataInputs()], nil) || !IsDequantize(l.Inputs[0].Producer) {
		return false
	}
	c := r.Candidate("dequantize-later", l)
	var sources []*graph.Tensor
	var from []string
	first := l.Inputs[0].Producer
	a := first.Attrs.(graph.QuantAttrs)
	for _, t := range l.Inputs[:l.DataInputs()] {
		d := t.Producer
		if !IsDequantize(d) {
			return c.Miss(pass.NotQuantized, "%s is not quantised", t.Name)
		}
		q, ok := quantisedInput(c, d)
		if !ok {
			return false
		}
		if q.Type != first.Inputs[0].Type || !d.Attrs.(graph.QuantAttrs).Range.Equal(a.Range) {
			return c.Miss(pass.RangesDiffer, "%s and %s", first.Inputs[0], q)
		}
		sources, from = append(sources, q), append(from, d.From...)
	}
	if a.Range.PerChannel() && !sources[0].IsConst() {
		return c.Miss(pass.WrongAttribute, "%s has a scale per channel", sources[0].Name)
	}
	if !holdsFill(l, a.Range, sources[0].Type) {
		return c.Miss(pass.RangesDiffer, "%s fills with a number that %s has no integer for", l.Name, sources[0].Name)
	}
	proposal := *l
	proposal.Inputs = slices.Concat(sources, l.Inputs[len(sources):])
	proposal.Outputs = nil
	for _, y := range l.Outputs {
		proposal.Outputs = append(proposal.Outputs, &graph.Tensor{Name: y.Name + "_quantized", Type: sources[0].Type, Dims: y.Dims, Range: a.Range})
	}
	if proposal.Infer() != nil || !proposal.Outputs[0].Range.IsSet() {
		return c.Miss(pass.WrongShape, "the scales of %s do not follow", sources[0].Name)
	}
	constant := !slices.ContainsFunc(sources, func(t *graph.Tensor) bool { return !t.IsConst() }) // it will be folded
	if !constant && !c.Supported(&proposal) || !c.Enabled() {
		return false
	}
	moveDequantize(r, c, l, &proposal, from)
	return true
}

// holdsFill reports whether the number that a layer fills with, if any, is exactly one of the integers of a range.
func holdsFill(l *graph.Layer, r numeric.Range, t numeric.DataType) bool {
	p, ok := l.Attrs.(graph.PadAttrs)
	if !ok || p.Mode != "constant" {
		return true
	}
	if r.PerChannel() { // a different integer in each channel, but for 0
		return p.Value == 0 && !slices.ContainsFunc(r.Zero, func(z int32) bool { return z != 0 })
	}
	q := numeric.NewValue(t)
	r.Quantize(q, []float32{p.Value})
	return r.Dequantize(q)[0] == p.Value
}

// moveDequantize makes l read integers and puts a Dequantize behind each of its outputs.
func moveDequantize(r *pass.Rewrite, c *pass.Candidate, l, proposal *graph.Layer, from []string) {
	into := []*graph.Layer{l}
	before := slices.Clone(l.Inputs[:l.DataInputs()])
	for i := range before {
		l.SetInput(i, proposal.Inputs[i])
	}
	for i, y := range slices.Clone(l.Outputs) {
		p := proposal.Outputs[i]
		s := r.Network().NewTensor(p.Name, p.Type, p.Dims)
		s.Range = p.Range
		l.SetOutput(i, s)
		into = append(into, r.Network().Insert(&graph.Layer{Name: y.Name + "_dequantize", Op: graph.Dequantize,
			Attrs: graph.QuantAttrs{Range: p.Range, Type: y.Type}, Inputs: []*graph.Tensor{s}, Outputs: []*graph.Tensor{y}, From: fromOr(r, from, l)}))
	}
	for _, t := range before {
		if d := t.Producer; d != nil && r.Network().Layer(d.Name) == d && !r.Used(d) {
			c.Found = append(c.Found, d)
			r.Network().Remove(d)
		}
	}
	c.Fire(into...)
}

// fromOr returns the source layers of a layer that is made of others: their names in order.
func fromOr(r *pass.Rewrite, from []string, l *graph.Layer) []string {
	if list := r.Sources(from); len(list) > 0 {
		return list
	}
	if len(from) > 0 {
		return slices.Clone(from)
	}
	return l.From
}

func quantizeEarlier(r *pass.Rewrite, q *graph.Layer) bool {
	if !isQuantize(q) {
		return false
	}
	l := q.Inputs[0].Producer
	if l == nil || !moves(l) || len(l.Outputs) != 1 {
		return false
	}
	a := q.Attrs.(graph.QuantAttrs)
	c := r.Candidate("quantize-earlier", l)
	if !c.Sole(l.Outputs[0], q) {
		return false
	}
	if a.Range.PerChannel() {
		return c.Miss(pass.WrongAttribute, "%s has a scale per channel", q.Outputs[0].Name)
	}
	for _, t := range l.Inputs[:l.DataInputs()] {
		if !match.IsFloat(t) {
			return c.Miss(pass.WrongType, "%s is %s", t.Name, t.Type)
		}
	}
	proposal := *l
	proposal.Outputs, proposal.Inputs = q.Outputs, slices.Clone(l.Inputs)
	for i, t := range l.Inputs[:l.DataInputs()] {
		proposal.Inputs[i] = &graph.Tensor{Name: t.Name + "_quantized", Type: a.Type, Dims: t.Dims, Range: a.Range}
	}
	if !c.Supported(&proposal) || !c.Enabled() {
		return false
	}
	c.Found = append(c.Found, q)
	c.Traffic = r.Traffic(c.Found)
	into := []*graph.Layer{l}
	for i, t := range slices.Clone(l.Inputs[:l.DataInputs()]) {
		u := quantizeOf(r, t, a)
		if u == nil {
			y := r.Network().NewTensor(t.Name+"_quantized", a.Type, t.Dims)
			y.Range = a.Range
			u = r.Network().Insert(&graph.Layer{Name: t.Name + "_quantize", Op: graph.Quantize, Attrs: a,
				Inputs: []*graph.Tensor{t}, Outputs: []*graph.Tensor{y}, From: q.From})
			into = append(into, u)
		}
		l.SetInput(i, u.Outputs[0])
	}
	y := q.Outputs[0]
	y.Producer = nil
	l.SetOutput(0, y)
	y.Range = a.Range
	r.Network().Remove(q)
	if len(into) == 1 { // all inputs were quantised so already
		c.Members = r.Sources(append(slices.Clone(l.From), q.From...))
	}
	return c.Fire(into...)
}

// quantizeOf returns the layer that quantises t by a, if there is one.
func quantizeOf(r *pass.Rewrite, t *graph.Tensor, a graph.QuantAttrs) *graph.Layer {
	for _, u := range t.Users {
		if isQuantize(u) {
			if b := u.Attrs.(graph.QuantAttrs); b.Type == a.Type && b.Range.Equal(a.Range) {
				return u
			}
		}
	}
	return nil
}

// quantisedInput returns the integers that d dequantises, with their range: a constant is copied if it has other users, since
// they might see other numbers in it. What a layer computes as integers gets none, which would make real numbers of its
// result.
func quantisedInput(c *pass.Candidate, d *graph.Layer) (*graph.Tensor, bool) {
	q, a := d.Inputs[0], d.Attrs.(graph.QuantAttrs)
	if !isByte(q.Type) {
		return nil, c.Miss(pass.WrongType, "%s is %s", q.Name, q.Type)
	}
	if q.Range.IsSet() && q.Range.Equal(a.Range) {
		return q, true
	}
	others := slices.ContainsFunc(q.Users, func(u *graph.Layer) bool {
		return u.Op != graph.Dequantize || !u.Attrs.(graph.QuantAttrs).Range.Equal(a.Range)
	})
	switch {
	case q.Producer != nil && q.Producer.Op.Reals != graph.AsStored && !q.Range.IsSet():
		return nil, c.Miss(pass.WrongType, "%s holds integers of their own, which %s computes", q, q.Producer.Name)
	case !q.Range.IsSet() && !others:
		q.Range = a.Range
		c.Rewrite().Change()
	case q.IsConst():
		v, _ := q.Const()
		q = c.Rewrite().Network().AddConst(q.Name, v)
		q.Range = a.Range
		c.Rewrite().Change()
	default:
		return nil, c.Miss(pass.RangesDiffer, "%s stands for different numbers in %s", q, d.Name)
	}
	return q, true
}
