package build_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/torture/networks"
	"github.com/trtui/trtui/kernels/cpu"
)

// rangedModel is a model with open axes, and what they may be.
type rangedModel struct {
	path          string
	min, opt, max map[string]int // by symbol
	multiple      int            // of which extents are drawn, unless it is more than they may be; 0 for any
	rounds        int
}

var (
	allShapes  = flag.Bool("all-shapes", false, "run models with open axes at 100 shapes each")
	recogniser = flag.String("recogniser", "", "run a recogniser of lines of text of PP-OCR too: the file of ch_PP-OCRv4_rec_infer.onnx")
)

// byOthers bounds at how many shapes onnxruntime is asked, unless all are wanted.
const byOthers = 3

const image0, image1, image2 = "p2o_DynamicDimension_0", "p2o_DynamicDimension_1", "p2o_DynamicDimension_2"

var rangedModels = []rangedModel{
	{path: "yunet-face/yunet_n_dynamic.onnx", rounds: 8, multiple: 32,
		min: map[string]int{"batch": 1, "height": 64, "width": 64}, opt: map[string]int{"batch": 1, "height": 96, "width": 128}, max: map[string]int{"batch": 1, "height": 160, "width": 192}},
	{path: "stories260K-llama/stories260K_dyn.onnx", rounds: 12,
		min: map[string]int{"batch": 1, "seq": 1}, opt: map[string]int{"batch": 1, "seq": 32}, max: map[string]int{"batch": 3, "seq": 96}},
	{path: "ppocr-det-cls/ch_PP-OCRv4_det_infer.onnx", rounds: 6, multiple: 32,
		min: map[string]int{image0: 1, image1: 32, image2: 32}, opt: map[string]int{image0: 1, image1: 96, image2: 128}, max: map[string]int{image0: 2, image1: 192, image2: 224}},
}

// rangedLines is a model of lines of text of any width.
var rangedLines = rangedModel{rounds: 3,
	min: map[string]int{image0: 1, "_": 48, image1: 32}, opt: map[string]int{image0: 1, "_": 48, image1: 320}, max: map[string]int{image0: 2, "_": 48, image1: 480}}

// TestRangedModels builds models for ranges of their open axes, and compares them with their definition at shapes in
// between, and with onnxruntime where TRTUI_PYTHON names a Python that has it.
func TestRangedModels(t *testing.T) {
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no models with open axes to test with")
	}
	var others *networks.Oracle
	if python := os.Getenv("TRTUI_PYTHON"); python != "" {
		var err error
		if others, err = networks.OpenOracle(python); err != nil {
			t.Fatal(err)
		}
		defer others.Close()
	}
	models := slices.Clone(rangedModels)
	for i := range models {
		models[i].path = filepath.Join(dir, "models", models[i].path)
	}
	if *recogniser != "" {
		lines := rangedLines
		lines.path = *recogniser
		models = append(models, lines)
	}
	for _, m := range models {
		t.Run(filepath.Base(m.path), func(t *testing.T) { testRanged(t, m, others) })
	}
}

func testRanged(t *testing.T, m rangedModel, others *networks.Oracle) {
	f, err := onnx.Open(graph.Ops(), m.path)
	if err != nil {
		t.Fatal(err)
	}
	n := f.Network
	model, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(2)
	defer b.Close()
	o, err := build.Optimize(t.Context(), n, pass.Config{Shapes: m.opt, Supports: build.Target(b, m.opt)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := build.Lower(t.Context(), o, build.LowerConfig{Precision: numeric.F32, Pass: pass.Config{Shapes: m.opt}}, run.Supports(b, m.opt))
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
	asked := 0
	for round := range rounds {
		env := map[string]int{}
		for name, low := range m.min {
			env[name] = low + r.IntN(m.max[name]-low+1)
			if m.multiple > 0 && m.max[name] >= m.multiple {
				env[name] = max(1, env[name]/m.multiple) * m.multiple
			}
		}
		in, shapes := map[string]numeric.Value{}, map[string][]int{}
		for _, x := range n.Inputs {
			v := numeric.NewValue(x.Type, symbolic.Eval(x.Dims, env)...)
			for i := range v.Len() {
				if x.Type == numeric.I64 {
					v.I64()[i] = int64(r.IntN(500))
				} else {
					v.F32()[i] = float32(r.IntN(200)) / 100
				}
			}
			in[x.Name], shapes[x.Name] = v, v.Dims
		}
		want, err := n.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatalf("at %v: %v", env, err)
		}
		if err := runRanged(c, in, shapes, want); err != nil {
			t.Fatalf("at %v: %v", env, err)
		}
		if others != nil && (round < byOthers || *allShapes) {
			if want, err = others.Compute(t.Context(), model, in); err != nil {
				t.Fatalf("at %v: onnxruntime: %v", env, err)
			}
			if err := compareRanged(c, want, sigmoidError); err != nil {
				t.Fatalf("at %v: onnxruntime: %v", env, err)
			}
			asked++
		}
		if c.Held() != p.Memory.Peak+p.Memory.IO {
			t.Errorf("at %v it holds %d bytes, the plan has %d", env, c.Held(), p.Memory.Peak+p.Memory.IO)
		}
	}
	t.Logf("%d shapes agree with Eval, %d of them with onnxruntime; at each the context holds the plan's %d bytes", rounds, asked, p.Memory.Peak+p.Memory.IO)
}

func runRanged(c *run.ExecutionContext, in map[string]numeric.Value, shapes map[string][]int, want map[string]numeric.Value) error {
	if err := c.SetShapes(shapes); err != nil {
		return err
	}
	if err := c.SetInputs(in); err != nil {
		return err
	}
	if err := c.Execute(); err != nil {
		return err
	}
	return compareRanged(c, want, 0)
}

// sigmoidError is what the results of onnxruntime's Sigmoid, a rational function plus a half, are off by: below it they may be zero.
const sigmoidError = 1.0 / (1 << 22)

// compareRanged compares all outputs, whose elements may differ by 1e-4 of the largest one and the given distance.
func compareRanged(c *run.ExecutionContext, want map[string]numeric.Value, absolute float64) error {
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
			if d := math.Abs(g[i] - f); !(d <= 1e-4*largest+absolute) {
				return fmt.Errorf("output %s, element %d is %v, want %v", name, i, g[i], f)
			}
		}
	}
	return nil
}
