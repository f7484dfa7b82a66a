package passes

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/fuse"
	"github.com/trtui/trtui/core/graph/passes/recognise"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// cut returns components from..to of the last axis of x, every step-th.
func (n *net) cut(name string, x *graph.Tensor, from, to, step int) *graph.Tensor {
	a := graph.SliceAttrs{Starts: []int{from}, Ends: []int{to}, Axes: []int{len(x.Dims) - 1}, Steps: []int{step}}
	return n.add(name, graph.Slice, a, x)
}

func (n *net) join(name string, a, b *graph.Tensor) *graph.Tensor {
	return n.add(name, graph.Concat, graph.ConcatAttrs{Axis: len(a.Dims) - 1}, a, b)
}

// parts splits the last axis of x.
func (n *net) parts(x *graph.Tensor, sizes ...int) []*graph.Tensor {
	names := []string{"part_0", "part_1", "part_2"}[:len(sizes)]
	l, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: len(x.Dims) - 1, Sizes: sizes}, []*graph.Tensor{x}, names...)
	if err != nil {
		n.t.Fatal(err)
	}
	return l.Outputs
}

// turnedPairs spells out u*cos - v*sin and u*sin + v*cos.
func (n *net) turnedPairs(u, v, cos, sin *graph.Tensor) (e, f *graph.Tensor) {
	e = n.binary("Sub", elementwise.Sub, n.binary("UC", elementwise.Mul, u, cos), n.binary("VS", elementwise.Mul, v, sin))
	return e, n.binary("Add", elementwise.Add, n.binary("VC", elementwise.Mul, cos, v), n.binary("US", elementwise.Mul, sin, u))
}

// neighbours turns pairs that lie side by side of x [b,s,h,8].
func (n *net) neighbours(x, cos, sin *graph.Tensor) *graph.Tensor {
	b, s, h := x.Dims[0], x.Dims[1], x.Dims[2]
	at := func(d symbolic.Dim) int64 { v, _ := d.IsConst(); return int64(v) }
	p := n.reshape("Pairs", x, at(b), at(s), at(h), 4, 2)
	pick := func(name string, i int64) *graph.Tensor {
		return n.add(name, graph.Gather, graph.GatherAttrs{Axis: 4}, p, n.AddConst("i", numeric.Values(numeric.I64, []int64{i})))
	}
	e, f := n.turnedPairs(pick("U", 0), pick("V", 1), cos, sin)
	y := n.join("Joined", n.reshape("E", e, at(b), at(s), at(h), 4, 1), n.reshape("F", f, at(b), at(s), at(h), 4, 1))
	return n.reshape("Y", y, at(b), at(s), at(h), 8)
}

// halves is x*cos + turned*sin, with angles for both components of a pair.
func (n *net) halves(x, cos, sin *graph.Tensor) *graph.Tensor {
	d, _ := x.Dims[len(x.Dims)-1].IsConst()
	v := n.elt("Neg", elementwise.Neg, nil, n.cut("V", x, d/2, d, 1))
	turned := n.join("Turned", v, n.cut("U", x, 0, d/2, 1))
	return n.binary("Add", elementwise.Add, n.binary("C", elementwise.Mul, x, cos), n.binary("S", elementwise.Mul, turned, sin))
}

// twice returns a constant whose last axis has its elements twice.
func (n *net) twice(name string, dims ...int) *graph.Tensor {
	t := n.weights(name, -1, 1, dims...)
	v, _ := t.Const()
	list := v.F32()
	for d, at := dims[len(dims)-1], 0; at < len(list); at += d {
		copy(list[at+d/2:at+d], list[at:at+d/2])
	}
	return t
}

// cutTo returns the first of so many rows of a table of angles, as many as x is long.
func (n *net) cutTo(name string, x *graph.Tensor, rows int) *graph.Tensor {
	table := n.twice(name+" table", rows, 8)
	length := n.add(name+" length", graph.ShapeOf, graph.ShapeAttrs{Start: 2, End: 3}, x)
	return n.add(name, graph.Slice, graph.SliceAttrs{}, table, n.ints(0), length, n.ints(0))
}

