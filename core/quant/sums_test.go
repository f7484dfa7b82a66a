package quant

import (
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// spelledNorm is a normalisation of rows of 512 by elementary layers: by mean and variance, or by the mean square alone.
func spelledNorm(t *testing.T, variance bool) *graph.Network {
	b := newNet(t, "norm")
	ops := graph.Ops()
	binary := func(name string, op elementwise.Op, x, y *graph.Tensor) *graph.Tensor {
		return b.add(name, ops.Named("Pointwise"), graph.Elementwise{Program: elementwise.Binary(op)}, x, y)
	}
	scalar := func(name string, v float32) *graph.Tensor {
		return b.n.AddConst(name, numeric.Values(numeric.F32, []float32{v}, 1))
	}
	x := b.n.AddInput("x", numeric.F32, symbolic.Const(4), symbolic.Const(512))
	x = binary("large", elementwise.Mul, x, scalar("factor", 400))
	var spread *graph.Tensor
	centre := x
	if variance {
		sum := b.add("sum", graph.ReduceSum, graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}, x)
		mean := binary("mean", elementwise.Mul, sum, scalar("nth", 1.0/512))
		squares := b.add("sum_squares", graph.ReduceSum, graph.ReduceAttrs{Axes: []int{1}}, binary("square", elementwise.Mul, x, x))
		column := b.add("column", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{1}}, squares)
		spread = binary("variance", elementwise.Sub, binary("mean_square", elementwise.Mul, column, scalar("nth_2", 1.0/512)), binary("squared_mean", elementwise.Mul, mean, mean))
		centre = binary("centre", elementwise.Sub, x, mean)
	} else {
		square := binary("square", elementwise.Pow, x, scalar("two", 2))
		spread = b.add("mean_square", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}, square)
	}
	root := b.add("root", ops.Named("Pointwise"), graph.Elementwise{Program: elementwise.Unary(elementwise.Sqrt)}, binary("shifted", elementwise.Add, spread, scalar("epsilon", 1e-6)))
	b.n.MarkOutput(binary("y", elementwise.Div, centre, root))
	if err := b.n.Verify(); err != nil {
		t.Fatal(err)
	}
	return b.n
}

// TestFP16SumsOfSquares: a normalisation whose sums of squares F16 does not hold is right in F16, and nothing is converted
// for it; where F16 is asked for, the sums are what they are in F16.
func TestFP16SumsOfSquares(t *testing.T) {
	for _, variance := range []bool{true, false} {
		n := spelledNorm(t, variance)
		half := n.Clone()
		list, err := PlaceFP16(half, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		if err := half.Verify(); err != nil {
			t.Fatal(err)
		}
		if e, err := Compare(eval(t, n), eval(t, half)); err != nil || e.SQNRdB < 55 {
			t.Errorf("variance %v: %.1f dB, %v\n%s", variance, e.SQNRdB, err, decisionText(list))
		}
		reformats := 0
		for _, l := range half.Layers {
			if l.Op == graph.Reformat {
				reformats++
			}
		}
		if reformats != 2 {
			t.Errorf("%d reformats, want those of input and output:\n%s", reformats, half)
		}
		for name, want := range map[string]numeric.DataType{"large_out": numeric.F16, "square_out": numeric.F32, "mean_square_out": numeric.F32, "shifted_out": numeric.F32, "root_out": numeric.F16} {
			if got := half.Tensor(name).Type; got != want {
				t.Errorf("variance %v: %s is %v, want %v", variance, name, got, want)
			}
		}
		asked := n.Clone()
		rules, err := ParseRules("*:fp16")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := PlaceFP16(asked, Policy{Rules: rules}); err != nil {
			t.Fatal(err)
		}
		if x := eval(t, asked)[0]; asked.Tensor("square_out").Type != numeric.F16 || x != 0 && !math.IsNaN(float64(x)) {
			t.Errorf("variance %v: asked for F16, the first element is %v", variance, x)
		}
	}
}

// rowsNet is a product whose rows differ a thousandfold, a normalisation of them that is spelled out, and a product that
// reads it, so that INT8 wants what the normalisation gives.
func rowsNet(t *testing.T, centred bool, divide func(b *netBuilder, a *graph.Tensor) *graph.Tensor) *graph.Network {
	b := newNet(t, "rows")
	x := b.n.AddInput("x", numeric.F32, symbolic.Const(8), symbolic.Const(64))
	size := make([]float32, 8)
	for i := range size {
		size[i] = float32(math.Pow(10, float64(i)*3/7-3))
	}
	a := b.add("first", graph.MatMul, nil, x, b.random("w", 64, 64))
	a.Producer.Fuse(elementwise.Binary(elementwise.Mul), 0, b.n.AddConst("size", numeric.Values(numeric.F32, size, 8, 1)))
	if centred {
		mean := b.add("mean", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}, a)
		a = b.add("centre", graph.Ops().Named("Pointwise"), graph.Elementwise{Program: elementwise.Binary(elementwise.Sub)}, a, mean)
	}
	b.n.MarkOutput(b.add("last", graph.MatMul, nil, divide(b, a), b.random("w_last", 64, 16)))
	if err := b.n.Verify(); err != nil {
		t.Fatal(err)
	}
	return b.n
}

