package passes

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Scales in these tests are powers of two, so that real arithmetic on quantised numbers is exact and the lowered network
// must give the very same outputs.

func (n *net) quantize(name string, x *graph.Tensor, scale float32, zero int32, t numeric.DataType) *graph.Tensor {
	return n.add(name, graph.Quantize, graph.QuantAttrs{Range: numeric.PerTensor(scale, zero), Type: t}, x)
}

func (n *net) dequantize(name string, q *graph.Tensor, r numeric.Range) *graph.Tensor {
	return n.add(name, graph.Dequantize, graph.QuantAttrs{Range: r, Type: numeric.F32}, q)
}

// qdq adds a pair with signed 8-bit integers between.
func (n *net) qdq(name string, x *graph.Tensor, scale float32) *graph.Tensor {
	q := n.quantize(name+"_Q", x, scale, 0, numeric.I8)
	return n.dequantize(name+"_DQ", q, numeric.PerTensor(scale, 0))
}

// qweights adds dequantised random weights with a scale for each index of an axis, or one if the axis is -1.
func (n *net) qweights(name string, axis int, dims ...int) *graph.Tensor {
	v := numeric.NewValue(numeric.I8, dims...)
	for i := range v.Data {
		v.Data[i] = byte(n.rng.IntN(256))
	}
	r := numeric.PerTensor(1.0/64, 0)
	if axis >= 0 {
		r = numeric.Range{Axis: axis}
		for i := range dims[axis] {
			r.Scale = append(r.Scale, []float32{1.0 / 64, 1.0 / 128}[i%2])
		}
	}
	return n.dequantize(name+"_DQ", n.AddConst(name, v), r)
}

// qbias adds a dequantised bias of 32-bit integers.
func (n *net) qbias(name string, m int) *graph.Tensor {
	v := numeric.NewValue(numeric.I32, m)
	for i := range v.I32() {
		v.I32()[i] = int32(n.rng.IntN(2000) - 1000)
	}
	return n.dequantize(name+"_DQ", n.AddConst(name, v), numeric.PerTensor(1.0/1024, 0))
}

func (n *net) qconv(name string, x *graph.Tensor, m, k, pad int) *graph.Tensor {
	c, _ := x.Dims[1].IsConst()
	a := graph.ConvAttrs{Group: 1, Pads: []int{pad, pad, pad, pad}}
	return n.add(name, graph.Conv, a, x, n.qweights(name+"_w", 0, m, c, k, k), n.qbias(name+"_b", m))
}