func TestRotaryAsWritten(t *testing.T) {
	const b, s, h, d = 2, 3, 4, 8
	testPass(t, recognise.Rotary, []passCase{
		{"neighbours", func(n *net) *graph.Network {
			x := n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d)
			return n.output(n.neighbours(x, n.weights("cos", -1, 1, 1, s, 1, d/2), n.weights("sin", -1, 1, 1, s, 1, d/2)))
		}},
		{"neighbours-by-steps", func(n *net) *graph.Network {
			x := n.input("x", b, s, h, d)
			cos, sin := n.input("cos", s, 1, d/2), n.input("sin", s, 1, d/2)
			e, f := n.turnedPairs(n.cut("U", x, 0, d, 2), n.cut("V", x, 1, d, 2), cos, sin)
			y := n.join("Joined", n.reshape("E", e, b, s, h, d/2, 1), n.reshape("F", f, b, s, h, d/2, 1))
			return n.output(n.reshape("Y", y, b, s, h*d))
		}},
		{"table-cut-to-an-open-length", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Const(b), symbolic.Const(h), symbolic.Symbol("length"), symbolic.Const(d))
			return n.output(n.halves(x, n.cutTo("cos", x, 6), n.cutTo("sin", x, 6)))
		}},
		{"table-of-one-cut-to-an-open-length", func(n *net) *graph.Network {
			x := n.AddInput("x", numeric.F32, symbolic.Const(b), symbolic.Const(h), symbolic.Symbol("length"), symbolic.Const(d))
			return n.output(n.halves(x, n.cutTo("cos", x, 1), n.cutTo("sin", x, 1)))
		}},
		{"sequence-first", func(n *net) *graph.Network { // with the cosines and sines in one tensor
			heads := n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d)
			both := n.add("Both", graph.Concat, graph.ConcatAttrs{}, n.twice("cos", 1, s, 1, 1, d), n.twice("sin", 1, s, 1, 1, d))
			angles := func(name string, i int64) *graph.Tensor {
				return n.add(name, graph.Gather, graph.GatherAttrs{}, both, n.AddConst("i", numeric.Values(numeric.I64, []int64{i})))
			}
			cos, sin := n.reshape("Cos", angles("C0", 0), s, 1, 1, d), n.reshape("Sin", angles("S0", 1), s, 1, 1, d)
			y := n.halves(n.transpose("Sequence", heads, 1, 0, 2, 3), cos, sin)
			return n.output(n.reshape("Y", n.transpose("Batch", y, 1, 0, 2, 3), b, s, h*d))
		}},
		{"scaled-behind-the-heads", func(n *net) *graph.Network {
			heads := n.transpose("Transpose", n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d), 0, 2, 1, 3)
			x := n.binary("Scaled", elementwise.Mul, n.scalar(0.5), heads)
			return n.output(n.halves(x, n.twice("cos", s, d), n.twice("sin", s, d)))
		}},
		{"scaled-and-used", func(n *net) *graph.Network {
			x := n.binary("Scaled", elementwise.Mul, n.scalar(0.5), n.input("x", b, h, s, d))
			return n.output(n.halves(x, n.twice("cos", s, d), n.twice("sin", s, d)), n.relu("Relu", x))
		}},
		{"sequence-first-from-the-start", func(n *net) *graph.Network { // nothing brings it there
			return n.output(n.halves(n.input("x", s, b, h, d), n.twice("cos", s, 1, 1, d), n.twice("sin", s, 1, 1, d)))
		}},
		{"halves-of-heads", func(n *net) *graph.Network {
			x := n.transpose("Transpose", n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d), 0, 2, 1, 3)
			return n.output(n.relu("Relu", n.halves(x, n.twice("cos", s, d), n.twice("sin", s, d))))
		}},
		{"halves-by-computed-angles", func(n *net) *graph.Network { // queries and keys share what is made of the angles
			f := n.input("angles", b, s, d/2)
			both := n.join("Both", f, f)
			cos := n.reshape("Cos_1", n.elt("Cos", elementwise.Cos, nil, both), b, 1, s, d)
			sin := n.reshape("Sin_1", n.elt("Sin", elementwise.Sin, nil, both), b, 1, s, d)
			return n.output(n.halves(n.input("q", b, h, s, d), cos, sin), n.halves(n.input("k", b, 2, s, d), cos, sin))
		}},
		{"heads-of-all-places-of-open-texts", func(n *net) *graph.Network { // as what experts made is scattered to
			x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("sequence"), symbolic.Const(h*d))
			all := n.relu("All", n.reshape("Flat", x, -1, h*d))
			texts := n.add("Texts", graph.ShapeOf, graph.ShapeAttrs{End: 2}, x)
			heads := n.add("Heads", graph.Reshape, graph.ReshapeAttrs{}, all, n.add("Shape", graph.Concat, graph.ConcatAttrs{}, texts, n.ints(h, d)))
			heads = n.transpose("Transpose", heads, 0, 2, 1, 3)
			return n.output(n.halves(heads, n.cutTo("cos", heads, 6), n.cutTo("sin", heads, 6)))
		}},
		{"halves-by-angles-that-are-turned", func(n *net) *graph.Network { // as ONNX Runtime moves Transposes behind what they are before
			f := n.input("angles", b, d/2, s)
			both := n.add("Both", graph.Concat, graph.ConcatAttrs{Axis: 1}, f, f)
			of := func(name string, op elementwise.Op) *graph.Tensor {
				y := n.binary(name+"_scaled", elementwise.Mul, n.elt(name, op, nil, both), n.scalar(2))
				return n.reshape(name+"_1", n.transpose(name+"_T", y, 0, 2, 1), b, 1, s, d)
			}
			return n.output(n.halves(n.input("x", b, h, s, d), of("Cos", elementwise.Cos), of("Sin", elementwise.Sin)))
		}},
		{"turned-angles-that-differ", func(n *net) *graph.Network {
			both := n.add("Both", graph.Concat, graph.ConcatAttrs{Axis: 1}, n.input("angles", b, d/2, s), n.input("others", b, d/2, s))
			of := func(name string, op elementwise.Op) *graph.Tensor {
				return n.reshape(name+"_1", n.transpose(name+"_T", n.elt(name, op, nil, both), 0, 2, 1), b, 1, s, d)
			}
			return n.output(n.halves(n.input("x", b, h, s, d), of("Cos", elementwise.Cos), of("Sin", elementwise.Sin)))
		}},
		{"halves-joined", func(n *net) *graph.Network {
			x := n.input("x", b, h, s, d)
			parts := n.parts(x, d/2, d/2)
			e, f := n.turnedPairs(parts[0], parts[1], n.weights("cos", -1, 1, s, d/2), n.weights("sin", -1, 1, s, d/2))
			return n.output(n.join("Joined", e, f))
		}},
		{"neighbours-brought-into-halves", func(n *net) *graph.Network {
			x := n.reshape("Pairs", n.input("x", b, h, s, d), b, h, s, d/2, 2)
			x = n.reshape("Halves", n.transpose("Apart", x, 0, 1, 2, 4, 3), b, h, s, d)
			return n.output(n.halves(x, n.twice("cos", s, d), n.twice("sin", s, d)))
		}},
		{"angles-stacked", func(n *net) *graph.Network { // each twice, side by side
			x := n.input("x", b, h, s, d)
			stacked := func(name string) *graph.Tensor {
				f := n.reshape(name+"_1", n.input(name, s, d/2), 1, 1, s, d/2, 1)
				return n.reshape(name+"_2", n.join(name+"_stacked", f, f), 1, 1, s, d)
			}
			v := n.reshape("V_1", n.elt("Neg", elementwise.Neg, nil, n.cut("V", x, 1, d, 2)), b, h, s, d/2, 1)
			turned := n.reshape("Turned", n.join("Joined", v, n.reshape("U_1", n.cut("U", x, 0, d, 2), b, h, s, d/2, 1)), b, h, s, d)
			return n.output(n.binary("Add", elementwise.Add, n.binary("C", elementwise.Mul, x, stacked("cos")), n.binary("S", elementwise.Mul, turned, stacked("sin"))))
		}},
		{"rest-before-pairs", func(n *net) *graph.Network {
			x := n.transpose("Transpose", n.reshape("Heads", n.input("x", b, s, h*2*d), b, s, h, 2*d), 0, 2, 1, 3)
			parts := n.parts(x, d, d)
			e, f := n.turnedPairs(n.cut("U", parts[1], 0, d, 2), n.cut("V", parts[1], 1, d, 2), n.weights("cos", -1, 1, s, d/2), n.weights("sin", -1, 1, s, d/2))
			return n.output(n.add("Joined", graph.Concat, graph.ConcatAttrs{Axis: 3}, parts[0], e, f))
		}},
		{"rest-around-pairs", func(n *net) *graph.Network {
			x := n.input("x", b, h, s, 16)
			parts := n.parts(x, 4, d, 4)
			y := n.halves(parts[1], n.twice("cos", s, d), n.twice("sin", s, d))
			return n.output(n.add("Joined", graph.Concat, graph.ConcatAttrs{Axis: 3}, parts[0], y, parts[2]))
		}},
		{"rest-behind-an-embedding", func(n *net) *graph.Network {
			x := n.transpose("Transpose", n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d), 0, 2, 1, 3)
			u := n.add("Turned", graph.Rotary, graph.RotaryAttrs{}, n.cut("First", x, 0, d/2, 1), n.weights("cos", -1, 1, 1, s, d/4), n.weights("sin", -1, 1, 1, s, d/4))
			return n.output(n.relu("Relu", n.join("Joined", u, n.cut("Rest", x, d/2, d, 1))))
		}},
		{"places-before-an-embedding", func(n *net) *graph.Network {
			x := n.input("x", b, h, s, d)
			rows := func(name string, from, to int) *graph.Tensor {
				return n.add(name, graph.Slice, graph.SliceAttrs{Starts: []int{from}, Ends: []int{to}, Axes: []int{2}}, x)
			}
			u := n.halves(rows("Others", 1, s), n.twice("cos", s-1, d), n.twice("sin", s-1, d))
			return n.output(n.add("All", graph.Concat, graph.ConcatAttrs{Axis: 2}, rows("First", 0, 1), u))
		}},
		{"places-around-an-embedding", func(n *net) *graph.Network {
			l, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: -2, Sizes: []int{1, 3, 2}}, []*graph.Tensor{n.input("x", b, h, 6, d)}, "first", "middle", "last")
			if err != nil {
				t.Fatal(err)
			}
			u := n.add("Turned", graph.Rotary, graph.RotaryAttrs{}, l.Outputs[1], n.input("cos", 1, 3, d/2), n.input("sin", 1, 3, d/2))
			return n.output(n.add("All", graph.Concat, graph.ConcatAttrs{Axis: 2}, l.Outputs[0], u, l.Outputs[2]))
		}},
		{"places-in-another-order", func(n *net) *graph.Network {
			x := n.input("x", b, h, s, d)
			rows := func(name string, from, to int) *graph.Tensor {
				return n.add(name, graph.Slice, graph.SliceAttrs{Starts: []int{from}, Ends: []int{to}, Axes: []int{2}}, x)
			}
			u := n.add("Turned", graph.Rotary, graph.RotaryAttrs{}, rows("Others", 1, s), n.input("cos", 1, s-1, d/2), n.input("sin", 1, s-1, d/2))
			return n.output(n.add("All", graph.Concat, graph.ConcatAttrs{Axis: 2}, u, rows("First", 0, 1)))
		}},
		{"other-components-behind-an-embedding", func(n *net) *graph.Network {
			x := n.input("x", b, h, s, d)
			u := n.add("Turned", graph.Rotary, graph.RotaryAttrs{}, n.cut("First", x, 0, d/2, 1), n.weights("cos", -1, 1, 1, s, d/4), n.weights("sin", -1, 1, 1, s, d/4))
			return n.output(n.join("Joined", u, n.cut("First again", x, 0, d/2, 1)))
		}},
		{"angles-repeated", func(n *net) *graph.Network {
			angles := func(name string, op elementwise.Op) *graph.Tensor {
				all := n.add(name, graph.Expand, nil, n.reshape(name+" pairs", n.input(name+" of pairs", s, d/2), s, d/2, 1), n.ints(s, d/2, 2))
				return n.elt(name+"s", op, nil, n.reshape(name+" all", all, s, d))
			}
			x := n.input("x", b, h, s, d)
			u, v := n.cut("U", x, 0, d, 2), n.elt("Neg", elementwise.Neg, nil, n.cut("V", x, 1, d, 2))
			turned := n.reshape("Turned", n.join("Pairs", n.reshape("E", v, b, h, s, d/2, 1), n.reshape("F", u, b, h, s, d/2, 1)), b, h, s, d)
			cos := angles("Angle", elementwise.Cos)
			sin := n.elt("Sines", elementwise.Sin, nil, cos.Producer.Inputs[0])
			return n.output(n.binary("Add", elementwise.Add, n.binary("C", elementwise.Mul, x, cos), n.binary("S", elementwise.Mul, turned, sin)))
		}},
		{"norm-of-cut-heads", func(n *net) *graph.Network {
			x := n.add("Norm", graph.RMSNorm, graph.LayerNormAttrs{Axis: -1}, n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d), n.weights("scale", -1, 1, d))
			return n.output(n.relu("Relu", n.halves(n.transpose("Transpose", x, 0, 2, 1, 3), n.twice("cos", s, d), n.twice("sin", s, d))))
		}},
		{"norm-of-heads-apart", func(n *net) *graph.Network {
			x := n.transpose("Transpose", n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d), 0, 2, 1, 3)
			y := n.add("Norm", graph.RMSNorm, graph.LayerNormAttrs{Axis: -1}, x, n.weights("scale", -1, 1, d))
			return n.output(n.relu("Relu", n.halves(y, n.twice("cos", s, d), n.twice("sin", s, d))))
		}},
		{"norm-with-a-second-consumer", func(n *net) *graph.Network {
			x := n.transpose("Transpose", n.reshape("Heads", n.input("x", b, s, h*d), b, s, h, d), 0, 2, 1, 3)
			y := n.add("Norm", graph.RMSNorm, graph.LayerNormAttrs{Axis: -1}, x, n.weights("scale", -1, 1, d))
			return n.output(n.halves(y, n.twice("cos", s, d), n.twice("sin", s, d)), n.relu("Relu", x))
		}},
		{"neighbours-written-in-halves", func(n *net) *graph.Network {
			x := n.input("x", b, s, h, d)
			e, f := n.turnedPairs(n.cut("U", x, 0, d, 2), n.cut("V", x, 1, d, 2), n.weights("cos", -1, 1, s, 1, d/2), n.weights("sin", -1, 1, s, 1, d/2))
			return n.output(n.join("Joined", e, f))
		}},
		{"components-change-places", func(n *net) *graph.Network {
			x := n.input("x", b, s, h, d)
			e, f := n.turnedPairs(n.cut("U", x, 0, d, 2), n.cut("V", x, 1, d, 2), n.weights("cos", -1, 1, s, 1, d/2), n.weights("sin", -1, 1, s, 1, d/2))
			return n.output(n.join("Joined", f, e))
		}},
		{"angles-of-a-pair-differ", func(n *net) *graph.Network {
			return n.output(n.halves(n.input("x", b, h, s, d), n.weights("cos", -1, 1, s, d), n.twice("sin", s, d)))
		}},
		{"angles-are-not-known", func(n *net) *graph.Network {
			return n.output(n.halves(n.input("x", b, h, s, d), n.input("cos", b, 1, s, d), n.input("sin", b, 1, s, d)))
		}},
		{"angles-of-heads", func(n *net) *graph.Network {
			return n.output(n.halves(n.input("x", b, h, s, d), n.twice("cos", h, s, d), n.twice("sin", h, s, d)))
		}},
		{"three-axes", func(n *net) *graph.Network {
			return n.output(n.halves(n.input("x", b, s, d), n.twice("cos", s, d), n.twice("sin", s, d)))
		}},
		{"second-consumer", func(n *net) *graph.Network {
			y := n.halves(n.input("x", b, h, s, d), n.twice("cos", s, d), n.twice("sin", s, d))
			return n.output(y, n.relu("Relu", n.Tensor("turned")))
		}},
		{"network-output", func(n *net) *graph.Network {
			y := n.halves(n.input("x", b, h, s, d), n.twice("cos", s, d), n.twice("sin", s, d))
			return n.output(y, n.Tensor("turned"))
		}},
	})
}

