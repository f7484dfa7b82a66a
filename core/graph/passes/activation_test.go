package passes

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/fuse"
	"github.com/trtui/trtui/core/graph/passes/recognise"
)

// TestRecogniseActivations checks each way in which exporters spell an activation out, and near misses.
func TestRecogniseActivations(t *testing.T) {
	mul := func(n *net, a, b *graph.Tensor) *graph.Tensor { return n.binary("Mul", elementwise.Mul, a, b) }
	add := func(n *net, a, b *graph.Tensor) *graph.Tensor { return n.binary("Add", elementwise.Add, a, b) }
	div := func(n *net, a, b *graph.Tensor) *graph.Tensor { return n.binary("Div", elementwise.Div, a, b) }
	unary := func(n *net, op elementwise.Op, x *graph.Tensor) *graph.Tensor { return n.elt(op.String(), op, nil, x) }
	clip := func(n *net, x *graph.Tensor, lo, hi float32) *graph.Tensor {
		return n.elt("Clip", elementwise.Clamp, []float32{lo, hi}, x)
	}
	cube := func(n *net, x *graph.Tensor) *graph.Tensor { return mul(n, mul(n, x, x), x) }
	erf := func(n *net, x *graph.Tensor) *graph.Tensor {
		return unary(n, elementwise.Erf, div(n, x, n.scalar(math.Sqrt2)))
	}
	tanh := func(n *net, x, inner *graph.Tensor) *graph.Tensor {
		return add(n, n.scalar(1), unary(n, elementwise.Tanh, mul(n, inner, n.scalar(float32(math.Sqrt(2/math.Pi))))))
	}
	for _, c := range []struct {
		name, want string // what the one layer left computes; empty if there are several
		build      func(n *net, x *graph.Tensor) *graph.Tensor
	}{
		{"gelu", "gelu($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, mul(n, x, add(n, erf(n, x), n.scalar(1))), n.scalar(.5))
		}},
		{"gelu half first", "gelu($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, mul(n, n.scalar(.5), x), add(n, n.scalar(1), erf(n, x)))
		}},
		{"gelu half inside", "gelu($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, mul(n, add(n, n.scalar(1), erf(n, x)), n.scalar(.5)), x)
		}},
		{"gelu half multiplied out", "gelu($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			e := unary(n, elementwise.Erf, mul(n, n.scalar(float32(math.Sqrt(.5))), x))
			return mul(n, add(n, mul(n, e, n.scalar(.5)), n.scalar(.5)), x)
		}},
		{"gelu by division", "gelu($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return div(n, mul(n, x, add(n, erf(n, x), n.scalar(1))), n.scalar(2))
		}},
		{"gelu of another scale", "", func(n *net, x *graph.Tensor) *graph.Tensor {
			e := unary(n, elementwise.Erf, div(n, x, n.scalar(1.5)))
			return mul(n, mul(n, x, add(n, e, n.scalar(1))), n.scalar(.5))
		}},
		{"gelu of two tensors", "", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, mul(n, n.input("z", 2, 8), add(n, erf(n, x), n.scalar(1))), n.scalar(.5))
		}},
		{"gelu tanh", "gelu_tanh($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, mul(n, n.scalar(.5), x), tanh(n, x, add(n, x, mul(n, n.scalar(0.044715), cube(n, x)))))
		}},
		{"gelu tanh by power", "gelu_tanh($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			p := n.binary("Pow", elementwise.Pow, x, n.scalar(3))
			return mul(n, mul(n, n.scalar(.5), x), tanh(n, x, add(n, x, mul(n, n.scalar(0.044715), p))))
		}},
		{"gelu tanh factored", "gelu_tanh($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			inner := mul(n, x, add(n, mul(n, mul(n, x, n.scalar(0.044715)), x), n.scalar(1)))
			return mul(n, tanh(n, x, inner), mul(n, x, n.scalar(.5)))
		}},
		{"silu", "silu($0)", func(n *net, x *graph.Tensor) *graph.Tensor { return mul(n, unary(n, elementwise.Sigmoid, x), x) }},
		{"quick gelu", "mul($0, sigmoid(mul($0, 1.702)))", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, x, unary(n, elementwise.Sigmoid, mul(n, n.scalar(1.702), x)))
		}},
		{"quick gelu of another tensor", "", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, n.input("z", 2, 8), unary(n, elementwise.Sigmoid, mul(n, n.scalar(1.702), x)))
		}},
		{"silu scaled", "", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, mul(n, unary(n, elementwise.Sigmoid, x), x), n.scalar(2))
		}},
		{"hard swish", "hard_swish($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return div(n, mul(n, x, clip(n, add(n, x, n.scalar(3)), 0, 6)), n.scalar(6))
		}},
		{"hard swish with relu6 by parts", "hard_swish($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			r := n.binary("Min", elementwise.Min, unary(n, elementwise.Relu, add(n, n.scalar(3), x)), n.scalar(6))
			return mul(n, x, mul(n, r, n.scalar(1.0/6)))
		}},
		{"hard swish with hard sigmoid", "hard_swish($0)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return mul(n, x, n.elt("HardSigmoid", elementwise.HardSigmoid, []float32{1.0 / 6, .5}, x))
		}},
		{"hard sigmoid", "hard_sigmoid($0, 0.166667, 0.5)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return div(n, clip(n, add(n, x, n.scalar(3)), 0, 6), n.scalar(6))
		}},
		{"hard sigmoid of unit bounds", "hard_sigmoid($0, 0.2, 0.5)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return clip(n, add(n, mul(n, x, n.scalar(.2)), n.scalar(.5)), 0, 1)
		}},
		{"clamps", "clamp($0, 0, 6)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return n.binary("Max", elementwise.Max, n.scalar(-2), n.binary("Min", elementwise.Min, n.scalar(6), unary(n, elementwise.Relu, x)))
		}},
		{"clamps that do not meet", "clamp($0, 4, 4)", func(n *net, x *graph.Tensor) *graph.Tensor {
			return n.binary("Max", elementwise.Max, n.scalar(4), n.binary("Min", elementwise.Min, n.scalar(2), x))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNet(t, c.name)
			src := n.output(c.build(n, n.input("x", 2, 8)))
			got, _ := runPass(t, src, []pass.Pass{recognise.Activations}, pass.Config{})
			sameMeaning(t, src, got, 1e-6)
			program := ""
			if len(got.Layers) == 1 {
				program = got.Layers[0].Attrs.(graph.Elementwise).Program.String()
			}
			if program != c.want {
				t.Errorf("got %q, want %q:\n%s", program, c.want, got)
			}
		})
	}
	testPass(t, recognise.Activations, []passCase{
		{"second-consumer", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			s := unary(n, elementwise.Sigmoid, x)
			return n.output(mul(n, s, x), n.relu("Relu", s))
		}},
		{"gelu", func(n *net) *graph.Network {
			x := n.input("x", 2, 3)
			return n.output(mul(n, mul(n, x, add(n, erf(n, x), n.scalar(1))), n.scalar(.5)))
		}},
	})
}

