package pass

import (
	"github.com/trtui/trtui/core/graph"
)

// cancelQuantization removes a Dequantize and Quantize that follow each other with equal ranges, and makes one layer of
// them where ranges differ.
//
//	t = DequantizeLinear(p) 0.1                     every user of q uses p
//	q = QuantizeLinear(t) 0.1                  ->
//
//	t = DequantizeLinear(p) 0.1
//	q = QuantizeLinear(t) 0.2                  ->   q = Reformat(p)
var cancelQuantization = Pass{
	Name:  "cancel-quantization",
	Doc:   "cancel or merge neighbouring dequantisation and quantisation",
	Rules: []string{"cancel-pair", "requantize"},
	lower: true,
	run:   func(r *rewrite) { r.each(r.cancelPair) },
}

func (r *rewrite) cancelPair(q *graph.Layer) bool {
	if !isQuantize(q) || !isDequantize(q.Inputs[0].Producer) {
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
	c := r.candidate(rule, d, q)
	p, ok := c.quantized(d)
	if !ok {
		return false
	}
	if a.Range.PerChannel() || b.Range.PerChannel() {
		return c.miss(WrongAttribute, "there is a scale per channel")
	}
	if p.IsConst() && !equal {
		return c.miss(NoTactic, "%s is a constant, which no reformat reads", p.Name)
	}
	if equal {
		if !c.enabled() {
			return false
		}
		if !r.bypass(q, p) {
			return c.miss(NetworkOutput, "it alone connects %s to %s", y.Name, p.Name)
		}
		if y.Producer != nil {
			y.Range = b.Range
		}
		r.drop(q, Eliminated, p.Producer)
		return c.fire(r.dropUnused(c, d)...)
	}
	by := &graph.Layer{Name: q.Name, Op: graph.Reformat, Inputs: []*graph.Tensor{p}, Outputs: []*graph.Tensor{y}, From: q.From}
	if !c.supported(by) || !c.enabled() {
		return false
	}
	y.Range = b.Range
	by = r.replace(q, by)
	if r.used(d) {
		c.apart = true
		return c.fire(by, d)
	}
	r.net.Remove(d)
	return c.fire(by)
}

// dropUnused removes d if nothing needs it, and returns it otherwise.
func (r *rewrite) dropUnused(c *candidate, d *graph.Layer) []*graph.Layer {
	if r.used(d) {
		c.apart = true
		return []*graph.Layer{d}
	}
	r.drop(d, Eliminated, nil)
	r.net.Remove(d)
	return nil
}
