package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
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
// Queries, keys and values of an attention are such integers all, or none. Without a Quantize behind it, or with one that is not
// alone, the result is f32. A layer for which the target has no tactic stays in floating point.
var Fuse = pass.Pass{
	Name:  "fuse-quantized",
	Doc:   "layers between dequantisation and quantisation compute on integers",
	Rules: []string{"int8-convolution", "int8-product", "int8-pointwise", "int8-pooling", "int8-resampling", "int8-attention", "int8-normalization"},
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
	switch l.Op {
	case graph.Attention:
		return "int8-attention"
	case graph.LayerNorm, graph.RMSNorm:
		return "int8-normalization"
	}
	if e, ok := l.Attrs.(graph.Elementwise); ok && len(e.Program.Code) > 0 {
		return "int8-pointwise"
	}
	return ""
}

func fuseInt8(r *pass.Rewrite, l *graph.Layer) bool {
	rule := int8Rule(l)
	if rule == "int8-normalization" {
		return quantizeResult(r, rule, l)
	}
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
	behind := quantizedBehind(r, y)
	proposal.Outputs = []*graph.Tensor{y}
	if behind.result != nil {
		proposal.Outputs = []*graph.Tensor{behind.result}
		if r.Supports(&proposal) != nil { // perhaps it has a tactic that gives f32
			behind, proposal.Outputs = quantizedResult{}, []*graph.Tensor{y}
		}
	}
	if !c.Supported(&proposal) || !c.Enabled() {
		return false
	}
	return applyInt8(c, l, &proposal, behind)
}

// quantizeResult lets l, which needs real numbers, write its result as integers:
//
//	y = LayerNormalization(x)
//	q = QuantizeLinear(y)              ->   q i8 = LayerNormalization(x)
func quantizeResult(r *pass.Rewrite, rule string, l *graph.Layer) bool {
	if len(l.Outputs) != 1 || !match.IsFloat(l.Outputs[0]) {
		return false
	}
	behind := quantizedBehind(r, l.Outputs[0])
	if behind.result == nil || behind.split != nil {
		return false
	}
	c := r.Candidate(rule, append([]*graph.Layer{l}, behind.quantize...)...)
	proposal := *l
	proposal.Outputs = []*graph.Tensor{behind.result}
	if !c.Supported(&proposal) || !c.Enabled() {
		return false
	}
	return applyInt8(c, l, &proposal, behind)
}

// quantizedResult is what becomes of a result that is quantised: by one layer, or each of its parts by one. The zero value is
// for one that is not.
type quantizedResult struct {
	result   *graph.Tensor // of no network
	split    *graph.Layer  // whose outputs are quantised; nil where the result itself is
	quantize []*graph.Layer
}

// quantizedBehind returns how y is quantised, if nothing else reads it. Parts of it may have different ranges, of which y has
// those of its channels:
//
//	y = MatMul(x i8, w i8)
//	a, b = Split(y)                                         y i8 by channel = MatMul(x i8, w i8)
//	p = QuantizeLinear(a), q = QuantizeLinear(b)       ->   p, q = Split(y)
func quantizedBehind(r *pass.Rewrite, y *graph.Tensor) quantizedResult {
	if q := quantizeBehind(r, y); q != nil {
		a := q.Attrs.(graph.QuantAttrs)
		return quantizedResult{result: &graph.Tensor{Name: q.Outputs[0].Name, Type: a.Type, Dims: y.Dims, Range: a.Range}, quantize: []*graph.Layer{q}}
	}
	split := r.Network().Sole(y)
	if split == nil || split.Op != graph.Split || r.Network().IsOutput(y) {
		return quantizedResult{}
	}
	axis := split.Attrs.(graph.SplitAttrs).Axis
	if axis < 0 {
		axis += len(y.Dims)
	}
	all := quantizedResult{split: split}
	var parts []numeric.Range
	var channels []int
	for _, part := range split.Outputs {
		q := quantizeBehind(r, part)
		n, ok := part.Dims[axis].IsConst()
		if q == nil || !ok || n == 0 || len(all.quantize) > 0 && q.Outputs[0].Type != all.quantize[0].Outputs[0].Type {
			return quantizedResult{}
		}
		all.quantize, parts, channels = append(all.quantize, q), append(parts, q.Attrs.(graph.QuantAttrs).Range), append(channels, n)
	}
	all.result = &graph.Tensor{Name: y.Name, Type: all.quantize[0].Outputs[0].Type, Dims: y.Dims, Range: numeric.JoinRanges(axis, parts, channels)}
	return all
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
			full := !t.IsConst() && role != graph.Coefficients && symbolic.Equal(t.Dims, l.Outputs[0].Dims)
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

// applyInt8 makes l what the proposal is, with what quantises its result.
func applyInt8(c *pass.Candidate, l, proposal *graph.Layer, behind quantizedResult) bool {
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
	layers = append(layers, behind.quantize...)
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
	of := l
	if behind.split != nil {
		y := l.Outputs[0]
		y.Type, y.Range, of = behind.result.Type, behind.result.Range, behind.split
	}
	for i, q := range behind.quantize {
		out := q.Outputs[0]
		out.Producer, out.Range = nil, q.Attrs.(graph.QuantAttrs).Range // so that it stays when q goes
		of.SetOutput(i, out)
	}
	for _, m := range layers[1:] {
		r.Network().Remove(m)
	}
	return c.Fire(l)
}
