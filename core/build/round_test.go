package build_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes/quantise"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// exactly returns weights that integers of 4 bits hold in groups of 8: multiples of a quarter, one of which is the largest.
func exactly(rnd *rand.Rand, name string, n *graph.Network, dims ...int) *graph.Tensor {
	v := numeric.NewValue(numeric.F32, dims...)
	for i := range v.F32() {
		v.F32()[i] = float32(rnd.IntN(15)-7) / 4
		if (i/dims[1]+i%dims[1])%3 == 0 {
			v.F32()[i] = 7. / 4
		}
	}
	return n.AddConst(name, v)
}

// fewBits is a network of products by one matrix in all forms, and of some that cannot have few bits.
func fewBits(t *testing.T, rnd *rand.Rand) *graph.Network {
	n := graph.NewNetwork("few")
	add := func(name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
		l, err := n.Add(name, op, attrs, in, name+"_out")
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0]
	}
	gemm := func(transB bool) graph.GemmAttrs { return graph.GemmAttrs{Alpha: 1, Beta: 1, TransB: transB} }
	x := n.AddInput("x", numeric.F32, symbolic.Const(3), symbolic.Const(20))
	a := add("plain", graph.MatMul, nil, x, exactly(rnd, "w1", n, 20, 16))
	bias := n.AddConst("b", numeric.Values(numeric.F32, []float32{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}, 16))
	b := add("turned", graph.Gemm, gemm(true), a, exactly(rnd, "w2", n, 16, 16), bias)
	shared := exactly(rnd, "w3", n, 16, 16)
	c := add("second", graph.MatMul, nil, add("first", graph.MatMul, nil, b, shared), shared)
	n.MarkOutput(add("infinite", graph.MatMul, nil, c, n.AddConst("w4", numeric.Values(numeric.F32, []float32{float32(math.Inf(1)), 15: 1}, 16, 1))))
	n.MarkOutput(add("computed", graph.MatMul, nil, c, add("turn", graph.Transpose, graph.TransposeAttrs{Perm: []int{1, 0}}, b)))
	return n
}

