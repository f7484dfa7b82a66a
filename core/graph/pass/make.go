package pass

import (
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// NewConst adds a constant of a floating or integer type. A name that says already that it is folded is not extended further.
func (r *Rewrite) NewConst(name string, t numeric.DataType, values []float64, dims ...int) *graph.Tensor {
	x := make([]float32, len(values))
	for i, v := range values {
		x[i] = float32(v)
	}
	v := numeric.NewValue(t, dims...)
	numeric.FromReal(v, x, numeric.PerTensor(1, 0))
	for strings.HasSuffix(name, "_folded_folded") {
		name = strings.TrimSuffix(name, "_folded")
	}
	return r.net.AddConst(name, v)
}

// newInts adds a constant vector of I64, as shapes are given.
func (r *Rewrite) newInts(name string, values []int64) *graph.Tensor {
	return r.net.AddConst(name, numeric.Values(numeric.I64, values, len(values)))
}

// Reshape returns a Reshape of x, for replace.
func (r *Rewrite) Reshape(x *graph.Tensor, name string, shape []int64) *graph.Layer {
	return &graph.Layer{Op: graph.Reshape, Attrs: graph.ReshapeAttrs{}, Inputs: []*graph.Tensor{x, r.newInts(name, shape)}}
}
