package quant

import (
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// QuantizeWeights returns the weights as I8 with a symmetric range that reaches as far as by says: one scale for each index of
// axis, or one for all if axis is negative. Weights that are all zero get a scale of 1/127, infinite ones count as the largest
// finite, NaNs as zero.
func QuantizeWeights(v numeric.Value, axis int, by WeightRange) (numeric.Value, numeric.Range) {
	x := v.Floats()
	channels, inner := 1, max(1, len(x))
	if axis >= 0 {
		channels, inner = v.Dims[axis], max(1, numeric.Count(v.Dims[axis+1:]))
	}
	r := numeric.Range{Scale: make([]float32, channels), Axis: max(0, axis)}
	var magnitudes []float32
	for c := range r.Scale {
		magnitudes = magnitudes[:0]
		for at := c * inner; at < len(x); at += channels * inner {
			for _, w := range x[at : at+inner] {
				if a := max(w, -w); a <= math.MaxFloat32 {
					magnitudes = append(magnitudes, a)
				}
			}
		}
		r.Scale[c] = by.scale(by.of(magnitudes))
	}
	q := numeric.NewValue(numeric.I8, v.Dims...)
	if len(x) > 0 {
		r.Quantize(q, x)
	}
	if by.reduced {
		ints := numeric.View[int8](q.Data)
		for i, v := range ints {
			ints[i] = min(max(v, -by.largest()), by.largest())
		}
	}
	return q, r
}

// weightAxis returns the axis of the output channels of a layer's weights, input 1, or -1 if the whole tensor shares a
// scale. The groups of a transposed convolution share theirs: its axis of output channels is as long as one of them. So do
// the matrices of a batch.
func weightAxis(l *graph.Layer, perTensor bool) int {
	if perTensor || l.Op.Class == graph.ClassMatrix && len(l.Inputs[1].Dims) != 2 {
		return -1
	}
	axis, _ := l.Op.Product.Axes(l)
	return axis
}