// sameOutputs checks that both networks give equal outputs.
func sameOutputs(t testing.TB, want, got *graph.Network, tolerance float64) {
	t.Helper()
	in := randomInputs(want, 3)
	before, err := want.Eval(context.Background(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := got.Eval(context.Background(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range want.Outputs {
		if d := difference(after[o.Name].Floats(), before[o.Name].Floats()); !(d <= tolerance) {
			t.Errorf("%s differs by %g in\n%s\nfrom\n%s", o.Name, d, got, want)
		}
	}
}

func quantizedCases() []passCase {
	pool := graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}
	return []passCase{
		{"conv-relu", func(n *net) *graph.Network { // as exporters write quantised models
			x := n.qdq("X", n.input("x", 2, 3, 5, 5), 1.0/32)
			y := n.relu("Relu", n.qconv("Conv", x, 4, 3, 1))
			return n.output(n.qdq("Y", y, 1.0/4))
		}},
		{"unsigned-with-zero-points", func(n *net) *graph.Network {
			x := n.dequantize("X_DQ", n.AddInput("x", numeric.U8, symbolic.Shape(2, 3, 5, 5)...), numeric.PerTensor(1.0/32, 120))
			v := numeric.NewValue(numeric.U8, 4, 3, 3, 3)
			for i := range v.Data {
				v.Data[i] = byte(n.rng.IntN(256))
			}
			w := n.dequantize("W_DQ", n.AddConst("w", v), numeric.PerTensor(1.0/64, 131))
			y := n.add("Conv", graph.Conv, graph.ConvAttrs{Group: 1, Pads: []int{1, 1, 1, 1}}, x, w)
			return n.output(n.quantize("Y_Q", n.elt("Clip", elementwise.Clamp, []float32{0, 6}, y), 1.0/32, 3, numeric.U8))
		}},
		{"residual", func(n *net) *graph.Network { // as the quantiser places pairs on a fused network
			x := n.qdq("X", n.input("x", 2, 3, 5, 5), 1.0/32)
			a := n.qdq("A", n.relu("Relu_1", n.qconv("Conv_1", x, 3, 3, 1)), 1.0/4)
			b := n.binary("Add", elementwise.Add, n.qconv("Conv_2", a, 3, 3, 1), x)
			return n.output(n.qdq("B", n.relu("Relu_2", b), 1))
		}},
		{"pool-concat-reshape", func(n *net) *graph.Network {
			x := n.qdq("X", n.input("x", 2, 2, 4, 4), 1.0/32)
			a := n.qdq("A", n.relu("Relu_1", n.qconv("Conv_1", x, 2, 3, 1)), 1.0/4)
			b := n.qdq("B", n.relu("Relu_2", n.qconv("Conv_2", x, 3, 1, 0)), 1.0/4)
			c := n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: 1}, a, b)
			p := n.qdq("P", n.add("MaxPool", graph.MaxPool, pool, c), 1.0/4)
			f := n.reshape("Reshape", p, 0, -1)
			g := n.add("Gemm", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: true}, f, n.qweights("g", 0, 4, 20), n.qbias("h", 4))
			return n.output(n.add("Softmax", graph.Softmax, graph.SoftmaxAttrs{Axis: -1}, n.qdq("G", g, 1.0/2)))
		}},
		{"concat-then-quantize", func(n *net) *graph.Network { // one pair behind the concatenation serves both branches
			x := n.qdq("X", n.input("x", 2, 2, 4, 4), 1.0/32)
			a, b := n.relu("Relu_1", n.qconv("Conv_1", x, 2, 3, 1)), n.relu("Relu_2", n.qconv("Conv_2", x, 3, 1, 0))
			c := n.qdq("C", n.add("Concat", graph.Concat, graph.ConcatAttrs{Axis: 1}, a, b), 1.0/4)
			return n.output(n.qdq("Y", n.qconv("Conv_3", c, 2, 1, 0), 1))
		}},
		{"requantize", func(n *net) *graph.Network {
			x := n.qdq("X", n.qdq("W", n.input("x", 2, 3, 5, 5), 1.0/32), 1.0/8)
			return n.output(n.qdq("Y", n.qconv("Conv", x, 4, 1, 0), 1))
		}},
		{"pointwise-and-average", func(n *net) *graph.Network {
			x, z := n.qdq("X", n.input("x", 2, 4, 4, 4), 1.0/32), n.qdq("Z", n.input("z", 2, 4, 4, 4), 1.0/16)
			y := n.qdq("Y", n.binary("Add", elementwise.Add, x, z), 1.0/16)
			return n.output(n.qdq("A", n.add("Pool", graph.AveragePool, graph.PoolAttrs{Global: true}, y), 1.0/64))
		}},
		{"functions-of-a-byte", func(n *net) *graph.Network { // SiLU and hard-swish, and products of two tensors, in parts of 8 bits
			x, z := n.qdq("X", n.input("x", 2, 4, 4, 4), 1.0/32), n.qdq("Z", n.input("z", 2, 4, 4, 4), 1.0/16)
			part := func(name string, op elementwise.Op, imm []float32, in ...*graph.Tensor) *graph.Tensor {
				return n.qdq(name+"_Y", n.elt(name, op, imm, in...), 1.0/64)
			}
			silu := part("Silu", elementwise.Mul, nil, x, part("Sigmoid", elementwise.Sigmoid, nil, x))
			shifted := part("Shift", elementwise.Add, nil, silu, n.scalar(3))
			hard := part("Hard", elementwise.Mul, nil, silu, part("Clip", elementwise.Clamp, []float32{0, 6}, shifted))
			return n.output(part("Two", elementwise.Mul, nil, hard, part("Tanh", elementwise.Tanh, nil, z)))
		}},
		{"residual-in-bytes", func(n *net) *graph.Network { // into the later of two convolutions, behind its own activation, and not past a clamp
			x := n.qdq("X", n.input("x", 1, 4, 6, 6), 1.0/32)
			short := n.qdq("Short_Y", n.qconv("Short", x, 4, 1, 0), 1.0/4)
			main := n.qdq("Main_Y", n.relu("Main_relu", n.qconv("Main", x, 4, 3, 1)), 1.0/8)
			first := n.qdq("First_Y", n.relu("First_relu", n.binary("First", elementwise.Add, main, short)), 1.0/4)
			next := n.qdq("Next_Y", n.qconv("Next", first, 4, 1, 0), 1.0/2)
			second := n.qdq("Second_Y", n.binary("Second", elementwise.Add, first, next), 1.0/2)
			return n.output(n.qdq("Third_Y", n.binary("Third", elementwise.Mul, second, n.qdq("Last_Y", n.qconv("Last", second, 4, 1, 0), 1)), 1))
		}},
		{"upsampled", func(n *net) *graph.Network { // by a transposed convolution, to the nearest, and between pixels
			x := n.qdq("X", n.input("x", 1, 4, 3, 3), 1.0/32)
			a := graph.ConvTransposeAttrs{Strides: []int{2, 2}, Group: 1}
			up := n.add("Up", graph.ConvTranspose, a, x, n.qweights("w", 1, 4, 3, 2, 2), n.qbias("b", 3))
			y := n.qdq("Y", n.relu("Relu", up), 1.0/4)
			twice := graph.ResizeAttrs{Scales: []float32{1, 1, 2, 2}, Mode: "nearest", Coordinates: "asymmetric", Nearest: "floor"}
			near := n.qdq("N", n.add("Nearest", graph.Resize, twice, y), 1.0/4)
			twice.Mode = "linear"
			return n.output(n.qdq("Z", n.add("Linear", graph.Resize, twice, near), 1.0/4))
		}},
		{"repeated", func(n *net) *graph.Network { // Tile moves elements by its attributes, Gather by an index
			x := n.qdq("X", n.input("x", 1, 2, 3, 3), 1.0/32)
			tiled := n.qdq("T", n.add("Tile", graph.Tile, graph.TileAttrs{Repeats: []int{1, 1, 2, 2}}, n.relu("Relu", n.qconv("Conv", x, 2, 1, 0))), 1.0/4)
			rows := n.AddConst("rows", numeric.Values(numeric.I64, []int64{2, 0}, 2))
			y := n.qdq("Y", n.add("Gather", graph.Gather, graph.GatherAttrs{Axis: 2}, n.qconv("Conv_2", tiled, 2, 1, 0), rows), 1)
			return n.output(n.relu("Relu_2", y))
		}},
		{"attention-of-parts", func(n *net) *graph.Network { // of which each has a range of its own
			x := n.qdq("X", n.input("x", 2, 5, 8), 1.0/32)
			y := n.add("MatMul", graph.MatMul, nil, x, n.qweights("w", 1, 8, 18))
			split, err := n.Add("Split", graph.Split, graph.SplitAttrs{Axis: -1, Sizes: []int{8, 4, 6}}, []*graph.Tensor{y}, "q", "k", "v")
			if err != nil {
				n.t.Fatal(err)
			}
			parts := slices.Clone(split.Outputs)
			for i, scale := range []float32{1.0 / 32, 1.0 / 16, 1.0 / 64} {
				parts[i] = n.qdq("QKV"[i:i+1], parts[i], scale)
			}
			y = n.add("Attention", graph.Attention, graph.AttentionAttrs{Heads: 4, KVHeads: 2}, parts...)
			return n.output(n.add("Out", graph.MatMul, nil, n.qdq("Y", y, 1.0/64), n.qweights("o", 1, 12, 3)))
		}},
		{"normalization-to-bytes", func(n *net) *graph.Network {
			y := n.add("LayerNorm", graph.LayerNorm, graph.LayerNormAttrs{Axis: -1, Epsilon: 1e-5}, n.input("x", 2, 5, 8), n.weights("scale", -1, 1, 8))
			return n.output(n.add("MatMul", graph.MatMul, nil, n.qdq("Y", y, 1.0/32), n.qweights("w", 1, 8, 3)))
		}},
		{"weights-from-float", func(n *net) *graph.Network { // quantised and transposed constants
			x := n.qdq("X", n.input("x", 2, 4), 1.0/32)
			w := n.transpose("Transpose", n.qweights("w", 0, 3, 4), 1, 0)
			v := n.qdq("V", n.weights("v", -1, 1, 3, 2), 1.0/64)
			y := n.qdq("Y", n.add("MatMul", graph.MatMul, nil, x, w), 1.0/4)
			return n.output(n.add("MatMul_2", graph.MatMul, nil, y, v))
		}},
		{"half-quantized", func(n *net) *graph.Network { // weights without activations
			return n.output(n.qconv("Conv", n.input("x", 1, 2, 4, 4), 2, 1, 0))
		}},
		{"used-as-float-too", func(n *net) *graph.Network {
			x := n.qdq("X", n.input("x", 2, 3, 5, 5), 1.0/32)
			y := n.qconv("Conv", x, 4, 3, 1)
			return n.output(n.qdq("Y", y, 1), n.elt("Exp", elementwise.Exp, nil, y))
		}},
	}
}

