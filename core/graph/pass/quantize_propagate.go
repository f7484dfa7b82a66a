package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// propagateQuantization moves Dequantize behind, and Quantize before, layers that only move elements or take their
// maximum, so that these work on integers and pairs meet. Both are exact: the map between integers and real numbers is
// monotonic and the same for all elements.
//
//	t = DequantizeLinear(q)                         s = MaxPool(q)
//	y = MaxPool(t)                             ->   y = DequantizeLinear(s)
//
//	t = Concat(a, b)                                p = QuantizeLinear(a), q = QuantizeLinear(b)
//	y = QuantizeLinear(t)                      ->   y = Concat(p, q)
var propagateQuantization = Pass{
	Name:  "propagate-quantization",
	Doc:   "layers that only move elements work on integers",
	Rules: []string{"quantize-earlier", "dequantize-later"},
	run: func(r *rewrite) {
		r.each(r.quantizeEarlier) // first, since it keeps the quantised tensor and its name
		r.each(r.dequantizeLater)
	},
}

// isQuantize reports whether l quantises to 8 bits by a range that is known and [increases].
func isQuantize(l *graph.Layer) bool {
	return l != nil && l.Op == graph.Quantize && len(l.Inputs) == 1 && increases(l.Attrs.(graph.QuantAttrs).Range) &&
		isByte(l.Attrs.(graph.QuantAttrs).Type) && isFloat(l.Inputs[0])
}

// isByte reports whether t is one of the types in which layers compute on integers.
func isByte(t numeric.DataType) bool { return t == numeric.I8 || t == numeric.U8 }

// increases reports whether a range is known by which greater integers are greater numbers: then a maximum of the ones is that of
// the others, and what is clamped in the one is clamped in the other. ONNX does not say that scales are positive.
func increases(r numeric.Range) bool {
	return r.IsSet() && !slices.ContainsFunc(r.Scale, func(s float32) bool { return !(s > 0) })
}

