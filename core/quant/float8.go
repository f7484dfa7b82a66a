package quant

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// float8Max are the largest finite numbers of the types that [PlaceFloat8] takes (ONNX, "Float stored in 8 bits").
var float8Max = map[numeric.DataType]float64{numeric.F8E4M3FN: 448, numeric.F8E5M2: 57344}

// PlaceFloat8 makes products compute with what floats of 8 bits hold of their activations and constant weights, by emulation: the
// arithmetic is float32's, and what is multiplied is rounded to t before, scaled so that the largest magnitude of a tensor, and of each
// output channel of weights, becomes t's largest number. It tells accuracy; no kernel computes so. ranges are of tensors by name, as
// for [Place]; of them the largest magnitude counts. There is a decision for each layer, in order.
func PlaceFloat8(n *graph.Network, t numeric.DataType, ranges map[string]numeric.Range, policy Policy) ([]Decision, error) {
	if float8Max[t] == 0 {
		return nil, fmt.Errorf("layers are not rounded to %s, only to f8e4m3fn or f8e5m2", t)
	}
	if n.Lowered {
		return nil, fmt.Errorf("network %s is lowered already", n.Name)
	}
	if err := policy.check(n); err != nil {
		return nil, err
	}
	p := &placer{net: n, policy: policy, ranges: acrossCasts(n, ranges), wanted: map[*graph.Tensor]bool{}}
	if decisions, ok := p.explicit(); ok {
		return decisions, nil
	}
	rounded := map[*graph.Tensor]*graph.Tensor{}
	var decisions []Decision
	for _, l := range append([]*graph.Layer(nil), n.Layers...) {
		d := Decision{Layer: l.Name, Precision: numeric.F32, Reason: l.Op.Name + " computes in f32"}
		if kindOf(l) == weighted {
			d.Reason = p.float8Reason(l)
		}
		if d.Reason == "" {
			d.Precision, d.Reason = t, "inputs and weights of "+t.String()
			x, w := l.Inputs[0], l.Inputs[1]
			if rounded[x] == nil {
				rounded[x] = p.float8(x, t)
			}
			l.SetInput(0, rounded[x])
			v, _ := w.Const()
			v, err := float8Weights(v, weightAxis(l, policy.PerTensor), t)
			if err != nil {
				return nil, fmt.Errorf("layer %s: %w", l.Name, err)
			}
			l.SetInput(1, n.AddConst(l.Name+"_"+w.Name+"_"+t.String(), v))
		}
		decisions = append(decisions, d)
	}
	n.Prune()
	if err := n.Sort(); err != nil {
		return nil, err
	}
	return decisions, n.Infer()
}

// float8Reason says why a product stays in F32; "" for one that does not.
func (p *placer) float8Reason(l *graph.Layer) string {
	if rule, named := p.policy.rule(l); named {
		return "asked for by " + rule.String()
	}
	x, w := l.Input(0), l.Input(1)
	switch {
	case x == nil || w == nil || x.Type != numeric.F32 || w.Type != numeric.F32:
		return "its tensors are not f32"
	case !w.IsConst():
		return "its weights are not constant"
	case x.IsConst():
		return "its input is constant"
	case !p.hasRange(x):
		return "no range for tensor " + x.Name
	}
	return ""
}

// float8 returns what a tensor is once it was rounded to t.
func (p *placer) float8(x *graph.Tensor, t numeric.DataType) *graph.Tensor {
	lo, hi := Limits(p.ranges[x.Name], p.policy.Scheme.DataType())
	if !p.policy.Scheme.Asymmetric {
		hi = AMax(p.ranges[x.Name])
		lo = -hi
	}
	r := numeric.PerTensor(float8Scale(max(-lo, hi), t), 0)
	stored := p.net.NewTensor(x.Name+"_"+t.String(), t, x.Dims)
	out := p.net.NewTensor(x.Name+"_rounded", x.Type, x.Dims)
	p.layer("Quantize_"+x.Name, graph.Quantize, graph.QuantAttrs{Range: r, Type: t}, x, stored)
	p.layer("Dequantize_"+x.Name, graph.Dequantize, graph.QuantAttrs{Range: r, Type: x.Type}, stored, out)
	return out
}

// float8Scale returns the scale at which a magnitude is the largest number of t.
func float8Scale(amax float64, t numeric.DataType) float32 {
	if amax == 0 || math.IsInf(amax, 0) || amax != amax {
		return 1
	}
	return float32(max(amax/float8Max[t], minScale))
}

// float8Weights returns the weights as t holds them, with a scale for each index of axis, or one for all if it is negative.
func float8Weights(v numeric.Value, axis int, t numeric.DataType) (numeric.Value, error) {
	channels, inner := 1, max(1, v.Len())
	if axis >= 0 {
		channels, inner = v.Dims[axis], max(1, numeric.Count(v.Dims[axis+1:]))
	}
	amax := make([]float64, channels)
	for i, w := range v.Floats() {
		if a := math.Abs(float64(w)); a <= math.MaxFloat32 {
			amax[i/inner%channels] = max(amax[i/inner%channels], a)
		}
	}
	r := numeric.Range{Axis: max(0, axis)}
	for _, a := range amax {
		r.Scale = append(r.Scale, float8Scale(a, t))
	}
	stored, out := numeric.NewValue(t, v.Dims...), numeric.NewValue(numeric.F32, v.Dims...)
	for _, step := range []struct {
		op       *graph.Op
		typ      numeric.DataType
		from, to numeric.Value
	}{{graph.Quantize, t, v, stored}, {graph.Dequantize, numeric.F32, stored, out}} {
		x := &graph.Tensor{Name: "w", Type: step.from.Type, Dims: symbolic.Shape(v.Dims...)}
		y := &graph.Tensor{Name: "q", Type: step.typ, Dims: x.Dims}
		l := &graph.Layer{Name: "w", Op: step.op, Attrs: graph.QuantAttrs{Range: r, Type: step.typ}, Inputs: []*graph.Tensor{x}, Outputs: []*graph.Tensor{y}}
		if err := step.op.Eval(l, []numeric.Value{step.from}, []numeric.Value{step.to}); err != nil {
			return out, err
		}
	}
	return out, nil
}
