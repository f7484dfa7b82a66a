package passes

import (
	"errors"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/fuse"
)

// projections are products of x f32[1,3,4] with matrices of the given numbers of columns, and attention between the first
// three.
func projections(n *net, bias []bool, columns ...int) *graph.Network {
	x := n.input("x", 1, 3, 4)
	var parts []*graph.Tensor
	for i, c := range columns {
		name := string(rune('A' + i))
		y := n.add(name, graph.MatMul, nil, x, n.weights(name+"_w", -1, 1, 4, c))
		if bias[i] {
			y = n.binary(name+"_add", elementwise.Add, y, n.weights(name+"_b", -1, 1, c))
		}
		parts = append(parts, y)
	}
	return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 2, KVHeads: 2}, parts...))
}

func TestFuseHorizontal(t *testing.T) {
	table := func(name string, build func(n *net) *graph.Network) {
		t.Run(name, func(t *testing.T) {
			n := build(newNet(t, name))
			got, steps := runPass(t, n, []pass.Pass{fuse.CanonicalGemm, fuse.Epilogue, fuse.Horizontal}, pass.Config{})
			sameMeaning(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps[2:])))
		})
	}
	table("query-key-value", func(n *net) *graph.Network { return projections(n, []bool{true, true, true}, 8, 8, 6) })
	table("one-has-no-bias", func(n *net) *graph.Network { return projections(n, []bool{false, true, true}, 8, 8, 4) })
	table("inception", func(n *net) *graph.Network { // the branch of a concatenation is written to its place instead
		x := n.input("x", 2, 3, 5, 5)
		a := n.relu("Relu_a", n.conv("A", x, 8, 1, 0, 1, false))
		b := n.relu("Relu_b", n.conv("B", x, 5, 1, 0, 1, true))
		c := n.relu("Relu_c", n.conv("C", x, 16, 1, 0, 1, false))
		p, q := n.conv("P", b, 4, 3, 1, 1, false), n.conv("Q", c, 4, 3, 1, 1, false)
		return n.output(n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: 1}, a, p, q))
	})
	table("epilogues-differ", func(n *net) *graph.Network {
		x := n.input("x", 1, 3, 4)
		gate := n.elt("Silu", elementwise.Silu, nil, n.add("Gate", graph.MatMul, nil, x, n.weights("wg", -1, 1, 4, 8)))
		return n.output(n.binary("Mul", elementwise.Mul, gate, n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, 8))))
	})
	table("strides-differ", func(n *net) *graph.Network {
		x := n.input("x", 1, 3, 4, 4)
		a := n.add("A", graph.Conv, graph.ConvAttrs{Group: 1, Strides: []int{2, 2}}, x, n.weights("wa", -1, 1, 16, 3, 1, 1))
		return n.output(n.relu("Relu_a", n.relu("R", a)), n.relu("Relu_b", n.relu("S", n.conv("B", x, 16, 1, 0, 1, false))))
	})
	table("kernels-differ", func(n *net) *graph.Network {
		x := n.input("x", 1, 3, 4, 4)
		a, b := n.conv("A", x, 16, 1, 0, 1, false), n.add("B", graph.Conv, graph.ConvAttrs{Group: 1}, x, n.weights("wb", -1, 1, 16, 3, 3, 1))
		return n.output(n.add("P", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, a), n.add("Q", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, b))
	})
	table("groups", func(n *net) *graph.Network {
		x := n.input("x", 1, 4, 4, 4)
		a, b := n.conv("A", x, 16, 1, 0, 2, false), n.conv("B", x, 16, 1, 0, 2, false)
		return n.output(n.add("P", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, a), n.add("Q", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, b))
	})
	table("network-output", func(n *net) *graph.Network {
		x := n.input("x", 1, 3, 4)
		a, b := n.add("A", graph.MatMul, nil, x, n.weights("wa", -1, 1, 4, 8)), n.add("B", graph.MatMul, nil, x, n.weights("wb", -1, 1, 4, 8))
		return n.output(a, n.relu("R", n.relu("S", b)))
	})
	table("weights-are-computed", func(n *net) *graph.Network {
		x, w := n.input("x", 1, 3, 4), n.input("w", 4, 8)
		a, b := n.add("A", graph.MatMul, nil, x, w), n.add("B", graph.MatMul, nil, x, n.weights("wb", -1, 1, 4, 8))
		return n.output(n.add("P", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, a), n.add("Q", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, b))
	})
	table("quantised-weights", func(n *net) *graph.Network { // one with a scale for each channel, one with one for all, one with zeros
		x := n.input("x", 1, 3, 4)
		a := n.add("A", graph.MatMul, nil, x, n.qweights("wa", 1, 4, 8))
		b := n.add("B", graph.MatMul, nil, x, n.qweights("wb", -1, 4, 8))
		v := numeric.NewValue(numeric.I8, 4, 8)
		for i := range v.Data {
			v.Data[i] = byte(i * 37)
		}
		c := n.add("C", graph.MatMul, nil, x, n.dequantize("wc_DQ", n.AddConst("wc", v), numeric.PerTensor(1.0/64, 3)))
		return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 2, KVHeads: 2}, a, b, c))
	})
	table("one-is-quantised", func(n *net) *graph.Network {
		x := n.input("x", 1, 3, 4)
		a, b := n.add("A", graph.MatMul, nil, x, n.qweights("wa", 1, 4, 8)), n.add("B", graph.MatMul, nil, x, n.weights("wb", -1, 1, 4, 8))
		return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 2, KVHeads: 2}, a, b, b))
	})
	table("scales-by-rows", func(n *net) *graph.Network {
		x := n.input("x", 1, 3, 4)
		a, b := n.add("A", graph.MatMul, nil, x, n.qweights("wa", 0, 4, 8)), n.add("B", graph.MatMul, nil, x, n.qweights("wb", 1, 4, 8))
		return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 2, KVHeads: 2}, a, b, b))
	})
	table("copies-cost-more", func(n *net) *graph.Network {
		x := n.input("x", 2, 300, 4)
		a, b := n.add("A", graph.MatMul, nil, x, n.weights("wa", -1, 1, 4, 64)), n.add("B", graph.MatMul, nil, x, n.weights("wb", -1, 1, 4, 64))
		return n.output(n.add("P", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, a), n.add("Q", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, b))
	})
	table("block-is-not-full", func(n *net) *graph.Network {
		x := n.input("x", 2, 3, 5, 5)
		a, b := n.conv("A", x, 5, 1, 0, 1, false), n.conv("B", x, 6, 1, 0, 1, false)
		return n.output(n.add("P", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, a), n.add("Q", graph.Transpose, graph.TransposeAttrs{Perm: []int{0, 1, 3, 2}}, b))
	})
}

