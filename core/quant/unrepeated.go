package quant

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// Unrepeated takes Quantize and Dequantize layers out that change no number: behind a concatenation, all of whose parts are dequantised
// by the same range, where element-wise layers alone read the result.
//
//	y = Concat(a, b)
//	z = DequantizeLinear(QuantizeLinear(y))    ->   y = Concat(a, b)
//	r = Relu(z)                                     r = Relu(y)
//
// A quantisation that follows the clamp then stands for it, too, to runtimes that look for that, and OpenVINO (2026.4), which does not
// survive a clamp between two quantisations behind a concatenation, compiles the model.
func Unrepeated(n *graph.Network) {
	for _, q := range slices.Clone(n.Layers) {
		if repeats(n, q) {
			for _, d := range slices.Clone(q.Outputs[0].Users) {
				n.Redirect(d.Outputs[0], q.Inputs[0])
				n.Remove(d)
			}
			n.Remove(q)
		}
	}
}

// repeats reports whether a layer quantises what was concatenated of parts that have its range already, for element-wise layers.
func repeats(n *graph.Network, q *graph.Layer) bool {
	a, ok := q.Attrs.(graph.QuantAttrs)
	if q.Op != graph.Quantize || !ok || !a.Range.IsSet() || a.Range.PerChannel() || n.IsOutput(q.Outputs[0]) {
		return false
	}
	joined := q.Inputs[0].Producer
	if joined == nil || joined.Op != graph.Concat {
		return false
	}
	for _, t := range joined.Inputs {
		d := t.Producer
		if d == nil || d.Op != graph.Dequantize || d.Inputs[0].Type != a.Type || !d.Attrs.(graph.QuantAttrs).Range.Equal(a.Range) {
			return false
		}
	}
	return !slices.ContainsFunc(q.Outputs[0].Users, func(d *graph.Layer) bool {
		return d.Op != graph.Dequantize || !d.Attrs.(graph.QuantAttrs).Range.Equal(a.Range) || n.IsOutput(d.Outputs[0]) ||
			slices.ContainsFunc(d.Outputs[0].Users, func(l *graph.Layer) bool { return !isUnary(l) })
	})
}

// isUnary reports whether a layer computes each element of its result of one of a single tensor that is not constant.
func isUnary(l *graph.Layer) bool {
	_, ok := l.Attrs.(graph.Elementwise)
	activations := 0
	for _, t := range l.Inputs {
		if t != nil && !t.IsConst() {
			activations++
		}
	}
	return ok && activations == 1
}
