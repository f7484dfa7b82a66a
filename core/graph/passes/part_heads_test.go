package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/passes/recognise"
)

// TestPartHeads writes projections whose heads hold queries, keys and values side by side, as GPT-NeoX and BLOOM have them, and some
// that are cut otherwise.
func TestPartHeads(t *testing.T) {
	parts := func(n *net, x *graph.Tensor, axis, count int) []*graph.Tensor {
		l, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: axis}, []*graph.Tensor{x}, []string{"q", "k", "v", "u"}[:count]...)
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs
	}
	head := func(n *net, name string, x *graph.Tensor, index int64) *graph.Tensor {
		return n.add(name, graph.Gather, graph.GatherAttrs{Axis: 3}, x, n.AddConst(name+"_i", numeric.Values(numeric.I64, []int64{index})))
	}
	testPass(t, recognise.PartHeads, []passCase{
		{"sizes", func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 24))
			y := parts(n, n.transpose("Transpose", n.reshape("Reshape", p, 2, 5, 2, 12), 0, 2, 1, 3), 3, 3)
			return n.output(n.relu("Relu_1", y[0]), n.relu("Relu_2", y[1]), n.relu("Relu_3", y[2]))
		}},
		{"places-and-bias", func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 24))
			h := n.reshape("Reshape", n.binary("Add", elementwise.Add, n.weights("b", -1, 1, 24), p), 2, 5, 2, 3, 4)
			return n.output(n.relu("Relu_1", head(n, "Gather_1", h, 0)), n.relu("Relu_2", head(n, "Gather_2", h, -1)))
		}},
		{"gemm-and-slices", func(n *net) *graph.Network {
			a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}
			p := n.add("Gemm", graph.Gemm, a, n.input("x", 10, 8), n.weights("w", -1, 1, 24, 8), n.weights("b", -1, 1, 24))
			h := n.reshape("Reshape", p, 2, 5, 2, 12)
			slice := func(name string, from, to int) *graph.Tensor {
				return n.relu("Relu_"+name, n.add("Slice_"+name, graph.Slice, graph.SliceAttrs{Starts: []int{from}, Ends: []int{to}, Axes: []int{-1}}, h))
			}
			return n.output(slice("1", 0, 4), slice("2", 4, 8), slice("3", -4, 12))
		}},
		{"parts-before-heads", func(n *net) *graph.Network { // as exporters write unbind
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 24))
			h := n.reshape("Reshape", p, 2, 5, 3, 2, 4)
			part := func(name string, at int) *graph.Tensor {
				x := n.add("Slice_"+name, graph.Slice, graph.SliceAttrs{Starts: []int{at}, Ends: []int{at + 1}, Axes: []int{2}}, h)
				return n.transpose("Transpose_"+name, n.add("Squeeze_"+name, graph.Squeeze, graph.SqueezeAttrs{Axes: []int{2}}, x), 0, 2, 1, 3)
			}
			return n.output(part("1", 0), part("2", 1), part("3", 2))
		}},
		{"parts-before-heads-turned", func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 24))
			h := n.transpose("Transpose", n.reshape("Reshape", n.binary("Add", elementwise.Add, n.weights("b", -1, 1, 24), p), 2, 5, 3, 2, 4), 2, 0, 3, 1, 4)
			part := func(name string, at int64) *graph.Tensor {
				return n.add(name, graph.Gather, graph.GatherAttrs{}, h, n.AddConst(name+"_i", numeric.Values(numeric.I64, []int64{at})))
			}
			s := n.add("QK", graph.MatMul, nil, part("Gather_1", 0), n.transpose("Keys", part("Gather_2", 1), 0, 1, 3, 2))
			weights := n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, n.binary("Scaled", elementwise.Mul, s, n.scalar(0.5)))
			return n.output(n.add("PV", graph.MatMul, nil, weights, part("Gather_3", 2)))
		}},
		{"parts-before-heads-turned-and-rotated", func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 24))
			y := parts(n, n.transpose("Transpose", n.reshape("Reshape", p, 2, 5, 3, 2, 4), 2, 0, 3, 1, 4), 0, 3)
			heads := func(name string, x *graph.Tensor) *graph.Tensor { return n.reshape(name, x, 2, 2, 5, 4) }
			cos, sin := n.twice("cos", 5, 4), n.twice("sin", 5, 4)
			s := n.add("QK", graph.MatMul, nil, n.halves(heads("Q", y[0]), cos, sin), n.transpose("Keys", n.halves(heads("K", y[1]), cos, sin), 0, 1, 3, 2))
			return n.output(n.add("PV", graph.MatMul, nil, n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: 3}, s), heads("V", y[2])))
		}},
		{"parts-before-heads-turned-for-no-attention", func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 24))
			h := n.transpose("Transpose", n.reshape("Reshape", p, 2, 5, 3, 2, 4), 2, 0, 3, 1, 4)
			y := parts(n, h, 0, 3)
			return n.output(n.relu("Relu_1", y[0]), n.relu("Relu_2", y[1]), n.relu("Relu_3", y[2]))
		}},
		{"halves", func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 16))
			y := parts(n, n.reshape("Reshape", p, 2, 5, 2, 8), 3, 2)
			return n.output(n.relu("Relu_1", y[0]), n.relu("Relu_2", y[1]))
		}},
		{"second-reader", func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 5, 8), n.weights("w", -1, 1, 8, 24))
			h := n.reshape("Reshape", p, 2, 5, 2, 12)
			y := parts(n, h, 3, 3)
			return n.output(n.relu("Relu_1", y[0]), n.relu("Relu_2", h))
		}},
	})
}