// TestFewBits rounds weights that lose nothing by it, so that outputs stay what they were; the products have them in few bits where
// the target computes that, and real weights where it does not.
func TestFewBits(t *testing.T) {
	ctx, rnd := context.Background(), rand.New(rand.NewPCG(3, 4))
	n := fewBits(t, rnd)
	in := map[string]numeric.Value{"x": numeric.NewValue(numeric.F32, 3, 20)}
	for i := range in["x"].F32() {
		in["x"].F32()[i] = float32(rnd.NormFloat64())
	}
	want, err := n.Eval(ctx, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(ctx, n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	none := func(l *graph.Layer) error {
		if l.Op == graph.MatMulNBits {
			return &run.Unsupported{}
		}
		return nil
	}
	for _, c := range []struct {
		name     string
		few      string
		by       string
		replay   bool
		supports func(*graph.Layer) error
		disable  []string
		products int // by weights of few bits
	}{
		{"int4", "int4:8", "nearest", false, run.Supports(b, nil), nil, 4},
		{"gptq", "int4:8", "gptq", true, run.Supports(b, nil), nil, 4},
		{"compensated", "int4:8", "compensated", true, run.Supports(b, nil), nil, 4},
		{"gptq without data", "int4:8", "gptq", false, run.Supports(b, nil), nil, 4},
		{"one switched off", "int4:8", "nearest", false, run.Supports(b, nil), []string{"turned"}, 3},
		{"no kernel", "int4:8", "nearest", false, none, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &build.Rounding{}
			r.Few, _ = quant.ParseFewBits(c.few)
			r.By, _ = quant.ParseRounding(c.by)
			if c.replay {
				r.Replay = &build.Replay{Backend: b, Items: 1, Batches: func(yield func(map[string]numeric.Value, error) bool) { yield(in, nil) }}
			}
			pc := pass.Config{}
			for _, l := range c.disable {
				pc.DisableSites = append(pc.DisableSites, pass.NewSite(quantise.FewBits, l))
			}
			l, err := build.Lower(ctx, o, build.LowerConfig{Precision: numeric.F32, Rounding: r, Pass: pc}, c.supports)
			if err != nil {
				t.Fatal(err)
			}
			products := 0
			for _, l := range l.Network.Layers {
				if l.Op == graph.MatMulNBits {
					products++
				}
			}
			i := slices.IndexFunc(l.Steps, func(s pass.Step) bool { return s.Pass == "round-weights" })
			step := l.Steps[i]
			if products != c.products || len(step.Fired) != 4-len(c.disable) {
				t.Errorf("%d products by few bits, want %d; the ledger has %d", products, c.products, len(step.Fired))
			}
			for _, f := range step.Fired {
				if strings.Contains(f.Note, "to the nearest: there is no data") != (c.name == "gptq without data") {
					t.Errorf("%s: %s", f.Site, f.Note)
				}
				if c.name == "compensated" && !strings.Contains(f.Note, "int4:8, which do not compensate") {
					t.Errorf("%s is rounded otherwise without a word: %s", f.Site, f.Note)
				}
			}
			got, err := l.Network.Eval(ctx, in, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got["computed_out"].F32() {
				if w := want["computed_out"].F32()[i]; math.Abs(float64(v-w)) > 1e-4*math.Abs(float64(w))+1e-2 {
					t.Fatalf("element %d is %g, want %g", i, v, w)
				}
			}
		})
	}
}

// TestRoundByMoments: rounding the weights of INT8 by what they are multiplied by brings a network's output nearer to FP32 where
// inputs depend on each other.
func TestRoundByMoments(t *testing.T) {
	ctx, rnd := context.Background(), rand.New(rand.NewPCG(5, 6))
	d := &linked{Definition: graph.Define("products"), rnd: rnd}
	x := d.Input("x", numeric.F32, symbolic.Shape(1, 32)...)
	y := d.Relu(d.MatMul(x, d.weights(32, 64)))
	d.Output("y", d.MatMul(y, d.weights(64, 24)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	mix := make([]float32, 8*32)
	for i := range mix {
		mix[i] = float32(rnd.NormFloat64())
	}
	items := make([]map[string]numeric.Value, 60)
	for i := range items { // of eight numbers
		x := numeric.NewValue(numeric.F32, 1, 32)
		for range 8 {
			k, by := rnd.IntN(8), float32(rnd.NormFloat64())
			for c := range 32 {
				x.F32()[c] += by * mix[k*32+c]
			}
		}
		items[i] = map[string]numeric.Value{"x": x}
	}
	batches := func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range items[:30] {
			if !yield(in, nil) {
				return
			}
		}
	}
	b := cpu.Open(1)
	defer b.Close()
	found, err := build.Collect(ctx, n, b, batches, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(ctx, n, pass.Config{})
	if err != nil {
		t.Fatal(err)
	}
	noise := func(by string) (sum float64) {
		r := &build.Rounding{Replay: &build.Replay{Backend: b, Batches: batches, Items: 30}}
		r.By, _ = quant.ParseRounding(by)
		how := build.LowerConfig{
			Precision: numeric.I8, Rounding: r, Ranges: build.Ranges(found.Histograms, quant.MinMax{Scheme: quant.Scheme{Asymmetric: true}}),
			Policy: quant.Policy{Scheme: quant.Scheme{Asymmetric: true}, PerTensor: true},
		}
		l, err := build.Lower(ctx, o, how, run.Supports(b, nil))
		if err != nil {
			t.Fatal(err)
		}
		if how.Rounding = (&build.Rounding{By: r.By, Known: l.Rounded}); l.Rounded != nil { // without data
			again, err := build.Lower(ctx, o, how, run.Supports(b, nil))
			if err != nil || !slices.EqualFunc(l.Quantised.Consts(), again.Quantised.Consts(), func(a, b *graph.Tensor) bool { return bytes.Equal(a.Weights, b.Weights) }) {
				t.Errorf("%s: lowered again it has other weights, %v", by, err)
			}
			for layer, w := range l.Rounded {
				w.Nearest++
				how.Rounding.Known = build.Rounded{layer: w}
				other, err := build.Lower(ctx, o, how, run.Supports(b, nil))
				if err != nil || !strings.Contains(noteOf(other.Steps, layer), "not those that were rounded") {
					t.Errorf("%s: integers of other weights are taken for %s: %v", by, layer, err)
				}
			}
		}
		i := slices.IndexFunc(l.Steps, func(s pass.Step) bool { return s.Pass == "round-weights" })
		if fired := len(l.Steps[i].Fired); fired != map[string]int{"nearest": 0}[by] && fired != 2 {
			t.Errorf("%s: %d places", by, fired)
		}
		weights := 0.0 // the error that they alone make, on items that were not seen
		for _, in := range items[30:] {
			want, err := n.Eval(ctx, in, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := l.Network.Eval(ctx, in, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got["y"].F32() {
				weights += math.Pow(float64(v-want["y"].F32()[i]), 2)
			}
		}
		return weights
	}
	nearest, gptq, ordered := noise("nearest"), noise("gptq"), noise("gptq:ordered")
	t.Logf("gptq %.2f dB, ordered %.2f dB", 10*math.Log10(nearest/gptq), 10*math.Log10(nearest/ordered))
	if gptq > nearest*0.9 || ordered > nearest*0.9 {
		t.Errorf("squared error %g, by gptq %g, ordered %g", nearest, gptq, ordered)
	}
}

// noteOf returns what rounding noted of a layer.
func noteOf(steps []pass.Step, layer string) string {
	for _, s := range steps {
		for _, f := range s.Fired {
			if s.Pass == "round-weights" && strings.Contains(f.Site.String(), layer) {
				return f.Note
			}
		}
	}
	return ""
}
