package build_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// residual is a network of products that see every place of their inputs alike, so that means are exact: pointwise
// convolutions around a sum, a mean over all pixels, and a matrix product.
func residual(t *testing.T, rnd *rand.Rand) *graph.Network {
	n := graph.NewNetwork("residual")
	add := func(name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
		l, err := n.Add(name, op, attrs, in, name+"_out")
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0]
	}
	random := func(name string, dims ...int) *graph.Tensor {
		x := make([]float32, numeric.Count(dims))
		for i := range x {
			x[i] = float32(rnd.NormFloat64()+0.3) / float32(math.Sqrt(float64(dims[1])))
		}
		return n.AddConst(name, numeric.Values(numeric.F32, x, dims...))
	}
	conv := func(name string, x *graph.Tensor, out, in int) *graph.Tensor {
		return add(name, graph.Conv, graph.ConvAttrs{Group: 1}, x, random(name+"_w", out, in, 1, 1))
	}
	eltwise := func(name string, op elementwise.Op, in ...*graph.Tensor) *graph.Tensor {
		p := elementwise.Unary(op)
		if len(in) == 2 {
			p = elementwise.Binary(op)
		}
		return add(name, graph.Pointwise, graph.Elementwise{Program: p}, in...)
	}
	x := n.AddInput("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Const(6), symbolic.Const(6))
	a := eltwise("relu1", elementwise.Relu, conv("conv1", x, 16, 3))
	b := eltwise("relu2", elementwise.Relu, conv("conv2", a, 16, 16))
	c := eltwise("relu3", elementwise.Relu, eltwise("sum", elementwise.Add, conv("conv3", b, 16, 16), a))
	p := add("flatten", graph.Flatten, graph.FlattenAttrs{Axis: 1}, add("mean", graph.AveragePool, graph.PoolAttrs{Kernel: []int{6, 6}}, c))
	n.MarkOutput(add("gemm", graph.Gemm, graph.GemmAttrs{Alpha: 1, Beta: 1}, p, random("gemm_w", 16, 10)))
	return n
}

