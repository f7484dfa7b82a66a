package pass

import (
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// name returns the name of a layer that stands for several source layers: the principal one's, then those of the others as they
// come in the source network. What a person looks for is the convolution, whatever is before it in the same kernel.
func (r *rewrite) name(l *graph.Layer) string {
	p := r.principal(l)
	rest := slices.DeleteFunc(slices.Clone(l.From), func(name string) bool { return name == p })
	return strings.Join(append([]string{p}, rest...), " + ")
}

// principal returns the source layer that a layer is named after: the first that has its op; else, of what has become
// another op or an element-wise region, the first product, the first pooling, the first that does more than change types or
// move elements, or the first.
func (r *rewrite) principal(l *graph.Layer) string {
	is := func(ops ...*graph.Op) func(string) bool {
		return func(name string) bool {
			return slices.ContainsFunc(ops, func(op *graph.Op) bool { return op.Name == r.ops[name] })
		}
	}
	plain := is(graph.Quantize, graph.Dequantize, graph.Cast, graph.Identity, graph.Pad, graph.Reshape, graph.Transpose,
		graph.Flatten, graph.Squeeze, graph.Unsqueeze)
	for _, found := range []func(string) bool{
		is(l.Op),
		is(graph.Conv, graph.ConvTranspose, graph.Gemm, graph.MatMul),
		is(graph.MaxPool, graph.AveragePool, graph.ReduceMean, graph.ReduceSum, graph.ReduceMax, graph.ReduceMin),
		func(name string) bool { return !plain(name) },
	} {
		if i := slices.IndexFunc(l.From, found); i >= 0 {
			return l.From[i]
		}
	}
	return l.From[0]
}
