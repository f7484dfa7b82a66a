package build_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// rangedModel is a model with open axes, and what they may be.
type rangedModel struct {
	path          string
	min, opt, max map[string]int // by symbol
	multiple      int            // of which extents are drawn, unless it is more than they may be; 0 for any
	rounds        int
}

var allShapes = flag.Bool("all-shapes", false, "run models with open axes at 100 shapes each")

const image0, image1, image2 = "p2o_DynamicDimension_0", "p2o_DynamicDimension_1", "p2o_DynamicDimension_2"

var rangedModels = []rangedModel{
	{path: "yunet-face/yunet_n_dynamic.onnx", rounds: 8, multiple: 32,
		min: map[string]int{"batch": 1, "height": 64, "width": 64}, opt: map[string]int{"batch": 1, "height": 96, "width": 128}, max: map[string]int{"batch": 1, "height": 160, "width": 192}},
	{path: "stories260K-llama/stories260K_dyn.onnx", rounds: 12,
		min: map[string]int{"batch": 1, "seq": 1}, opt: map[string]int{"batch": 1, "seq": 32}, max: map[string]int{"batch": 3, "seq": 96}},
	{path: "ppocr-det-cls/ch_PP-OCRv4_det_infer.onnx", rounds: 6, multiple: 32,
		min: map[string]int{image0: 1, image1: 32, image2: 32}, opt: map[string]int{image0: 1, image1: 96, image2: 128}, max: map[string]int{image0: 2, image1: 192, image2: 224}},
}

// TestRangedModels builds models for ranges of their open axes, and compares them with their definition at shapes in
// between.
func TestRangedModels(t *testing.T) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no models with open axes to test with")
	}
	for _, m := range rangedModels {
		t.Run(filepath.Base(m.path), func(t *testing.T) {
			f, err := onnx.Open(graph.Ops(), filepath.Join(dir, "models", m.path))
			if err != nil {
				t.Fatal(err)
			}
			testRanged(t, f.Network, m)
		})
	}
}

func testRanged(t *testing.T, n *graph.Network, m rangedModel) {
	b := cpu.Open(2)
	defer b.Close()
	o, err := build.Optimize(t.Context(), n, pass.Config{Shapes: m.opt, Supports: build.Target(b, m.opt)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(t.Context(), o, build.LowerConfig{Precision: graph.F32, Pass: pass.Config{Shapes: m.opt}}, run.Supports(b, m.opt))
	if err != nil {
		t.Fatal(err)
	}
	p, err := build.Plan(t.Context(), l.Network, m.opt, b, build.PlanConfig{Untimed: true, Min: m.min, Max: m.max})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := build.Plan(t.Context(), l.Network, m.max, b, build.PlanConfig{Untimed: true})
	if err != nil {
		t.Fatal(err)
	}
	if bound := alone.Memory.LowerBound; float64(p.Memory.Peak) > 1.05*float64(bound) {
		t.Errorf("%d bytes for activations, the least at the largest shapes are %d", p.Memory.Peak, bound)
	}
	loaded, err := run.Load(t.Context(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	c, err := loaded.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := rand.New(rand.NewPCG(1, 2))
	rounds := m.rounds
	if *allShapes {
		rounds = 100
	}
	for range rounds {
		env := map[string]int{}
		for name, low := range m.min {
			env[name] = low + r.IntN(m.max[name]-low+1)
			if m.multiple > 0 && m.max[name] >= m.multiple {
				env[name] = max(1, env[name]/m.multiple) * m.multiple
			}
		}
		in, shapes := map[string]graph.Value{}, map[string][]int{}
		for _, x := range n.Inputs {
			v := graph.NewValue(x.Type, graph.EvalDims(x.Dims, env)...)
			for i := range v.Len() {
				if x.Type == graph.I64 {
					v.I64()[i] = int64(r.IntN(500))
				} else {
					v.F32()[i] = float32(r.IntN(200)) / 100
				}
			}
			in[x.Name], shapes[x.Name] = v, v.Dims
		}
		if err := runRanged(c, n, in, shapes); err != nil {
			t.Fatalf("at %v: %v", env, err)
		}
		if c.Held() != p.Memory.Peak+p.Memory.IO {
			t.Errorf("at %v it holds %d bytes, the plan has %d", env, c.Held(), p.Memory.Peak+p.Memory.IO)
		}
	}
}

func runRanged(c *run.ExecutionContext, n *graph.Network, in map[string]graph.Value, shapes map[string][]int) error {
	want, err := n.Eval(context.Background(), in, nil)
	if err != nil {
		return err
	}
	if err := c.SetShapes(shapes); err != nil {
		return err
	}
	if err := c.SetInputs(in); err != nil {
		return err
	}
	if err := c.Execute(); err != nil {
		return err
	}
	for name, w := range want {
		got, err := c.Output(name)
		if err != nil {
			return err
		}
		if fmt.Sprint(got.Dims) != fmt.Sprint(w.Dims) {
			return fmt.Errorf("output %s has shape %v, want %v", name, got.Dims, w.Dims)
		}
		g := got.Float64s()
		largest := 0.0
		for _, f := range w.Float64s() {
			largest = max(largest, math.Abs(f))
		}
		for i, f := range w.Float64s() {
			if d := math.Abs(g[i] - f); !(d <= 1e-4*largest) {
				return fmt.Errorf("output %s, element %d is %v, want %v", name, i, g[i], f)
			}
		}
	}
	return nil
}
