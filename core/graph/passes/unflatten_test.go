package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/passes/simplify"
	"github.com/trtui/trtui/core/graph/symbolic"
)

func TestUnflattenProducts(t *testing.T) {
	// rows returns a product whose rows are flattened for it.
	rows := func(n *net, x *graph.Tensor, a graph.GemmAttrs, bias ...*graph.Tensor) *graph.Tensor {
		w := n.weights("w", -1, 1, 8, 6)
		if a.TransB {
			w = n.weights("w", -1, 1, 6, 8)
		}
		return n.add("Gemm", graph.Gemm, a, append([]*graph.Tensor{n.reshape("Flat", x, -1, 8), w}, bias...)...)
	}
	plain := graph.GemmAttrs{Alpha: 1, Beta: 1}
	testPass(t, simplify.UnflattenProducts, []passCase{
		{"bias", func(n *net) *graph.Network {
			y := rows(n, n.input("x", 2, 5, 8), plain, n.weights("b", -1, 1, 6))
			return n.output(n.reshape("Back", y, 2, 5, 6))
		}},
		{"two-symbols", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("sequence"), symbolic.Const(8))
			of := func(i int) *graph.Tensor {
				return n.add("Slice", graph.Slice, graph.SliceAttrs{Starts: []int{i}, Ends: []int{i + 1}}, n.add("Shape", graph.ShapeOf, graph.ShapeAttrs{End: 3}, x))
			}
			shape := n.add("Concat", graph.Concat, graph.ConcatAttrs{}, of(0), of(1), n.ints(6))
			return n.output(n.add("Back", graph.Reshape, graph.ReshapeAttrs{}, rows(n, x, graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}), shape))
		}},
		{"heads", func(n *net) *graph.Network {
			y := rows(n, n.input("x", 2, 5, 8), plain, n.weights("b", -1, 1, 6))
			return n.output(n.reshape("Back", y, 2, 5, 3, 2))
		}},
		{"heads-without-bias", func(n *net) *graph.Network {
			return n.output(n.reshape("Back", rows(n, n.input("x", 2, 5, 8), plain), 2, 5, 3, 2))
		}},
		{"other-rows", func(n *net) *graph.Network {
			y := rows(n, n.input("x", 2, 5, 8), plain)
			return n.output(n.reshape("Back", y, 5, 2, 6))
		}},
		{"bias-of-rows", func(n *net) *graph.Network {
			y := rows(n, n.input("x", 2, 5, 8), plain, n.weights("b", -1, 1, 10, 1))
			return n.output(n.reshape("Back", y, 2, 5, 6))
		}},
		{"factor", func(n *net) *graph.Network {
			y := rows(n, n.input("x", 2, 5, 8), graph.GemmAttrs{Alpha: 2, Beta: 1})
			return n.output(n.reshape("Back", y, 2, 5, 6))
		}},
		{"used-flat", func(n *net) *graph.Network {
			y := rows(n, n.input("x", 2, 5, 8), plain)
			return n.output(n.reshape("Back", y, 2, 5, 6), n.relu("Relu", y))
		}},
	})
}