// TestPlaceSumsOfSquares: INT8 leaves normalisations that are spelled out in floating point, so that rows that are small
// beside others are as right as those, as they are where the normalisation is one layer.
func TestPlaceSumsOfSquares(t *testing.T) {
	rows := graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}
	layer := func(b *netBuilder, name string, p elementwise.Program, in ...*graph.Tensor) *graph.Tensor {
		return b.add(name, graph.Ops().Named("Pointwise"), graph.Elementwise{Program: p}, in...)
	}
	scalar := func(b *netBuilder, name string, v float32) *graph.Tensor {
		return b.n.AddConst(name, numeric.Values(numeric.F32, []float32{v}, 1))
	}
	divide := func(b *netBuilder, a, spread *graph.Tensor) *graph.Tensor {
		root := layer(b, "root", elementwise.Unary(elementwise.Sqrt), layer(b, "shifted", elementwise.Binary(elementwise.Add), spread, scalar(b, "epsilon", 1e-12)))
		return layer(b, "divide", elementwise.Binary(elementwise.Div), a, root)
	}
	for name, norm := range map[string]func(b *netBuilder, a *graph.Tensor) *graph.Tensor{
		"mul": func(b *netBuilder, a *graph.Tensor) *graph.Tensor {
			return divide(b, a, b.add("spread", graph.ReduceMean, rows, layer(b, "square", elementwise.Binary(elementwise.Mul), a, a)))
		},
		"pow": func(b *netBuilder, a *graph.Tensor) *graph.Tensor {
			return divide(b, a, b.add("spread", graph.ReduceSum, rows, layer(b, "square", elementwise.Binary(elementwise.Pow), a, scalar(b, "two", 2))))
		},
		"sum of squares": func(b *netBuilder, a *graph.Tensor) *graph.Tensor {
			return divide(b, a, b.add("spread", graph.ReduceSumSquare, rows, a))
		},
		"length": func(b *netBuilder, a *graph.Tensor) *graph.Tensor {
			return layer(b, "divide", elementwise.Binary(elementwise.Div), a, b.add("root", graph.ReduceL2, rows, a))
		},
		"reciprocal, reshaped": func(b *netBuilder, a *graph.Tensor) *graph.Tensor {
			spread := b.add("spread", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}}, layer(b, "square", elementwise.Binary(elementwise.Mul), a, a))
			root := layer(b, "root", elementwise.Unary(elementwise.Sqrt).Then(elementwise.Unary(elementwise.Reciprocal), 0), spread)
			return layer(b, "divide", elementwise.Binary(elementwise.Mul), a, b.add("column", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{1}}, root))
		},
	} {
		for _, centred := range []bool{false, true} {
			n := rowsNet(t, centred, norm)
			q, list := place(t, n, MinMax{}, Policy{})
			want, got := eval(t, n), eval(t, q)
			for row := range 8 {
				if e, err := Compare(want[16*row:16*row+16], got[16*row:16*row+16]); err != nil || e.SQNRdB < 25 {
					t.Errorf("%s, centred %v: row %d has %.1f dB, %v\n%s", name, centred, row, e.SQNRdB, err, decisionText(list))
				}
			}
			for _, d := range list {
				if weighted := d.Layer == "first" || d.Layer == "last"; weighted != (d.Precision == numeric.I8) {
					t.Errorf("%s, centred %v: %s is %v: %s", name, centred, d.Layer, d.Precision, d.Reason)
				}
			}
		}
	}
	rules, err := ParseRules("divide:int8")
	if err != nil {
		t.Fatal(err)
	}
	n := rowsNet(t, false, func(b *netBuilder, a *graph.Tensor) *graph.Tensor {
		return layer(b, "divide", elementwise.Binary(elementwise.Div), a, b.add("root", graph.ReduceL2, rows, a))
	})
	if _, list := place(t, n, MinMax{}, Policy{Rules: rules}); !strings.Contains(decisionText(list), "asked for by divide:int8") {
		t.Errorf("a rule does not count:\n%s", decisionText(list))
	}
}

// TestFP16SquaresBehindProducts: squares that are fused into a product stay in F32 where they go to a sum, and the product
// may be 8-bit all the same.
func TestFP16SquaresBehindProducts(t *testing.T) {
	b := newNet(t, "energy")
	x := b.n.AddInput("x", numeric.F32, symbolic.Const(4), symbolic.Const(64))
	y := b.add("product", graph.MatMul, nil, x, b.random("w", 64, 64))
	square := elementwise.Program{Args: 1, Code: []elementwise.Instr{{Op: elementwise.Mul, Arg: [3]int{0, 0}}}}
	y.Producer.Fuse(square, 0)
	b.n.MarkOutput(b.add("mean", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}}, y))
	half := b.n.Clone()
	list, err := PlaceFP16(half, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.Precision != numeric.F32 {
			t.Errorf("%s is %v: %s", d.Layer, d.Precision, d.Reason)
		}
	}
	if err := half.Verify(); err != nil {
		t.Fatal(err)
	}
	if _, list = place(t, b.n, MinMax{}, Policy{}); list[0].Precision != numeric.I8 {
		t.Errorf("the product is %v: %s", list[0].Precision, list[0].Reason)
	}
}

// TestMixFP16Peaks: a layer that a rule wants in F16 stays in F32 where calibration saw more than F16 holds.
func TestMixFP16Peaks(t *testing.T) {
	n := sampleNet(t)
	rules, err := ParseRules("softmax:fp16,fc:fp16")
	if err != nil {
		t.Fatal(err)
	}
	ranges := calibrate(t, n, MinMax{})
	ranges["fc_out"] = numeric.PerTensor(1000, 0)
	policy := Policy{Rules: rules, Peaks: PeaksOf(ranges)}
	list, err := Place(n, ranges, policy)
	if err != nil {
		t.Fatal(err)
	}
	if err := MixFP16(n, list, policy); err != nil {
		t.Fatal(err)
	}
	if text := decisionText(list); !strings.Contains(text, "fc         fp32  tensor fc_out reaches 127000, more than F16 holds") || !strings.Contains(text, "softmax    fp16") {
		t.Error(text)
	}
}
