package quantise

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
)

// Cancel removes a Dequantize and Quantize that follow each other with equal ranges, and makes one layer of
// them where ranges differ.
//
//	t = DequantizeLinear(p) 0.1                     every user of q uses p
//	q = QuantizeLinear(t) 0.1                  ->
//
//	t = DequantizeLinear(p) 0.1
//	q = QuantizeLinear(t) 0.2                  ->   q = Reformat(p)
var Cancel = pass.Pass{
	Name:  "cancel-quantization",
	Doc:   "cancel or merge neighbouring dequantisation and quantisation",
	Rules: []string{"cancel-pair", "requantize"},
	Lower: true,
	Run:   func(r *pass.Rewrite) { r.Each(func(q *graph.Layer) bool { return cancelPair(r, q) }) },
}

func cancelPair(r *pass.Rewrite, q *graph.Layer) bool {
	if !isQuantize(q) || !IsDequantize(q.Inputs[0].Producer) {
		return false
	}
	d := q.Inputs[0].Producer
	a, b := d.Attrs.(graph.QuantAttrs), q.Attrs.(graph.QuantAttrs)
	y := q.Outputs[0]
	equal := d.Inputs[0].Type == b.Type && a.Range.Equal(b.Range)
	rule := "requantize"
	if equal {
		rule = "cancel-pair"
	}
	c := r.Candidate(rule, d, q)
	p, ok := quantisedInput(c, d)
	if !ok {
		return false
	}
	if a.Range.PerChannel() || b.Range.PerChannel() {
		return c.Miss(pass.WrongAttribute, "there is a scale per channel")
	}
	if p.IsConst() && !equal {
		return c.Miss(pass.NoTactic, "%s is a constant, which no reformat reads", p.Name)
	}
	if equal {
		if !c.Enabled() {
			return false
		}
		if !r.Bypass(q, p) {
			return c.Miss(pass.NetworkOutput, "it alone connects %s to %s", y.Name, p.Name)
		}
		if y.Producer != nil {
			y.Range = b.Range
		}
		r.Eliminate(q, p.Producer)
		return c.Fire(dropUnused(r, c, d)...)
	}
	by := &graph.Layer{Name: q.Name, Op: graph.Reformat, Inputs: []*graph.Tensor{p}, Outputs: []*graph.Tensor{y}, From: q.From}
	if !c.Supported(by) || !c.Enabled() {
		return false
	}
	y.Range = b.Range
	by = r.Replace(q, by)
	if r.Used(d) {
		c.Apart = true
		return c.Fire(by, d)
	}
	r.Network().Remove(d)
	return c.Fire(by)
}

// dropUnused removes d if nothing needs it, and returns it otherwise.
func dropUnused(r *pass.Rewrite, c *pass.Candidate, d *graph.Layer) []*graph.Layer {
	if r.Used(d) {
		c.Apart = true
		return []*graph.Layer{d}
	}
	r.Eliminate(d, nil)
	r.Network().Remove(d)
	return nil
}
