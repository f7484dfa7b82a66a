package build_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// BenchmarkRanged tells how many times as long an engine of a range takes at some shape as one that was built for it alone:
// medians of inferences in turn.
func BenchmarkRanged(b *testing.B) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		b.Skip("TRTUI_DATA is not set: no models with open axes to measure")
	}
	for _, m := range []struct {
		path          string
		min, opt, max map[string]int
		axis          string
		at            []int
	}{
		{"yunet-face/yunet_n_dynamic.onnx", map[string]int{"batch": 1, "height": 64, "width": 64}, map[string]int{"batch": 1, "height": 192, "width": 192},
			map[string]int{"batch": 1, "height": 320, "width": 320}, "width", []int{64, 192, 320}},
		{"ppocr-det-cls/ch_PP-OCRv4_det_infer.onnx", map[string]int{image0: 1, image1: 64, image2: 32}, map[string]int{image0: 1, image1: 64, image2: 160},
			map[string]int{image0: 1, image1: 64, image2: 320}, image2, []int{32, 160, 320}},
		{"stories260K-llama/stories260K_dyn.onnx", map[string]int{"batch": 1, "seq": 1}, map[string]int{"batch": 1, "seq": 64}, map[string]int{"batch": 1, "seq": 256}, "seq", []int{1, 16, 64, 256}},
	} {
		f, err := onnx.Open(graph.Ops(), filepath.Join(dir, "models", m.path))
		if err != nil {
			b.Fatal(err)
		}
		device := cpu.Open(1)
		defer device.Close()
		ranged := builtFor(b, f.Network, device, m.opt, m.min, m.max)
		for _, extent := range m.at {
			env := maps.Clone(m.opt)
			env[m.axis] = extent
			b.Run(filepath.Base(m.path)+"/"+m.axis+"="+valueText(extent), func(b *testing.B) {
				benchmarkRanged(b, ranged, builtFor(b, f.Network, device, env, nil, nil), env)
			})
		}
	}
}

func valueText(n int) string { return symbolic.Const(n).String() }

// builtFor returns an engine whose tactics are timed at the first values and which serves the range.
func builtFor(b *testing.B, n *graph.Network, device run.Backend, env, low, high map[string]int) *run.Loaded {
	b.Helper()
	pc := pass.Config{Shapes: env, Target: build.Target(device, env)}
	o, err := build.Optimize(b.Context(), n, pc)
	if err != nil {
		b.Fatal(err)
	}
	l, err := build.Lower(b.Context(), o, build.LowerConfig{Precision: numeric.F32, Pass: pc}, run.Supports(device, env))
	if err != nil {
		b.Fatal(err)
	}
	p, err := build.Plan(b.Context(), l.Network, env, device, build.PlanConfig{Min: low, Max: high})
	if err != nil {
		b.Fatal(err)
	}
	loaded, err := run.Load(b.Context(), p, device)
	if err != nil {
		b.Fatal(err)
	}
	return loaded
}

func benchmarkRanged(b *testing.B, ranged, alone *run.Loaded, env map[string]int) {
	shapes := map[string][]int{}
	for _, t := range ranged.Plan.Network.Inputs {
		shapes[t.Name] = symbolic.Eval(t.Dims, env)
	}
	var contexts [2]*run.ExecutionContext
	for i, l := range []*run.Loaded{ranged, alone} {
		c, err := l.NewContext()
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		if err := c.SetShapes(shapes); err != nil {
			b.Fatal(err)
		}
		contexts[i] = c
	}
	var times [2][]time.Duration
	for b.Loop() {
		for i, c := range contexts {
			begin := time.Now()
			if err := c.Execute(); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(begin))
		}
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2])
	}
	b.ReportMetric(median(times[0])/median(times[1]), "x-alone")
}
