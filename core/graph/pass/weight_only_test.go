package pass

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
)

// TestWeightOnly lowers products of real numbers by dequantised weights; the results are those of the model, but for the order of
// sums.
func TestWeightOnly(t *testing.T) {
	for _, c := range []passCase{
		{"columns", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 6), n.qweights("w", 1, 6, 5)))
		}},
		{"transposed-bias-gelu", func(n *net) *graph.Network {
			a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}
			y := n.add("Gemm", graph.Gemm, a, n.input("x", 3, 6), n.qweights("w", 0, 5, 6), n.weights("b", -1, 1, 5))
			return n.output(n.elt("Gelu", graph.EltGelu, nil, y))
		}},
		{"zero-points", func(n *net) *graph.Network {
			v := graph.NewValue(graph.U8, 6, 5)
			for i := range v.Data {
				v.Data[i] = byte(n.rng.IntN(256))
			}
			w := n.dequantize("w_DQ", n.AddConst("w", v), graph.Range{Scale: []float32{.25, .5, 1, .125, 2}, Zero: []int32{0, 3, 128, 200, 255}, Axis: 1})
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 3, 6), w))
		}},
		{"shared", func(n *net) *graph.Network {
			w := n.qweights("w", -1, 6, 6)
			y := n.add("MatMul_1", graph.MatMul, nil, n.input("x", 3, 6), w)
			return n.output(n.add("MatMul_2", graph.MatMul, nil, y, w), w)
		}},
		{"scales-of-rows", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 3, 6), n.qweights("w", 0, 6, 5)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.build(newNet(t, c.name))
			fused, _ := runPass(t, n, Standard(), Config{})
			got, steps := runPass(t, fused, Lowering(), Config{})
			sameOutputs(t, n, got, 1e-4)
			golden.RequireEqual(t, []byte(report(fused, got, steps)))
		})
	}
}
