package passes

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
)

// dynamic adds what ONNX Runtime's quantiser makes of the product of q, its integers, scale and zero point, and a matrix of random bytes [k,m], with a scale for each
// column if so; the scales' product comes first.
func (n *net) dynamic(name string, q []*graph.Tensor, k, m int, byColumn bool, zero *graph.Tensor) *graph.Tensor {
	v := numeric.NewValue(numeric.I8, k, m)
	for i := range v.Data {
		v.Data[i] = byte(n.rng.IntN(256))
	}
	scales := 1
	if byColumn {
		scales = m
	}
	inputs := []*graph.Tensor{q[0], n.AddConst(name+"_w", v), q[2]}
	if zero != nil {
		inputs = append(inputs, zero)
	}
	b := n.add(name+"_cast", graph.Cast, graph.CastAttrs{To: numeric.F32}, n.add(name, graph.MatMulInteger, nil, inputs...))
	return n.elt(name+"_mul", elementwise.Mul, nil, b, n.elt(name+"_scales", elementwise.Mul, nil, q[1], n.weights(name+"_s", -1, 1, scales)))
}

// quantizeOf adds the dynamic quantisation of x.
func (n *net) quantizeOf(name string, x *graph.Tensor) []*graph.Tensor {
	l, err := n.Add(name, graph.DynamicQuantize, nil, []*graph.Tensor{x}, name+"_q", name+"_scale", name+"_zero")
	if err != nil {
		n.t.Fatal(err)
	}
	return l.Outputs
}

func TestFuseDynamic(t *testing.T) {
	for _, c := range []passCase{
		{"columns-bias-relu", func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 6)
			y := n.dynamic("MatMul", n.quantizeOf("Quantize", x), 6, 5, true, nil)
			return n.output(n.elt("Relu", elementwise.Relu, nil, n.elt("Add", elementwise.Add, nil, y, n.weights("b", -1, 1, 5))))
		}},
		{"shared", func(n *net) *graph.Network {
			x := n.input("x", 3, 6)
			q := n.quantizeOf("Quantize", x)
			zero := n.AddConst("zw", numeric.Value{Type: numeric.I8, Data: []byte{3}})
			return n.output(n.dynamic("A", q, 6, 5, true, zero), n.dynamic("B", q, 6, 4, false, nil))
		}},
		{"query-key-value", func(n *net) *graph.Network { // all quantise one tensor, by one range: one product, with zero points
			x := n.input("x", 1, 3, 6)
			q := n.quantizeOf("Quantize", x)
			a := n.dynamic("A", q, 6, 8, true, n.AddConst("zw", numeric.Value{Type: numeric.I8, Data: []byte{3}}))
			b := n.elt("Add", elementwise.Add, nil, n.dynamic("B", q, 6, 8, false, nil), n.weights("b", -1, 1, 8))
			return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 2, KVHeads: 2}, a, b, n.dynamic("C", q, 6, 4, true, nil)))
		}},
		{"weights-of-two-types", func(n *net) *graph.Network {
			x := n.input("x", 1, 3, 6)
			w, u := n.AddConst("w", numeric.NewValue(numeric.I8, 6, 8)), n.AddConst("u", numeric.NewValue(numeric.U8, 6, 8))
			a := n.add("A", graph.DynamicQuantizeMatMul, graph.DynamicAttrs{}, x, w, n.weights("ws", -1, 1, 8))
			b := n.add("B", graph.DynamicQuantizeMatMul, graph.DynamicAttrs{}, x, u, n.weights("us", -1, 1, 8))
			return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 2, KVHeads: 2}, a, b, b))
		}},
		{"integers-used", func(n *net) *graph.Network {
			x := n.input("x", 3, 6)
			q := n.quantizeOf("Quantize", x)
			return n.output(n.dynamic("A", q, 6, 5, true, nil), q[0])
		}},
		{"sums-used", func(n *net) *graph.Network {
			x := n.input("x", 3, 6)
			y := n.dynamic("A", n.quantizeOf("Quantize", x), 6, 5, true, nil)
			return n.output(y, n.Layer("A_cast").Outputs[0])
		}},
		{"scales-of-rows-stay", func(n *net) *graph.Network {
			x := n.input("x", 5, 6)
			q := n.quantizeOf("Quantize", x)
			v := numeric.NewValue(numeric.I8, 6, 5)
			b := n.add("cast", graph.Cast, graph.CastAttrs{To: numeric.F32}, n.add("A", graph.MatMulInteger, nil, q[0], n.AddConst("w", v), q[2]))
			return n.output(n.elt("mul", elementwise.Mul, nil, n.elt("scale", elementwise.Mul, nil, b, q[1]), n.weights("s", -1, 1, 5, 1)))
		}},
		{"scale-of-another", func(n *net) *graph.Network {
			x, z := n.input("x", 3, 6), n.input("z", 3, 6)
			q, p := n.quantizeOf("Quantize", x), n.quantizeOf("Other", z)
			return n.output(n.dynamic("A", []*graph.Tensor{q[0], p[1], q[2]}, 6, 5, true, nil))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := c.build(newNet(t, c.name))
			got, steps := runPass(t, n, Standard(), pass.Config{})
			sameOutputs(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps)))
		})
	}
}
