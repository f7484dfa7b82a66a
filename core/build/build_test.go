package build_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
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
	image := func(i int) map[string]numeric.Value {
		x := testdata.CalibrationImages().Batch(i, i+1)
		return map[string]numeric.Value{"image": numeric.Values(numeric.F32, x, 1, 1, testdata.Padded, testdata.Padded)}
	}
	hist, err := build.Collect(ctx, n, b, func(yield func(map[string]numeric.Value, error) bool) {
		for i := range 8 {
			if !yield(image(i), nil) {
				return
			}
		}
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := build.Optimize(ctx, n, pass.Config{Shapes: env})
	if err != nil {
		t.Fatal(err)
	}
	cache := build.NewTimingCache()
	outputs := map[numeric.DataType][]float32{}
	for _, precision := range []numeric.DataType{numeric.F32, numeric.I8} {
		l, err := build.Lower(ctx, o, build.LowerConfig{
			Precision: precision, Ranges: build.Ranges(hist.Histograms, quant.MinMax{}), Pass: pass.Config{Shapes: env},
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
	for i, want := range outputs[numeric.F32] {
		if d := math.Abs(float64(outputs[numeric.I8][i] - want)); d > 0.05 {
			t.Errorf("class %d: INT8 gives %v, FP32 %v", i, outputs[numeric.I8][i], want)
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

// TestRemeasure times the tactics of one layer again and leaves every other entry of the cache as it is.
func TestRemeasure(t *testing.T) {
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	env, cache := map[string]int{"batch": 1}, build.NewTimingCache()
	if _, err := build.Plan(t.Context(), n, env, b, build.PlanConfig{Cache: cache}); err != nil {
		t.Fatal(err)
	}
	const layer = "block3/second/conv/Conv"
	for _, e := range cache.Entries() {
		if e.Measured.IsZero() {
			t.Fatalf("%s: it is not known when it was measured", e.Tactic)
		}
		e.Time, e.Measured = time.Hour, time.Time{}
		cache.Put(e)
	}
	asked := map[string]bool{}
	p, err := build.Plan(t.Context(), n, env, b, build.PlanConfig{
		Cache: cache, Remeasure: []string{layer}, Progress: func(m build.Timing) { asked[m.Layer] = true },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || !asked[layer] {
		t.Errorf("measured %v, want %s alone", asked, layer)
	}
	for _, s := range p.Steps {
		if s.Name == layer && s.Time >= time.Hour {
			t.Errorf("%s still takes %v", s.Name, s.Time)
		}
	}
	measured := 0
	for _, e := range cache.Entries() {
		if (e.Time == time.Hour) != e.Measured.IsZero() {
			t.Errorf("%s took %v, measured %v", e.Tactic, e.Time, e.Measured)
		}
		if e.Time < time.Hour {
			measured++
		}
	}
	if measured < 2 {
		t.Errorf("%d entries were measured again", measured)
	}
}

// TestTimingProgress knows from the first measurement on how many there will be, and counts those apart that are made again.
func TestTimingProgress(t *testing.T) {
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	var all []build.Timing
	cfg := build.PlanConfig{Cache: build.NewTimingCache(), Progress: func(m build.Timing) { all = append(all, m) }}
	if _, err := build.Plan(t.Context(), n, map[string]int{"batch": 1}, b, cfg); err != nil {
		t.Fatal(err)
	}
	var last build.Timing
	first := all[0].Total
	for i, m := range all {
		switch {
		case m.Layer == "" || m.Tactic == "" || m.Done >= m.Total:
			t.Fatalf("measurement %d is %+v", i, m)
		case !m.Again && (m.Done != i || m.Total < first || m.Total > first+first/10):
			t.Fatalf("measurement %d of %d at first is %+v", i, first, m)
		case m.Again && !last.Again && last.Done < last.Total*9/10:
			t.Fatalf("what is made again begins after %+v", last)
		case m.Again == last.Again && m.Done != last.Done+1 && i > 0:
			t.Fatalf("%+v after %+v", m, last)
		}
		last = m
	}
	t.Logf("%d measurements, %d expected at first; the last is %+v", len(all), first, last)
}
