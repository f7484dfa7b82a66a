package quant

import (
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// unify gives every wanted tensor its range: its own, or where moving layers join several tensors, the least range
// that covers all of theirs.
func (p *placer) unify(layers []*graph.Layer) {
	parent := map[*graph.Tensor]*graph.Tensor{} // a forest: tensors of one tree share a range
	find := func(t *graph.Tensor) *graph.Tensor {
		for parent[t] != nil {
			t = parent[t]
		}
		return t
	}
	for i, l := range layers {
		if p.decisions[i].Precision != numeric.I8 || kindOf(l) != moving {
			continue
		}
		inputs, _ := p.movedInputs(l)
		for _, t := range inputs {
			if a, b := find(t), find(l.Outputs[0]); a != b {
				parent[a] = b
			}
		}
	}
	type span struct {
		lo, hi  float64
		tensors int
	}
	spans := map[*graph.Tensor]span{}
	tensors := p.tensors(layers)
	for _, t := range tensors {
		s := spans[find(t)]
		s.tensors++
		if r := p.ranges[t.Name]; usable(r) {
			lo, hi := Limits(r, p.policy.Scheme.DataType())
			if !p.policy.Scheme.Asymmetric {
				lo, hi = -AMax(r), AMax(r)
			}
			s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
		}
		spans[find(t)] = s
	}
	p.joined = map[*graph.Tensor]numeric.Range{}
	for _, t := range tensors {
		p.joined[t] = p.ranges[t.Name]
		if s := spans[find(t)]; s.tensors > 1 || !usable(p.joined[t]) {
			p.joined[t] = p.policy.Scheme.Range(s.lo, s.hi)
		}
	}
}

// tensors returns the wanted tensors in the order of the network.
func (p *placer) tensors(layers []*graph.Layer) []*graph.Tensor {
	var list []*graph.Tensor
	seen := map[*graph.Tensor]bool{}
	add := func(t *graph.Tensor) {
		if p.wanted[t] && !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	for _, t := range p.net.Inputs {
		add(t)
	}
	for _, l := range layers {
		for _, t := range l.Inputs {
			add(t)
		}
	}
	return list
}

// floatSuffix ends the names of tensors whose own names their quantised forms have.
const floatSuffix = "_float"

// SourceTensor returns the name that a tensor of a network on which [Place] worked had before: a float tensor that is
// left, between a layer in floating point and the Quantize layer of 8-bit ones, was renamed.
func SourceTensor(name string) string { return strings.TrimSuffix(name, floatSuffix) }

// insert puts a Quantize and a Dequantize layer behind every wanted tensor.
func (p *placer) insert(layers []*graph.Layer) {
	eight := map[*graph.Layer]bool{}
	for i, l := range layers {
		eight[l] = p.decisions[i].Precision == numeric.I8
	}
	for _, t := range p.tensors(layers) {
		if t.IsConst() {
			p.quantizeConst(layers, t)
			continue
		}
		typ := p.policy.Scheme.DataType()
		float, stored := t, t
		real := t.Type
		if p.net.IsInput(t) || p.net.IsOutput(t) {
			stored = p.net.NewTensor(t.Name+"_quantized", typ, t.Dims)
		} else {
			float = p.net.NewTensor(t.Name+floatSuffix, real, t.Dims)
			l := t.Producer
			l.SetOutput(slices.Index(l.Outputs, t), float)
			t.Type = typ
		}
		stored.Range = p.joined[t]
		dequantized := p.net.NewTensor(t.Name+"_dequantized", real, t.Dims)
		p.net.Redirect(t, dequantized)
		for _, l := range slices.Clone(dequantized.Users) {
			p.readFloat(l, eight[l], dequantized, float)
		}
		p.layer("Quantize_"+t.Name, graph.Quantize, graph.QuantAttrs{Range: stored.Range, Type: typ}, float, stored)
		p.layer("Dequantize_"+t.Name, graph.Dequantize, graph.QuantAttrs{Range: stored.Range, Type: real}, stored, dequantized)
	}
}

// layer adds a layer of one input and one output.
func (p *placer) layer(name string, op *graph.Op, attrs graph.QuantAttrs, in, out *graph.Tensor) {
	l := p.net.Insert(&graph.Layer{Name: name, Op: op, Attrs: attrs, Inputs: []*graph.Tensor{in}, Outputs: []*graph.Tensor{out}})
	l.From = []string{l.Name}
}

// quantizeConst gives the 8-bit layers that move a constant its quantised form; others keep the constant.
func (p *placer) quantizeConst(layers []*graph.Layer, t *graph.Tensor) {
	v, _ := t.Const()
	typ, r := p.policy.Scheme.DataType(), p.joined[t]
	q := numeric.NewValue(typ, v.Dims...)
	r.Quantize(q, v.Floats())
	dequantized := p.dequantize(t, q, r)
	for i, l := range layers {
		if p.decisions[i].Precision == numeric.I8 && kindOf(l) == moving {
			replace(l, t, dequantized)
		}
	}
}

// weightsOf returns the weights of l, its constant input 1, in 8 bits.
func (p *placer) weightsOf(l *graph.Layer) *weights {
	key := weightKey{l.Inputs[1], weightAxis(l, p.policy.PerTensor)}
	w := p.weights[key]
	if w == nil {
		v, _ := key.t.Const()
		w = &weights{}
		w.stored, w.rng = QuantizeWeights(v, key.axis, p.policy.Weights)
		p.weights[key] = w
	}
	return w
}

// quantizeWeights makes l read its weights, input 1, through Dequantize from an I8 constant.
func (p *placer) quantizeWeights(l *graph.Layer) {
	w := p.weightsOf(l)
	if w.dequantized == nil {
		w.dequantized = p.dequantize(l.Inputs[1], w.stored, w.rng)
	}
	l.SetInput(1, w.dequantized)
}

// dequantize adds a constant q with range r and returns the tensor of its real numbers, which stands for t.
func (p *placer) dequantize(t *graph.Tensor, q numeric.Value, r numeric.Range) *graph.Tensor {
	stored := p.net.AddConst(t.Name+"_"+q.Type.String(), q)
	stored.Range = r
	out := p.net.NewTensor(t.Name+"_dequantized", t.Type, t.Dims)
	p.layer("Dequantize_"+t.Name, graph.Dequantize, graph.QuantAttrs{Range: r, Type: t.Type}, stored, out)
	return out
}

// replace makes l read by wherever it read t.
func replace(l *graph.Layer, t, by *graph.Tensor) {
	for i, in := range l.Inputs {
		if in == t {
			l.SetInput(i, by)
		}
	}
}