func TestLowering(t *testing.T) {
	for _, c := range quantizedCases() {
		t.Run(c.name, func(t *testing.T) {
			n := c.build(newNet(t, c.name))
			fused, steps := runPass(t, n, Standard(), pass.Config{})
			sameMeaning(t, n, fused, 0)
			got, steps := runPass(t, fused, Lowering(), pass.Config{Ledger: steps[len(steps)-1].Ledger})
			sameOutputs(t, n, got, 0)
			if !got.Lowered {
				t.Error("the result is not marked as lowered")
			}
			golden.RequireEqual(t, []byte(report(fused, got, steps)))
		})
	}
}

// TestCastToItsOwnType lowers a Cast that does nothing, which a pass that was switched off would have removed: it names the type of
// its result, and stays real.
func TestCastToItsOwnType(t *testing.T) {
	m := newNet(t, "cast")
	cast := func(name string, x *graph.Tensor) *graph.Tensor {
		return m.add(name, graph.Cast, graph.CastAttrs{To: numeric.F32}, x)
	}
	x := m.qdq("X", cast("Cast_1", m.input("x", 2, 3, 5, 5)), 1.0/32)
	n := m.output(m.qconv("Conv", cast("Cast_2", x), 4, 3, 1))
	got, _ := runPass(t, n, Lowering(), pass.Config{})
	sameOutputs(t, n, got, 1e-6)
}

