package quantise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/pass/match"
)

// Constants computes what is done to constants before a layer reads them as integers.
//
//	q = QuantizeLinear(w f32)              q i8 with its range
//	b = DequantizeLinear(c i32)       ->   b f32
//	t = Transpose(k i8)                    t i8
//	r = QuantizeLinear(DequantizeLinear(k i8))   r i8 with the second range
//
// The Dequantize of 8-bit weights stays, to be fused into the layer that multiplies them.
var Constants = pass.Pass{
	Name:  "quantize-constants",
	Doc:   "quantise constant weights, dequantise constant biases",
	Rules: []string{"quantize-weights", "dequantize-bias"},
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			if len(l.Outputs) != 1 || slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return t == nil || !t.IsConst() }) {
				return false
			}
			switch {
			case isQuantize(l), moves(l) && l.Inputs[0].Quantized(), IsDequantize(l) && quantizedAgain(l.Outputs[0]):
				return computeConstant(r, "quantize-weights", l)
			case dequantizes(l) && l.Inputs[0].Type == numeric.I32:
				return computeConstant(r, "dequantize-bias", l)
			}
			return false
		})
	},
}

// quantizedAgain reports whether t is quantised, and nothing else is done to it.
func quantizedAgain(t *graph.Tensor) bool {
	return len(t.Users) > 0 && !slices.ContainsFunc(t.Users, func(u *graph.Layer) bool { return !isQuantize(u) })
}

// FoldDequantize gives layers that stay in floating point their weights in floating point.
//
//	t = DequantizeLinear(w i8)
//	y = Conv(x, t)                ->   y = Conv(x, t f32)
var FoldDequantize = pass.Pass{
	Name:  "fold-dequantize",
	Doc:   "dequantise the weights of layers that stay in floating point",
	Rules: []string{"dequantize-weights"},
	Lower: true,
	Run: func(r *pass.Rewrite) {
		r.Each(func(l *graph.Layer) bool {
			return (dequantizes(l) && l.Inputs[0].IsConst() || dequantizesBlocks(l)) && computeConstant(r, "dequantize-weights", l)
		})
	},
}

// computeConstant replaces a layer over constants by its result, which is about as large as what it is made of.
func computeConstant(r *pass.Rewrite, rule string, l *graph.Layer) bool {
	c := r.Candidate(rule, l)
	t := l.Outputs[0]
	if r.Network().IsOutput(t) {
		return c.Miss(pass.NetworkOutput, "%s is an output of the network", t.Name)
	}
	if !r.Used(l) || !c.Enabled() {
		return false
	}
	values, err := match.ConstantOutputs(l, false)
	if err != nil {
		return c.Miss(pass.EvalFailed, "%v", err)
	}
	r.Fold(l)
	r.Network().Remove(l)
	if t.Weights = values[0].Data; t.Weights == nil {
		t.Weights = []byte{}
	}
	return c.Fire()
}