// rotations are of parts of the products of x f32[2,3,4], and an attention between them.
func rotations(n *net, angles [2]string, sizes ...int) *graph.Network {
	x := n.input("x", 2, 3, 4)
	wide := n.add("MatMul", graph.MatMul, nil, x, n.weights("w", -1, 1, 4, sizes[0]+sizes[1]+sizes[2]))
	parts := n.parts(wide, sizes...)
	cos := map[string]*graph.Tensor{"a": n.weights("a", -1, 1, 1, 3, 4), "b": n.weights("b", -1, 1, 1, 3, 4)}
	turn := func(name string, x *graph.Tensor, by string) *graph.Tensor {
		heads, _ := x.Dims[2].DivN(8).IsConst()
		return n.add(name, graph.Rotary, graph.RotaryAttrs{Heads: heads}, x, cos[by], cos["a"])
	}
	q, k := turn("Q", parts[0], angles[0]), turn("K", parts[1], angles[1])
	a := graph.AttentionAttrs{Heads: sizes[0] / 8, KVHeads: sizes[1] / 8}
	return n.output(n.add("Attention", graph.Attention, a, q, k, parts[2]))
}

func TestMergeRotations(t *testing.T) {
	for name, build := range map[string]func(n *net) *graph.Network{
		"queries-and-keys": func(n *net) *graph.Network { return rotations(n, [2]string{"a", "a"}, 32, 16, 16) },
		"angles-differ":    func(n *net) *graph.Network { return rotations(n, [2]string{"a", "b"}, 32, 16, 16) },
		"network-output": func(n *net) *graph.Network {
			rotations(n, [2]string{"a", "a"}, 32, 16, 16)
			return n.output(n.Tensor("k"))
		},
		"copied": func(n *net) *graph.Network {
			rotations(n, [2]string{"a", "a"}, 32, 16, 16)
			return n.output(n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, n.Tensor("q")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := build(newNet(t, name))
			got, steps := runPass(t, n, []pass.Pass{fuse.MergeRotations}, pass.Config{})
			sameMeaning(t, n, got, 1e-5)
			golden.RequireEqual(t, []byte(report(n, got, steps)))
		})
	}
}