// TestCorrectBias compares the means of an INT8 network's outputs with those of FP32, by the layers' own definition: rounding
// to few levels moves them, correcting biases brings them back, and going layer by layer brings them nearly to what they were.
func TestCorrectBias(t *testing.T) {
	ctx, rnd := context.Background(), rand.New(rand.NewPCG(3, 4))
	n := residual(t, rnd)
	var items []map[string]numeric.Value
	for range 40 {
		x := make([]float32, 3*36)
		for i := range x {
			x[i] = float32(rnd.ExpFloat64() - 0.4)
		}
		items = append(items, map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, 1, 3, 6, 6)})
	}
	batches := func(yield func(map[string]numeric.Value, error) bool) {
		for _, in := range items {
			if !yield(in, nil) {
				return
			}
		}
	}
	b := cpu.Open(1)
	defer b.Close()
	env := map[string]int{"batch": 1}
	found, err := build.Collect(ctx, n, b, batches, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(ctx, n, pass.Config{Shapes: env})
	if err != nil {
		t.Fatal(err)
	}
	means := func(n *graph.Network) []float64 {
		m := quant.NewMeans(1)
		for _, in := range items {
			out, err := n.Eval(ctx, in, nil)
			if err != nil {
				t.Fatal(err)
			}
			m.AddValue(out["gemm_out"], numeric.Range{})
		}
		c, _ := m.Of()
		return c.Mean
	}
	want := means(n)
	ranges := map[string]numeric.Range{}
	reach := func(share float64) {
		for name, h := range found.Histograms {
			ranges[name] = quant.Scheme{Asymmetric: true}.Range(float64(h.Min())*share, float64(h.Max())*share)
		}
	}
	reach(1)
	var equalization *build.Equalization
	lower := func(c *build.Correction, disable ...string) (off float64, steps []pass.Step) {
		l, err := build.Lower(ctx, o, build.LowerConfig{
			Precision: numeric.I8, Ranges: ranges, Correction: c, Equalization: equalization, Pass: pass.Config{Shapes: env, DisableRules: disable},
			Policy: quant.Policy{Scheme: quant.Scheme{Asymmetric: true}, PerTensor: true},
		}, run.Supports(b, env))
		if err != nil {
			t.Fatal(err)
		}
		for c, v := range means(l.Network) {
			off = max(off, math.Abs(v-want[c]))
		}
		return off, l.Steps
	}
	corrected := func(steps []pass.Step) *pass.Step {
		i := slices.IndexFunc(steps, func(s pass.Step) bool { return s.Pass == "correct-biases" })
		if i < 0 {
			return nil
		}
		return &steps[i]
	}
	none, steps := lower(nil)
	if corrected(steps) != nil {
		t.Error("biases are corrected that were to stay")
	}
	fast, steps := lower(&build.Correction{Means: found.ChannelMeans()})
	if s := corrected(steps); s == nil || len(s.Fired) != 4 || s.Fired[0].Note == "" {
		t.Errorf("fast: %+v", s)
	}
	if fast >= none {
		t.Errorf("outputs' means are off by %g; corrected %g", none, fast)
	}
	by, err := quant.ParseEqualizer("weights")
	if err != nil {
		t.Fatal(err)
	}
	equalization = &build.Equalization{By: by, Ranges: func(ctx context.Context, n *graph.Network, names []string) (map[string]numeric.Range, error) {
		scaled, err := build.CollectScaled(ctx, n, b, batches, nil, names, nil)
		if err != nil {
			return nil, err
		}
		return build.Ranges(scaled.Histograms, quant.MinMax{Scheme: quant.Scheme{Asymmetric: true}}), nil
	}}
	uneven, steps := lower(nil)
	if len(steps[0].Fired) == 0 {
		t.Error("no channels are equalised: nothing is tested")
	}
	even, steps := lower(&build.Correction{Means: found.ChannelMeans()})
	if s := corrected(steps); s == nil || len(s.Fired) != 4 || even >= uneven {
		t.Errorf("equalised, fast: %+v, outputs' means are off by %g; without correction %g", s, even, uneven)
	}
	equalization = nil
	reach(0.5) // so that activations are clipped, of which fast knows nothing
	if none, _ = lower(nil); none < 0.1 {
		t.Errorf("clipped, outputs' means are off by %g: nothing is tested", none)
	}
	layers := 0
	replay := &build.Replay{Backend: b, Env: env, Batches: batches, Items: len(items), Progress: func(phase, _ string, done, of int) {
		if phase == "correcting biases" {
			layers = done
		}
	}}
	exact, steps := lower(&build.Correction{Replay: replay})
	if s := corrected(steps); s == nil || len(s.Fired) != 4 || layers != 4 {
		t.Errorf("exact: %+v, %d layers", s, layers)
	}
	if exact > none/1000 {
		t.Errorf("clipped, outputs' means are off by %g; corrected exactly %g", none, exact)
	}
	off, steps := lower(&build.Correction{Replay: replay}, "bias-correction")
	if s := corrected(steps); s == nil || len(s.Fired) != 0 || len(s.Missed) != 4 || off != none {
		t.Errorf("switched off: %+v, off by %g, not %g", s, off, none)
	}
	for what, in := range map[string]map[string]numeric.Value{
		"no data": nil, "items without the input": {}, "an item of two axes": {"x": numeric.NewValue(numeric.F32, 3, 36)}, "an item of three pixels": {"x": numeric.NewValue(numeric.F32, 1, 3, 3, 1)},
	} {
		batches := func(yield func(map[string]numeric.Value, error) bool) {
			if in != nil {
				yield(in, nil)
			}
		}
		if _, err := build.Lower(ctx, o, build.LowerConfig{
			Precision: numeric.I8, Ranges: ranges, Pass: pass.Config{Shapes: env},
			Correction: &build.Correction{Replay: &build.Replay{Backend: b, Env: env, Batches: batches}},
		}, run.Supports(b, env)); err == nil || strings.Contains(err.Error(), "runtime error") {
			t.Errorf("biases are corrected on %s, with %v", what, err)
		}
	}
}

