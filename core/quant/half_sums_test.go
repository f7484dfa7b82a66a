package quant

import (
	"math"
	"testing"

	"github.com/trtui/trtui/core/graph"
)

// spelledNorm is a normalisation of rows of 512 by elementary layers: by mean and variance, or by the mean square alone.
func spelledNorm(t *testing.T, variance bool) *graph.Network {
	b := newNet(t, "norm")
	ops := graph.Ops()
	binary := func(name string, op graph.EltOp, x, y *graph.Tensor) *graph.Tensor {
		return b.add(name, ops.Named("Pointwise"), graph.Elementwise{Program: graph.Binary(op)}, x, y)
	}
	scalar := func(name string, v float32) *graph.Tensor {
		return b.n.AddConst(name, graph.Values(graph.F32, []float32{v}, 1))
	}
	x := b.n.AddInput("x", graph.F32, graph.Const(4), graph.Const(512))
	x = binary("large", graph.EltMul, x, scalar("factor", 400))
	var spread *graph.Tensor
	centre := x
	if variance {
		sum := b.add("sum", graph.ReduceSum, graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}, x)
		mean := binary("mean", graph.EltMul, sum, scalar("nth", 1.0/512))
		squares := b.add("sum_squares", graph.ReduceSum, graph.ReduceAttrs{Axes: []int{1}}, binary("square", graph.EltMul, x, x))
		column := b.add("column", graph.Unsqueeze, graph.UnsqueezeAttrs{Axes: []int{1}}, squares)
		spread = binary("variance", graph.EltSub, binary("mean_square", graph.EltMul, column, scalar("nth_2", 1.0/512)), binary("squared_mean", graph.EltMul, mean, mean))
		centre = binary("centre", graph.EltSub, x, mean)
	} else {
		square := binary("square", graph.EltPow, x, scalar("two", 2))
		spread = b.add("mean_square", graph.ReduceMean, graph.ReduceAttrs{Axes: []int{1}, KeepDims: true}, square)
	}
	root := b.add("root", ops.Named("Pointwise"), graph.Elementwise{Program: graph.Unary(graph.EltSqrt)}, binary("shifted", graph.EltAdd, spread, scalar("epsilon", 1e-6)))
	b.n.MarkOutput(binary("y", graph.EltDiv, centre, root))
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
		for name, want := range map[string]graph.DataType{"large_out": graph.F16, "square_out": graph.F32, "mean_square_out": graph.F32, "shifted_out": graph.F32, "root_out": graph.F16} {
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
		if x := eval(t, asked)[0]; asked.Tensor("square_out").Type != graph.F16 || x != 0 && !math.IsNaN(float64(x)) {
			t.Errorf("variance %v: asked for F16, the first element is %v", variance, x)
		}
	}
}