func TestFuseGates(t *testing.T) {
	// gated is a gate and its sibling, with what is done to the gate and between both.
	gated := func(n *net, act, both elementwise.Op, columns int) *graph.Network {
		x := n.input("x", 2, 3, 4)
		gate := n.elt("Act", act, nil, n.add("Gate", graph.MatMul, nil, x, n.weights("wg", -1, 1, 4, 8)))
		up := n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, columns))
		return n.output(n.binary("Both", both, gate, up))
	}
	for name, build := range map[string]func(n *net) *graph.Network{
		"silu": func(n *net) *graph.Network { return gated(n, elementwise.Silu, elementwise.Mul, 8) },
		"gate-last": func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4)
			up := n.binary("Shifted", elementwise.Add, n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, 8)), n.weights("bu", -1, 1, 8))
			gate := n.binary("Biased", elementwise.Add, n.add("Gate", graph.MatMul, nil, x, n.weights("wg", -1, 1, 4, 8)), n.weights("bg", -1, 1, 8))
			return n.output(n.binary("Both", elementwise.Mul, up, n.elt("Act", elementwise.Silu, nil, gate)))
		},
		"sum":          func(n *net) *graph.Network { return gated(n, elementwise.Silu, elementwise.Add, 8) },
		"with-a-bound": func(n *net) *graph.Network { return gated(n, elementwise.HardSigmoid, elementwise.Mul, 8) },
		"matrices": func(n *net) *graph.Network {
			x := n.input("x", 3, 4)
			gate := n.elt("Act", elementwise.Sigmoid, nil, n.add("Gate", graph.MatMul, nil, x, n.weights("wg", -1, 1, 4, 8)))
			return n.output(n.binary("Both", elementwise.Mul, n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, 8)), gate))
		},
		"biases": func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4)
			gate := n.binary("Gate_add", elementwise.Add, n.add("Gate", graph.MatMul, nil, x, n.weights("wg", -1, 1, 4, 8)), n.weights("bg", -1, 1, 8))
			up := n.binary("Up_add", elementwise.Add, n.weights("bu", -1, 1, 8), n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, 8)))
			return n.output(n.binary("Both", elementwise.Mul, n.elt("Act", elementwise.Silu, nil, gate), up))
		},
		"bias-of-a-matrix": func(n *net) *graph.Network {
			x := n.input("x", 3, 4)
			gate := n.add("Gate", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1}, x, n.weights("wg", -1, 1, 4, 8), n.weights("bg", -1, 1, 8))
			up := n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, 8))
			return n.output(n.binary("Both", elementwise.Mul, n.elt("Act", elementwise.Silu, nil, gate), up))
		},
		"scaled": func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4)
			gate := n.elt("Act", elementwise.Silu, nil, n.add("Gate", graph.MatMul, nil, x, n.weights("wg", -1, 1, 4, 8)))
			up := n.binary("Offset", elementwise.Add, n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, 8)), n.weights("b", -1, 1, 3, 8))
			return n.output(n.binary("Both", elementwise.Mul, gate, up))
		},
		"network-output": func(n *net) *graph.Network {
			gated(n, elementwise.Silu, elementwise.Mul, 8)
			return n.output(n.Tensor("act"))
		},
		"weights-are-computed": func(n *net) *graph.Network {
			x := n.input("x", 2, 3, 4)
			gate := n.elt("Act", elementwise.Silu, nil, n.add("Gate", graph.MatMul, nil, x, n.input("wg", 4, 8)))
			return n.output(n.binary("Both", elementwise.Mul, gate, n.add("Up", graph.MatMul, nil, x, n.weights("wu", -1, 1, 4, 8))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := build(newNet(t, name))
			got, steps := runPass(t, n, []pass.Pass{fuse.CanonicalGemm, fuse.Epilogue, fuse.Residual, fuse.Gates}, pass.Config{})
			sameMeaning(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps[3:])))
		})
	}
	t.Run("no-kernel", func(t *testing.T) {
		n := gated(newNet(t, "no-kernel"), elementwise.Silu, elementwise.Mul, 8)
		supports := func(l *graph.Layer) error {
			if l.Op == graph.GatedMatMul {
				return errors.New("no kernel")
			}
			return nil
		}
		got, steps := runPass(t, n, []pass.Pass{fuse.CanonicalGemm, fuse.Epilogue, fuse.Residual, fuse.Gates}, pass.Config{Supports: supports})
		golden.RequireEqual(t, []byte(report(n, got, steps[3:])))
	})
}