// TestCorrectBehindData corrects products behind what data decide: rows of which each item has a number of its own, none too, and the
// numbers of rows that are rounded from real ones, early, and read late as well.
func TestCorrectBehindData(t *testing.T) {
	ctx, rnd := context.Background(), rand.New(rand.NewPCG(8, 1))
	weights := func(d *graph.Definition, name string, rows, columns int) *graph.Tensor {
		x := make([]float32, rows*columns)
		for i := range x {
			x[i] = float32(rnd.NormFloat64() / 4)
		}
		return d.Constant(name, numeric.Values(numeric.F32, x, rows, columns))
	}
	number := func(d *graph.Definition, name string, v float32) *graph.Tensor {
		return d.Constant(name, numeric.Values(numeric.F32, []float32{v}))
	}
	products := func(d *graph.Definition, x *graph.Tensor) *graph.Tensor {
		return d.MatMul(d.Relu(d.MatMul(x, weights(d, "w1", 12, 24))), weights(d, "w2", 24, 20))
	}
	for name, rest := range map[string]func(d *graph.Definition, x, s *graph.Tensor) *graph.Tensor{
		"counted": func(d *graph.Definition, x, s *graph.Tensor) *graph.Tensor {
			some := d.Gather(x, d.Squeeze(d.NonZero(d.Greater(s, number(d, "least", 1.5))), 0), 0)
			return d.Reduce(graph.ReduceSum, d.MatMul(products(d, d.Concat(0, some, some)), weights(d, "w3", 20, 6)), false, 0)
		},
		"counted early and read late": func(d *graph.Definition, x, s *graph.Tensor) *graph.Tensor {
			rows := d.Squeeze(d.NonZero(d.Greater(s, number(d, "least", 0.5))), 0)
			both := d.Concat(1, products(d, d.Gather(x, rows, 0)), d.Gather(d.Neg(x), rows, 0))
			return d.Reduce(graph.ReduceSum, d.MatMul(both, weights(d, "w3", 32, 6)), false, 0)
		},
		"rounded": func(d *graph.Definition, x, s *graph.Tensor) *graph.Tensor {
			row := d.Unsqueeze(d.Cast(d.Clip(d.Abs(d.Reduce(graph.ReduceSum, s, false, 0)), 0, 15), numeric.I64), 0)
			late := products(d, d.Add(x, d.Gather(x, row, 0)))
			return d.MatMul(d.Add(late, d.Gather(late, row, 0)), weights(d, "w3", 20, 6))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := graph.Define(name)
			d.Output("y", rest(d, d.Input("x", numeric.F32, symbolic.Shape(16, 12)...), d.Input("s", numeric.F32, symbolic.Shape(16)...)))
			n, err := d.Network()
			if err != nil {
				t.Fatal(err)
			}
			var items []map[string]numeric.Value
			for range 24 {
				x, s := make([]float32, 16*12), make([]float32, 16)
				for i := range x {
					x[i] = float32(rnd.NormFloat64())
				}
				for i := range s {
					s[i] = float32(rnd.NormFloat64())
				}
				items = append(items, map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, 16, 12), "s": numeric.Values(numeric.F32, s, 16)})
			}
			batches := func(yield func(map[string]numeric.Value, error) bool) {
				for _, in := range items {
					if !yield(in, nil) {
						return
					}
				}
			}
			b := cpu.Open(2)
			defer b.Close()
			env := n.Counts(nil)
			o, err := build.Optimize(ctx, n, pass.Config{Shapes: env})
			if err != nil {
				t.Fatal(err)
			}
			found, err := build.Collect(ctx, n, b, batches, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := build.Lower(ctx, o, build.LowerConfig{
				Precision: numeric.I8, Ranges: build.Ranges(found.Histograms, quant.MinMax{Scheme: quant.Scheme{Asymmetric: true}}), Pass: pass.Config{Shapes: env},
				Correction: &build.Correction{Replay: &build.Replay{Backend: b, Env: env, Batches: batches, Items: len(items)}},
			}, run.Supports(b, env))
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(l.Steps, func(s pass.Step) bool { return s.Pass == "correct-biases" })
			if i < 0 || len(l.Steps[i].Fired)+len(l.Steps[i].Missed) != 3 {
				t.Errorf("of three products' biases: %+v", l.Steps[max(0, i)])
			}
		})
	}
}
