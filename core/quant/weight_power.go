package quant

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// WeightPower returns for each input channel of a product with constant weights the sum of the squares of the weights that it meets,
// over the number of output channels: what a mean square error of the channel becomes in the mean square of the output. nil for others.
func WeightPower(l *graph.Layer) []float64 {
	if kindOf(l) != weighted || len(l.Inputs) < 2 || l.Inputs[1] == nil {
		return nil
	}
	v, ok := l.Inputs[1].Const()
	if !ok || l.Op.Class == graph.ClassMatrix && len(v.Dims) != 2 {
		return nil
	}
	v = numeric.ToReal(v, l.Inputs[1].Range)
	if out, in := l.Op.Product.Axes(l); !v.Type.IsFloat() || v.Len() == 0 || out < 0 || in < 0 {
		return nil
	}
	at := channelsOf(l, v.Dims)
	power := make([]float64, at.inputs)
	for i, w := range v.Floats() {
		_, c := at.of(i)
		power[c] += float64(w) * float64(w) / float64(at.outputs)
	}
	return power
}
