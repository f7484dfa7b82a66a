package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// quantizeConstants computes what is done to constants before a layer reads them as integers.
//
//	q = QuantizeLinear(w f32)              q i8 with its range
//	b = DequantizeLinear(c i32)       ->   b f32
//	t = Transpose(k i8)                    t i8
//	r = QuantizeLinear(DequantizeLinear(k i8))   r i8 with the second range
//
// The Dequantize of 8-bit weights stays, to be fused into the layer that multiplies them.
var quantizeConstants = Pass{
	Name:  "quantize-constants",
	Doc:   "quantise constant weights, dequantise constant biases",
	Rules: []string{"quantize-weights", "dequantize-bias"},
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			if len(l.Outputs) != 1 || slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return t == nil || !t.IsConst() }) {
				return false
			}
			switch {
			case isQuantize(l), moves(l) && l.Inputs[0].Quantized(), isDequantize(l) && quantizedAgain(l.Outputs[0]):
				return r.computeConstant("quantize-weights", l)
			case dequantizes(l) && l.Inputs[0].Type == numeric.I32:
				return r.computeConstant("dequantize-bias", l)
			}
			return false
		})
	},
}

// quantizedAgain reports whether t is quantised, and nothing else is done to it.
func quantizedAgain(t *graph.Tensor) bool {
	return len(t.Users) > 0 && !slices.ContainsFunc(t.Users, func(u *graph.Layer) bool { return !isQuantize(u) })
}

// foldDequantize gives layers that stay in floating point their weights in floating point.
//
//	t = DequantizeLinear(w i8)
//	y = Conv(x, t)                ->   y = Conv(x, t f32)
var foldDequantize = Pass{
	Name:  "fold-dequantize",
	Doc:   "dequantise the weights of layers that stay in floating point",
	Rules: []string{"dequantize-weights"},
	lower: true,
	run: func(r *rewrite) {
		r.each(func(l *graph.Layer) bool {
			return (dequantizes(l) && l.Inputs[0].IsConst() || dequantizesBlocks(l)) && r.computeConstant("dequantize-weights", l)
		})
	},
}

// computeConstant replaces a layer over constants by its result, which is about as large as what it is made of.
func (r *rewrite) computeConstant(rule string, l *graph.Layer) bool {
	c := r.candidate(rule, l)
	t := l.Outputs[0]
	if r.net.IsOutput(t) {
		return c.miss(NetworkOutput, "%s is an output of the network", t.Name)
	}
	if !r.used(l) || !c.enabled() {
		return false
	}
	values, err := constantOutputs(l, false)
	if err != nil {
		return c.miss(EvalFailed, "%v", err)
	}
	r.drop(l, Folded, nil)
	r.net.Remove(l)
	if t.Weights = values[0].Data; t.Weights == nil {
		t.Weights = []byte{}
	}
	return c.fire()
}