// TestGatedProducts checks that a gate is computed by the products on both sides of it.
func TestGatedProducts(t *testing.T) {
	gated := func(n *net) (gate, y *graph.Tensor) {
		x := n.input("x", 2, 5, 8)
		gate = n.add("Gate", graph.MatMul, nil, x, n.weights("gate", -1, 1, 8, 12))
		up := n.add("Up", graph.MatMul, nil, x, n.weights("up", -1, 1, 8, 12))
		silu := n.binary("Silu", elementwise.Mul, gate, n.elt("Sigmoid", elementwise.Sigmoid, nil, gate))
		y = n.binary("Gated", elementwise.Mul, silu, up)
		return gate, n.add("Down", graph.MatMul, nil, y, n.weights("down", -1, 1, 12, 8))
	}
	testPasses(t, []pass.Pass{recognise.Activations, fuse.Epilogue, fuse.Residual}, []passCase{
		{"gate", func(n *net) *graph.Network {
			_, y := gated(n)
			return n.output(y)
		}},
		{"gate-is-an-output", func(n *net) *graph.Network {
			gate, y := gated(n)
			return n.output(y, gate)
		}},
		{"sigmoid-is-an-output", func(n *net) *graph.Network {
			_, y := gated(n)
			return n.output(y, n.Layer("Sigmoid").Outputs[0])
		}},
	})
}
