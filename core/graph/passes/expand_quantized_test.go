package passes

import (
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// bytes adds a constant of random bytes.
func (n *net) bytes(name string, t numeric.DataType, dims ...int) *graph.Tensor {
	v := numeric.NewValue(t, dims...)
	for i := range v.Data {
		v.Data[i] = byte(n.rng.IntN(256))
	}
	return n.AddConst(name, v)
}

// zero adds a constant zero point.
func (n *net) zero(t numeric.DataType, z byte) *graph.Tensor {
	return n.AddConst("z", numeric.Value{Type: t, Data: []byte{z}})
}

// qlinear adds a QLinearConv of x, in which 1/8 is a step, by m x 2 weights of 3x3 with a bias.
func (n *net) qlinear(name string, x *graph.Tensor, m int) *graph.Tensor {
	bias := n.AddConst(name+"_b", numeric.Values(numeric.I32, []int32{90, -300, 7}[:m], m))
	scales := n.AddConst(name+"_s", numeric.Values(numeric.F32, []float32{1.0 / 64, 1.0 / 128, 1.0 / 32}[:m], m))
	c, _ := x.Dims[1].IsConst()
	return n.add(name, graph.QLinearConv, graph.ConvAttrs{Group: 1, Pads: []int{1, 1, 1, 1}}, x, n.scalar(1.0/8), n.zero(numeric.U8, 100),
		n.bytes(name+"_w", numeric.I8, m, c, 3, 3), scales, n.zero(numeric.I8, 0), n.scalar(1.0/8), n.zero(numeric.U8, 100), bias)
}

func TestExpandQuantized(t *testing.T) {
	u8 := func(n *net, dims ...int) *graph.Tensor {
		return n.AddInput("x", numeric.U8, symbolic.Shape(dims...)...)
	}
	by := numeric.PerTensor(1.0/8, 100)
	testPass(t, quantise.ExpandQuantized, []passCase{
		{"convolutions", func(n *net) *graph.Network {
			a := n.qlinear("A", u8(n, 1, 2, 4, 4), 2)
			return n.output(n.dequantize("DQ", n.qlinear("B", a, 3), by))
		}},
		{"product", func(n *net) *graph.Network {
			y := n.add("MatMul", graph.QLinearMatMul, nil, u8(n, 3, 4), n.scalar(1.0/8), n.zero(numeric.U8, 7), n.bytes("w", numeric.U8, 4, 5), n.scalar(1.0/64), n.zero(numeric.U8, 128), n.scalar(0.5), n.zero(numeric.I8, 3))
			return n.output(n.dequantize("DQ", y, numeric.PerTensor(0.5, 3)))
		}},
		{"network-output", func(n *net) *graph.Network {
			return n.output(n.qlinear("Conv", u8(n, 1, 2, 4, 4), 2))
		}},
		{"resized-and-moved", func(n *net) *graph.Network {
			y := n.qlinear("Conv", u8(n, 1, 2, 4, 4), 2)
			a := graph.ResizeAttrs{Mode: "nearest", Coordinates: "asymmetric", Nearest: "floor", CubicA: -0.75, Scales: []float32{1, 1, 2, 2}}
			z := n.add("Resize", graph.Resize, a, n.add("Transpose", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, y))
			return n.output(n.dequantize("DQ", z, by))
		}},
		{"computed-scale", func(n *net) *graph.Network {
			s := n.elt("Abs", elementwise.Abs, nil, n.input("s"))
			y := n.add("MatMul", graph.QLinearMatMul, nil, u8(n, 3, 4), s, n.zero(numeric.U8, 7), n.bytes("w", numeric.U8, 4, 5), n.scalar(1.0/64), n.zero(numeric.U8, 128), n.scalar(0.5), n.zero(numeric.I8, 3))
			return n.output(y)
		}},
		{"scale-of-zero", func(n *net) *graph.Network {
			y := n.add("MatMul", graph.QLinearMatMul, nil, u8(n, 3, 4), n.scalar(0), n.zero(numeric.U8, 7), n.bytes("w", numeric.U8, 4, 5), n.scalar(1.0/64), n.zero(numeric.U8, 128), n.scalar(0.5), n.zero(numeric.I8, 3))
			return n.output(y)
		}},
		{"integers-computed-with", func(n *net) *graph.Network {
			return n.output(n.binary("Max", elementwise.Max, n.qlinear("Conv", u8(n, 1, 2, 4, 4), 2), n.zero(numeric.U8, 90)))
		}},
	})
}
