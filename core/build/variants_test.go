package build

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// chain is a network of pointwise convolutions with a residual sum over the middle one, and a Softmax.
func chain(t *testing.T, rnd *rand.Rand) *graph.Network {
	n := graph.NewNetwork("chain")
	add := func(name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
		l, err := n.Add(name, op, attrs, in, name+"_out")
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0]
	}
	conv := func(name string, x *graph.Tensor, out, in int) *graph.Tensor {
		w := make([]float32, out*in)
		for i := range w {
			w[i] = float32(rnd.NormFloat64() / math.Sqrt(float64(in)))
		}
		return add(name, graph.Conv, graph.ConvAttrs{Group: 1}, x, n.AddConst(name+"_w", numeric.Values(numeric.F32, w, out, in, 1, 1)))
	}
	x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(4), symbolic.Const(4))
	a := conv("a", x, 8, 3)
	b := add("b_relu", graph.Pointwise, graph.Elementwise{Program: elementwise.Unary(elementwise.Relu)}, conv("b", a, 8, 8))
	sum := add("sum", graph.Pointwise, graph.Elementwise{Program: elementwise.Binary(elementwise.Add)}, a, b)
	c := add("flat", graph.Flatten, graph.FlattenAttrs{Axis: 1}, conv("c", sum, 2, 8))
	n.MarkOutput(add("soft", graph.Softmax, graph.SoftmaxAttrs{Axis: 1}, c))
	return n
}

// TestVariants compares what variants give that run from the layer on that differs with what they give when all of them runs.
func TestVariants(t *testing.T) {
	ctx, rnd := context.Background(), rand.New(rand.NewPCG(5, 6))
	n, env := chain(t, rnd), map[string]int{"batch": 1}
	b := cpu.Open(1)
	defer b.Close()
	batches := func(yield func(map[string]numeric.Value, error) bool) {
		rnd := rand.New(rand.NewPCG(7, 8))
		for range 50 {
			x := make([]float32, 48)
			for i := range x {
				x[i] = float32(rnd.NormFloat64())
			}
			if !yield(map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, 1, 3, 4, 4)}, nil) {
				return
			}
		}
	}
	found, err := Collect(ctx, n, b, batches, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := Optimize(ctx, n, pass.Config{Shapes: env})
	if err != nil {
		t.Fatal(err)
	}
	quantised := func(rules ...quant.Rule) *graph.Network {
		l, err := Quantise(ctx, o, LowerConfig{
			Precision: numeric.I8, Ranges: Ranges(found.Histograms, quant.MinMax{}), Policy: quant.Policy{Rules: rules},
			Pass: pass.Config{Shapes: env}, Correction: &Correction{Means: found.ChannelMeans()},
		}, run.Supports(b, env))
		if err != nil {
			t.Fatal(err)
		}
		return l.Quantised
	}
	replay := &Replay{Backend: b, Env: env, Batches: batches, Items: 50}
	held, err := NewVariants(ctx, replay, o.Network, 2)
	if err != nil {
		t.Fatal(err)
	}
	if held.Items() != 25 { // every second one
		t.Errorf("%d items", held.Items())
	}
	if all, err := NewVariants(ctx, replay, o.Network, 0); err != nil || all.Items() != 50 {
		t.Errorf("where nothing is held: %+v, %v", all, err)
	}
	if err := held.Hold(ctx, o.Network, quantised()); err != nil {
		t.Fatal(err)
	}
	want, err := held.Run(ctx, o.Network)
	if err != nil || held.ran != 0 {
		t.Fatalf("what is held ran %d layers again, %v", held.ran, err)
	}
	fp32 := func(name string) quant.Rule { return quant.Rule{Pattern: name, Precision: numeric.F32} }
	int8 := func(name string) quant.Rule { return quant.Rule{Pattern: name, Precision: numeric.I8} }
	for _, c := range []struct {
		name  string
		rules []quant.Rule
	}{{"raised first", []quant.Rule{fp32("a")}}, {"raised last", []quant.Rule{fp32("c")}}, {"alone in the middle", []quant.Rule{fp32("*"), int8("b")}}, {"as it is", nil}} {
		variant := quantised(c.rules...)
		got, err := held.Run(ctx, variant)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		ran := held.ran
		fresh, err := NewVariants(ctx, replay, o.Network, 2)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := fresh.Run(ctx, variant)
		if err != nil {
			t.Fatal(err)
		}
		if ran >= fresh.ran {
			t.Errorf("%s: %d layers ran of %d", c.name, ran, fresh.ran)
		}
		if d := whole.Noise(got); d > 1e-12 {
			t.Errorf("%s: what ran in part differs by %g of its square", c.name, d)
		}
		if noise := want.Noise(got); noise == 0 || noise > 1e-2 {
			t.Errorf("%s: noise %g", c.name, noise)
		}
	}
	if err := held.Hold(ctx, quantised()); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Run(ctx, o.Network); err != nil || held.ran == 0 {
		t.Errorf("what is held no more ran %d layers, %v", held.ran, err)
	}
}
