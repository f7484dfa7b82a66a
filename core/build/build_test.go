package build_test

import (
	"context"
	"math"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/testdata"
)

// TestStagesOnTheEmbeddedModel takes the model from bytes to INT8 output by the package's own stages.
func TestStagesOnTheEmbeddedModel(t *testing.T) {
	ctx := context.Background()
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(2)
	defer b.Close()
	env := map[string]int{"batch": 1}
	image := func(i int) map[string]graph.Value {
		x := testdata.CalibrationImages().Batch(i, i+1)
		return map[string]graph.Value{"image": graph.Values(graph.F32, x, 1, 1, testdata.Padded, testdata.Padded)}
	}
	hist, err := build.Collect(ctx, n, env, b, func(yield func(map[string]graph.Value, error) bool) {
		for i := range 8 {
			if !yield(image(i), nil) {
				return
			}
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(ctx, n, pass.Config{Shapes: env})
	if err != nil {
		t.Fatal(err)
	}
	cache := build.NewTimingCache()
	outputs := map[graph.DataType][]float32{}
	for _, precision := range []graph.DataType{graph.F32, graph.I8} {
		l, err := build.Lower(ctx, o, build.LowerConfig{
			Precision: precision, Ranges: build.Ranges(hist, quant.MinMax{}), Pass: pass.Config{Shapes: env},
		}, run.Supports(b, env))
		if err != nil {
			t.Fatal(err)
		}
		p, err := build.Plan(ctx, l.Network, env, b, build.PlanConfig{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		again, err := build.Plan(ctx, l.Network, env, b, build.PlanConfig{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range p.Steps {
			if again.Steps[i].Tactic != s.Tactic || again.Steps[i].Time != s.Time {
				t.Errorf("%s: planned again from the cache, %s became %s", s.Name, s.Tactic, again.Steps[i].Tactic)
			}
		}
		loaded, err := run.Load(ctx, p, b)
		if err != nil {
			t.Fatal(err)
		}
		c, err := loaded.NewContext()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetInputs(image(20)); err != nil {
			t.Fatal(err)
		}
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		v, err := c.Output("probabilities")
		if err != nil {
			t.Fatal(err)
		}
		outputs[precision] = v.F32()
	}
	for i, want := range outputs[graph.F32] {
		if d := math.Abs(float64(outputs[graph.I8][i] - want)); d > 0.05 {
			t.Errorf("class %d: INT8 gives %v, FP32 %v", i, outputs[graph.I8][i], want)
		}
	}
}

func TestCancelledPlanEnds(t *testing.T) {
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := cpu.Open(1)
	defer b.Close()
	if _, err := build.Plan(ctx, n, map[string]int{"batch": 1}, b, build.PlanConfig{}); err == nil {
		t.Error("a cancelled plan was made")
	}
}