// TestFuseHalves writes gated units whose two products are the halves of one.
func TestFuseHalves(t *testing.T) {
	halves := func(n *net) (a, b *graph.Tensor) {
		p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 16))
		l, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: -1}, []*graph.Tensor{p}, "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0], l.Outputs[1]
	}
	for name, build := range map[string]func(n *net) *graph.Network{
		"split": func(n *net) *graph.Network {
			a, b := halves(n)
			return n.output(n.binary("Both", elementwise.Mul, n.elt("Act", elementwise.Silu, nil, a), b))
		},
		"bias": func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 16))
			l, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: -1}, []*graph.Tensor{n.binary("Bias", elementwise.Add, p, n.weights("b", -1, 1, 16))}, "a", "b_half")
			if err != nil {
				t.Fatal(err)
			}
			return n.output(n.binary("Both", elementwise.Mul, n.elt("Act", elementwise.Silu, nil, l.Outputs[0]), l.Outputs[1]))
		},
		"behind-a-relu": func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 16))
			l, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: -1}, []*graph.Tensor{n.relu("Relu", p)}, "a", "b")
			if err != nil {
				t.Fatal(err)
			}
			return n.output(n.binary("Both", elementwise.Mul, n.elt("Act", elementwise.Silu, nil, l.Outputs[0]), l.Outputs[1]))
		},
		"second-is-gate": func(n *net) *graph.Network {
			a, b := halves(n)
			return n.output(n.binary("Both", elementwise.Mul, a, n.elt("Act", elementwise.Gelu, nil, b)))
		},
		"slices": func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 16))
			slice := func(name string, from, to int) *graph.Tensor {
				return n.add(name, graph.Slice, graph.SliceAttrs{Starts: []int{from}, Ends: []int{to}, Axes: []int{2}}, p)
			}
			return n.output(n.binary("Both", elementwise.Mul, slice("Slice_1", 0, 8), n.elt("Act", elementwise.Sigmoid, nil, slice("Slice_2", -8, 1<<40))))
		},
		"overlap": func(n *net) *graph.Network {
			p := n.add("MatMul", graph.MatMul, nil, n.input("x", 2, 3, 4), n.weights("w", -1, 1, 4, 16))
			slice := func(name string, from, to int) *graph.Tensor {
				return n.add(name, graph.Slice, graph.SliceAttrs{Starts: []int{from}, Ends: []int{to}, Axes: []int{2}}, p)
			}
			return n.output(n.binary("Both", elementwise.Mul, slice("Slice_1", 0, 8), n.elt("Act", elementwise.Silu, nil, slice("Slice_2", 4, 12))))
		},
		"used-as-a-whole": func(n *net) *graph.Network {
			a, b := halves(n)
			y := n.binary("Both", elementwise.Mul, n.elt("Act", elementwise.Silu, nil, a), b)
			return n.output(y, n.relu("Relu", n.Tensor("matmul")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := build(newNet(t, name))
			got, steps := runPass(t, n, []pass.Pass{fuse.Epilogue, fuse.Pointwise, fuse.Gates}, pass.Config{})
			sameMeaning(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps[2:])))
		})
	}
}