// isDequantize reports whether l gives the real numbers of integers by a range that is known and [increases].
func isDequantize(l *graph.Layer) bool {
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

func (r *rewrite) dequantizeLater(l *graph.Layer) bool {
	if !moves(l) || slices.Contains(l.Inputs[:l.DataInputs()], nil) || !isDequantize(l.Inputs[0].Producer) {
		return false
	}
	c := r.candidate("dequantize-later", l)
	var sources []*graph.Tensor
	var from []string
	first := l.Inputs[0].Producer
	a := first.Attrs.(graph.QuantAttrs)
	for _, t := range l.Inputs[:l.DataInputs()] {
		d := t.Producer
		if !isDequantize(d) {
			return c.miss(NotQuantized, "%s is not quantised", t.Name)
		}
		q, ok := c.quantized(d)
		if !ok {
			return false
		}
		if q.Type != first.Inputs[0].Type || !d.Attrs.(graph.QuantAttrs).Range.Equal(a.Range) {
			return c.miss(RangesDiffer, "%s and %s", first.Inputs[0], q)
		}
		sources, from = append(sources, q), append(from, d.From...)
	}
	if a.Range.PerChannel() && !sources[0].IsConst() {
		return c.miss(WrongAttribute, "%s has a scale per channel", sources[0].Name)
	}
	if !holdsFill(l, a.Range, sources[0].Type) {
		return c.miss(RangesDiffer, "%s fills with a number that %s has no integer for", l.Name, sources[0].Name)
	}
	proposal := *l
	proposal.Inputs = slices.Concat(sources, l.Inputs[len(sources):])
	proposal.Outputs = nil
	for _, y := range l.Outputs {
		proposal.Outputs = append(proposal.Outputs, &graph.Tensor{Name: y.Name + "_quantized", Type: sources[0].Type, Dims: y.Dims, Range: a.Range})
	}
	if proposal.Infer() != nil || !proposal.Outputs[0].Range.IsSet() {
		return c.miss(WrongShape, "the scales of %s do not follow", sources[0].Name)
	}
	constant := !slices.ContainsFunc(sources, func(t *graph.Tensor) bool { return !t.IsConst() }) // it will be folded
	if !constant && !c.supported(&proposal) || !c.enabled() {
		return false
	}
	r.moveDequantize(c, l, &proposal, from)
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
func (r *rewrite) moveDequantize(c *candidate, l, proposal *graph.Layer, from []string) {
	into := []*graph.Layer{l}
	before := slices.Clone(l.Inputs[:l.DataInputs()])
	for i := range before {
		l.SetInput(i, proposal.Inputs[i])
	}
	for i, y := range slices.Clone(l.Outputs) {
		p := proposal.Outputs[i]
		s := r.net.NewTensor(p.Name, p.Type, p.Dims)
		s.Range = p.Range
		l.SetOutput(i, s)
		into = append(into, r.net.Insert(&graph.Layer{Name: y.Name + "_dequantize", Op: graph.Dequantize,
			Attrs: graph.QuantAttrs{Range: p.Range, Type: y.Type}, Inputs: []*graph.Tensor{s}, Outputs: []*graph.Tensor{y}, From: r.fromOr(from, l)}))
	}
	for _, t := range before {
		if d := t.Producer; d != nil && r.net.Layer(d.Name) == d && !r.used(d) {
			c.layers = append(c.layers, d)
			r.net.Remove(d)
		}
	}
	c.fire(into...)
}

// fromOr returns the source layers of a layer that is made of others: their names in order.
func (r *rewrite) fromOr(from []string, l *graph.Layer) []string {
	if list := r.sources(from); len(list) > 0 {
		return list
	}
	if len(from) > 0 {
		return slices.Clone(from)
	}
	return l.From
}

func (r *rewrite) quantizeEarlier(q *graph.Layer) bool {
	if !isQuantize(q) {
		return false
	}
	l := q.Inputs[0].Producer
	if l == nil || !moves(l) || len(l.Outputs) != 1 {
		return false
	}
	a := q.Attrs.(graph.QuantAttrs)
	c := r.candidate("quantize-earlier", l)
	if !c.sole(l.Outputs[0], q) {
		return false
	}
	if a.Range.PerChannel() {
		return c.miss(WrongAttribute, "%s has a scale per channel", q.Outputs[0].Name)
	}
	for _, t := range l.Inputs[:l.DataInputs()] {
		if !isFloat(t) {
			return c.miss(WrongType, "%s is %s", t.Name, t.Type)
		}
	}
	proposal := *l
	proposal.Outputs, proposal.Inputs = q.Outputs, slices.Clone(l.Inputs)
	for i, t := range l.Inputs[:l.DataInputs()] {
		proposal.Inputs[i] = &graph.Tensor{Name: t.Name + "_quantized", Type: a.Type, Dims: t.Dims, Range: a.Range}
	}
	if !c.supported(&proposal) || !c.enabled() {
		return false
	}
	c.layers = append(c.layers, q)
	c.traffic = r.traffic(c.layers)
	into := []*graph.Layer{l}
	for i, t := range slices.Clone(l.Inputs[:l.DataInputs()]) {
		u := r.quantizeOf(t, a)
		if u == nil {
			y := r.net.NewTensor(t.Name+"_quantized", a.Type, t.Dims)
			y.Range = a.Range
			u = r.net.Insert(&graph.Layer{Name: t.Name + "_quantize", Op: graph.Quantize, Attrs: a,
				Inputs: []*graph.Tensor{t}, Outputs: []*graph.Tensor{y}, From: q.From})
			into = append(into, u)
		}
		l.SetInput(i, u.Outputs[0])
	}
	y := q.Outputs[0]
	y.Producer = nil
	l.SetOutput(0, y)
	y.Range = a.Range
	r.net.Remove(q)
	if len(into) == 1 { // all inputs were quantised so already
		c.members = r.sources(append(slices.Clone(l.From), q.From...))
	}
	return c.fire(into...)
}

// quantizeOf returns the layer that quantises t by a, if there is one.
func (r *rewrite) quantizeOf(t *graph.Tensor, a graph.QuantAttrs) *graph.Layer {
	for _, u := range t.Users {
		if isQuantize(u) {
			if b := u.Attrs.(graph.QuantAttrs); b.Type == a.Type && b.Range.Equal(a.Range) {
				return u
			}
		}
	}
	return nil
}

// quantized returns the integers that d dequantises, with their range: a constant is copied if it has other users, since
// they might see other numbers in it. What a layer computes as integers gets none, which would make real numbers of its
// result.
func (c *candidate) quantized(d *graph.Layer) (*graph.Tensor, bool) {
	q, a := d.Inputs[0], d.Attrs.(graph.QuantAttrs)
	if !isByte(q.Type) {
		return nil, c.miss(WrongType, "%s is %s", q.Name, q.Type)
	}
	if q.Range.IsSet() && q.Range.Equal(a.Range) {
		return q, true
	}
	others := slices.ContainsFunc(q.Users, func(u *graph.Layer) bool {
		return u.Op != graph.Dequantize || !u.Attrs.(graph.QuantAttrs).Range.Equal(a.Range)
	})
	switch {
	case q.Producer != nil && q.Producer.Op.Reals != graph.AsStored && !q.Range.IsSet():
		return nil, c.miss(WrongType, "%s holds integers of their own, which %s computes", q, q.Producer.Name)
	case !q.Range.IsSet() && !others:
		q.Range = a.Range
		c.r.changed = true
	case q.IsConst():
		v, _ := q.Const()
		q = c.r.net.AddConst(q.Name, v)
		q.Range = a.Range
		c.r.changed = true
	default:
		return nil, c.miss(RangesDiffer, "%s stands for different numbers in %s", q, d.Name)
	}
	return q, true
}
