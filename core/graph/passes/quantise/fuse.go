package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Fuse makes a layer between Dequantize and Quantize compute on integers: it reads the quantised tensors
// themselves, sums over integers where it is a product, and stores its result as integers. What it means is what Eval
// does with tensors that have a range.
//
//	t = DequantizeLinear(x i8), u = DequantizeLinear(w i8)
//	s = Conv(t, u) | relu($0)                              ->   q i8 = Conv(x i8, w i8) | relu($0)
//	q = QuantizeLinear(s)
//
// Without a Quantize behind it, or with one that is not alone, the result is f32. A layer for which the target has no
// tactic stays in floating point.
var Fuse = pass.Pass{
	Name:  "fuse-quantized",
	Doc:   "layers between dequantisation and quantisation compute on integers",
	Rules: []string{"int8-convolution", "int8-product", "int8-pointwise", "int8-pooling", "int8-resampling"},
	Lower: true,
	Run:   func(r *pass.Rewrite) { r.Each(func(l *graph.Layer) bool { return fuseInt8(r, l) }) },
}

// int8Rule returns the rule by which l may compute on integers.
func int8Rule(l *graph.Layer) string {
	switch l.Op.Class {
	case graph.ClassConvolution:
		return "int8-convolution"
	case graph.ClassMatrix:
		return "int8-product"
	case graph.ClassPooling:
		if l.Op.Reals != graph.AsStored { // or else quantisation moves past it
			return "int8-pooling"
		}
	case graph.ClassResampling:
		return "int8-resampling"
	}
	if e, ok := l.Attrs.(graph.Elementwise); ok && len(e.Program.Code) > 0 {
		return "int8-pointwise"
	}
	return ""
}

func fuseInt8(r *pass.Rewrite, l *graph.Layer) bool {
	rule := int8Rule(l)
	if rule == "" || len(l.Outputs) != 1 || !match.IsFloat(l.Outputs[0]) || !slices.ContainsFunc(l.Inputs, isDequantized) {
		return false
	}
	c := r.Candidate(rule, l)
	y := l.Outputs[0]
	proposal := *l
	proposal.Inputs = slices.Clone(l.Inputs)
	if !int8Inputs(c, l, &proposal) {
		return false
	}
	q := quantizeBehind(r, y)
	proposal.Outputs = []*graph.Tensor{y}
	if q != nil {
		a := q.Attrs.(graph.QuantAttrs)
		proposal.Outputs = []*graph.Tensor{{Name: q.Outputs[0].Name, Type: a.Type, Dims: y.Dims, Range: a.Range}}
		if r.Supports(&proposal) != nil { // perhaps it has a tactic that gives f32
			q, proposal.Outputs = nil, []*graph.Tensor{y}
		}
	}
	if !c.Supported(&proposal) || !c.Enabled() {
		return false
	}
	return applyInt8(c, l, &proposal, q)
}

func isDequantized(t *graph.Tensor) bool { return t != nil && IsDequantize(t.Producer) }

// quantizeBehind returns the Quantize that is the only user of y, if it has one scale.
func quantizeBehind(r *pass.Rewrite, y *graph.Tensor) *graph.Layer {
	if q := r.Network().Sole(y); isQuantize(q) && !q.Attrs.(graph.QuantAttrs).Range.PerChannel() {
		return q
	}
	return nil
}

// int8Inputs puts the quantised tensors in the place of the dequantised ones in the proposal, or records why not.
func int8Inputs(c *pass.Candidate, l, proposal *graph.Layer) bool {
	products := l.Op.IsProduct()
	own := len(l.OpInputs())
	for i, t := range l.Inputs {
		role := l.Role(i)
		switch {
		case t == nil:
			continue
		case !isDequantized(t):
			// What broadcasts may stay real: it is small.
			full := !t.IsConst() && symbolic.Equal(t.Dims, l.Outputs[0].Dims)
			if i < own && (products && role != graph.Bias || !products && full) {
				return c.Miss(pass.NotQuantized, "%s is not quantised", t.Name)
			}
			continue
		case role == graph.Bias:
			continue // a bias counts by its real value
		}
		q, ok := quantisedInput(c, t.Producer)
		if !ok {
			return false
		}
		if q.Range.PerChannel() {
			if role != graph.Weights {
				return c.Miss(pass.WrongAttribute, "%s has a scale per channel", q.Name)
			}
			if axis, _ := l.Op.Product.Axes(l); q.Range.Axis != axis {
				return c.Miss(pass.WrongAttribute, "the scales of %s along axis %d are not those of output channels", q.Name, q.Range.Axis)
			}
		}
		proposal.Inputs[i] = q
	}
	return true
}

// applyInt8 makes l what the proposal is, with the Quantize q behind it.
func applyInt8(c *pass.Candidate, l, proposal *graph.Layer, q *graph.Layer) bool {
	r := c.Rewrite()
	before := slices.Clone(l.Inputs)
	layers := []*graph.Layer{l}
	for i, t := range before {
		if t == proposal.Inputs[i] {
			continue
		}
		d := t.Producer
		last := !r.Network().IsOutput(t) && !slices.ContainsFunc(t.Users, func(u *graph.Layer) bool { return u != l })
		if last && !slices.Contains(layers, d) {
			layers = append(layers, d)
		}
	}
	if q != nil {
		layers = append(layers, q)
	}
	c.Found, c.Traffic, c.Members = layers, r.Traffic(layers), nil
	for _, m := range layers {
		c.Members = append(c.Members, m.From...)
	}
	c.Members = r.Sources(c.Members)
	for i, t := range proposal.Inputs {
		if t != before[i] {
			l.SetInput(i, t)
		}
	}
	if q != nil {
		out := q.Outputs[0]
		out.Producer, out.Range = nil, proposal.Outputs[0].Range // so that it stays when q goes
		l.SetOutput(0, out)
	}
	for _, m := range layers[1:] {
		r.Network().Remove(m)
	}
	return c.Fire(l)
}