// TestJoinKeepsNaN: integers are numbers, and what becomes NaN on the way to them is joined with nothing.
func TestJoinKeepsNaN(t *testing.T) {
	for op, want := range map[elementwise.Op]int{elementwise.Log: 2, elementwise.Exp: 1} {
		m := newNet(t, "nan")
		x := m.qdq("X", m.input("x", 2, 8), 1.0/32)
		n := m.output(m.qdq("Y", m.binary("Mul", elementwise.Mul, x, m.qdq("F", m.elt("Of", op, nil, x), 1.0/4)), 1.0/4))
		got, _ := runPass(t, n, Lowering(), pass.Config{})
		layers := 0
		for _, l := range got.Layers {
			if _, ok := l.Attrs.(graph.Elementwise); ok {
				layers++
			}
		}
		if layers != want {
			t.Errorf("of %v and a product %d layers became %d, want %d", op, 2, layers, want)
		}
	}
}

// TestDecreasingScales: where a scale is negative the largest integer stands for the least number, and layers stay real.
func TestDecreasingScales(t *testing.T) {
	m := newNet(t, "decreasing")
	pool := graph.PoolAttrs{Kernel: []int{2, 2}, Strides: []int{2, 2}}
	y := m.add("MaxPool", graph.MaxPool, pool, m.qdq("X", m.input("x", 1, 2, 4, 4), -1.0/16))
	n := m.output(m.qdq("Y", m.relu("Relu", y), -1.0/32))
	got, _ := runPass(t, n, Lowering(), pass.Config{})
	sameOutputs(t, n, got, 0)
}