func TestFuseRotations(t *testing.T) {
	// between is an attention of turned queries and keys, of [2,3,heads*8].
	between := func(n *net, q, k graph.RotaryAttrs, angles ...*graph.Tensor) *graph.Tensor {
		turn := func(name string, a graph.RotaryAttrs, angles *graph.Tensor) *graph.Tensor {
			return n.add(name, graph.Rotary, a, n.input("x"+name, 2, 3, 8*max(a.Heads, 1)), angles, angles)
		}
		a := graph.AttentionAttrs{Heads: 4, KVHeads: 2}
		return n.add("Attention", graph.Attention, a, turn("Q", q, angles[0]), turn("K", k, angles[len(angles)-1]), n.input("v", 2, 3, 16))
	}
	q, k := graph.RotaryAttrs{Heads: 4}, graph.RotaryAttrs{Heads: 2}
	testPass(t, fuse.Rotations, []passCase{
		{"queries-and-keys", func(n *net) *graph.Network { return n.output(between(n, q, k, n.weights("a", -1, 1, 1, 3, 4))) }},
		{"with-epilogue-and-past", func(n *net) *graph.Network {
			a := n.input("a", 2, 3, 4)
			turn := func(name string, x *graph.Tensor) *graph.Tensor {
				return n.add(name, graph.Rotary, graph.RotaryAttrs{Interleaved: true}, x, a, a)
			}
			qkv := []*graph.Tensor{turn("Q", n.input("q", 2, 4, 3, 8)), turn("K", n.input("k", 2, 2, 3, 8)), n.input("v", 2, 2, 3, 8), nil,
				n.input("pk", 2, 2, 5, 8), n.input("pv", 2, 2, 5, 8)}
			return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{}, qkv...))
		}},
		{"angles-differ", func(n *net) *graph.Network {
			return n.output(between(n, q, k, n.weights("a", -1, 1, 1, 3, 4), n.weights("b", -1, 1, 1, 3, 4)))
		}},
		{"some-components", func(n *net) *graph.Network {
			q, k := graph.RotaryAttrs{Heads: 4, Size: 6}, graph.RotaryAttrs{Heads: 2, Size: 6}
			return n.output(between(n, q, k, n.weights("a", -1, 1, 1, 3, 3)))
		}},
		{"other-pairs", func(n *net) *graph.Network {
			return n.output(between(n, q, graph.RotaryAttrs{Heads: 2, Interleaved: true}, n.weights("a", -1, 1, 1, 3, 4)))
		}},
		{"other-heads", func(n *net) *graph.Network {
			a := n.weights("a", -1, 1, 1, 3, 2)
			x := n.add("Q", graph.Rotary, graph.RotaryAttrs{Heads: 8}, n.input("q", 2, 3, 32), a, a)
			y := n.add("K", graph.Rotary, graph.RotaryAttrs{Heads: 4}, n.input("k", 2, 3, 16), a, a)
			return n.output(n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 4, KVHeads: 2}, x, y, n.input("v", 2, 3, 16)))
		}},
		{"second-consumer", func(n *net) *graph.Network {
			y := between(n, q, k, n.weights("a", -1, 1, 1, 3, 4))
			return n.output(y, n.relu("Relu", n.Tensor("k")))
		}},
		{"network-output", func(n *net) *graph.Network {
			y := between(n, q, k, n.weights("a", -1, 1, 1, 3, 4))
			return n.output(y, n.Tensor("q"))
		}},
	})
}
