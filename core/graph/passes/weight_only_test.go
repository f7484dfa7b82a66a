package passes

import (
	"slices"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
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
			return n.output(n.elt("Gelu", elementwise.Gelu, nil, y))
		}},
		{"zero-points", func(n *net) *graph.Network {
			v := numeric.NewValue(numeric.U8, 6, 5)
			for i := range v.Data {
				v.Data[i] = byte(n.rng.IntN(256))
			}
			w := n.dequantize("w_DQ", n.AddConst("w", v), numeric.Range{Scale: []float32{.25, .5, 1, .125, 2}, Zero: []int32{0, 3, 128, 200, 255}, Axis: 1})
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 3, 6), w))
		}},
		{"shared", func(n *net) *graph.Network {
			w := n.qweights("w", -1, 6, 6)
			y := n.add("MatMul_1", graph.MatMul, nil, n.input("x", 3, 6), w)
			return n.output(n.add("MatMul_2", graph.MatMul, nil, y, w), w)
		}},
		{"four-bits", func(n *net) *graph.Network { // columns whose last byte is half full
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 7), n.dequantize("w_DQ", n.narrow("w", numeric.I4, 7, 5), numeric.PerTensor(1.0/4, -3))))
		}},
		{"blocks", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 20), n.blocks("w", numeric.I4, true, 0, 8, 20, 5)))
		}},
		{"blocks-transposed", func(n *net) *graph.Network {
			a := graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}
			return n.output(n.add("Gemm", graph.Gemm, a, n.input("x", 2, 20), n.blocks("w", numeric.U2, false, 1, 8, 5, 20), n.weights("b", -1, 1, 5)))
		}},
		{"blocks-of-rows", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 20), n.blocks("w", numeric.U4, true, 1, 2, 20, 5)))
		}},
		{"blocks-within-bytes", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 9), n.blocks("w", numeric.U4, true, 0, 3, 9, 5)))
		}},
		{"floats", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 6), n.dequantize("w_DQ", n.narrow("w", numeric.F4E2M1, 6, 5), numeric.PerTensor(1.0/4, 0))))
		}},
		{"scales-of-rows", func(n *net) *graph.Network {
			return n.output(n.add("MatMul", graph.MatMul, nil, n.input("x", 3, 6), n.qweights("w", 0, 6, 5)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.build(newNet(t, c.name))
			fused, _ := runPass(t, n, Standard(), pass.Config{})
			got, steps := runPass(t, fused, Lowering(), pass.Config{})
			sameOutputs(t, n, got, 1e-4)
			golden.RequireEqual(t, []byte(report(fused, got, steps)))
		})
	}
}

// narrow adds a constant of random elements of a type of up to 8 bits.
func (n *net) narrow(name string, t numeric.DataType, dims ...int) *graph.Tensor {
	packed := make([]byte, t.PackedSize(numeric.Count(dims)))
	for i := range packed {
		packed[i] = byte(n.rng.IntN(256))
	}
	return n.AddConst(name, numeric.Value{Type: t, Dims: dims, Data: t.Unpacked(packed, numeric.Count(dims))})
}

// blocks adds random weights that are dequantised by scales, and perhaps zero points, of blocks along an axis.
func (n *net) blocks(name string, t numeric.DataType, zeros bool, axis, block int, dims ...int) *graph.Tensor {
	per := slices.Clone(dims)
	per[axis] = (dims[axis] + block - 1) / block
	in := []*graph.Tensor{n.narrow(name, t, dims...), n.weights(name+"_s", 0.1, 1, per...)}
	if zeros {
		in = append(in, n.narrow(name+"_z", t, per...))
	}
	return n.add(name+"_DQ", graph.Dequantize, graph.QuantAttrs{Type: numeric.F32, Block: block, Range: numeric.Range{Axis: axis}}, in...)
}