// TestConstantQuantizedAgain: a constant that is dequantised and quantised by another range is one.
func TestConstantQuantizedAgain(t *testing.T) {
	m := newNet(t, "again")
	q := m.quantize("Q", m.qweights("w", -1, 2, 3), 1.0/16, 7, numeric.U8)
	n := m.output(m.dequantize("DQ", q, numeric.PerTensor(1.0/16, 7)))
	for _, c := range []struct {
		off []string
		has *graph.Op // what is computed anew each time
	}{{nil, nil}, {[]string{"quantize-weights"}, graph.Quantize}} {
		got, _ := runPass(t, n, Lowering(), pass.Config{DisableRules: c.off})
		sameOutputs(t, n, got, 0)
		for _, l := range got.Layers {
			if (l.Op == graph.Reformat || l.Op == graph.Quantize) && l.Op != c.has {
				t.Errorf("without %v there is\n%s", c.off, got)
			}
		}
	}
}

// TestLoweringWithoutTactics lowers for targets that lack some or all integer tactics.
func TestLoweringWithoutTactics(t *testing.T) {
	targets := map[string]func(*graph.Layer) error{
		"none": func(l *graph.Layer) error {
			if slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return t != nil && t.Quantized() }) {
				return errors.New("no 8-bit integers")
			}
			return nil
		},
		"float results": func(l *graph.Layer) error {
			if l.Op == graph.Conv && l.Outputs[0].Quantized() {
				return errors.New("results are f32")
			}
			return nil
		},
	}
	for name, supports := range targets {
		for _, c := range quantizedCases() {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				n := c.build(newNet(t, c.name))
				got, _ := runPass(t, n, Lowering(), pass.Config{Supports: supports})
				sameOutputs(t, n, got, 1e-6)
				for _, l := range got.Layers {
					if l.Op != graph.Quantize && l.Op != graph.Dequantize && pass.NeedsTactic(l.Op) && supports(l) != nil {
						t.Errorf("layer %s has no tactic", l)
					}
				}
			})
		}
	}
}

// TestComputedIntegers: integers that a layer computes stay what they are where a Dequantize reads them; layers behind it
// compute with real numbers.
func TestComputedIntegers(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(n *net, x *graph.Tensor) *graph.Tensor
	}{
		{"zero point", func(n *net, x *graph.Tensor) *graph.Tensor {
			l, err := n.Add("dynamic", graph.DynamicQuantize, nil, []*graph.Tensor{x}, "y", "scale", "zero")
			if err != nil {
				t.Fatal(err)
			}
			return l.Outputs[2]
		}},
		{"bits", func(n *net, x *graph.Tensor) *graph.Tensor {
			return n.add("Not", graph.BitwiseNot, nil, n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.U8}, x))
		}},
		{"cast", func(n *net, x *graph.Tensor) *graph.Tensor {
			return n.add("Cast", graph.Cast, graph.CastAttrs{To: numeric.I8}, x)
		}},
	} {
		for _, op := range []elementwise.Op{elementwise.Relu, elementwise.Ceil, elementwise.Exp} {
			n := newNet(t, tt.name)
			q := tt.make(n, n.input("x", 2, 3))
			n.output(n.elt("Act", op, nil, n.dequantize("D", q, numeric.PerTensor(0.25, 0))))
			got, _ := runPass(t, n.Network, Lowering(), pass.Config{})
			sameOutputs(t, n.Network, got, 1e-5)
		}
	}
}
