package sessions_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
)

// goldens are the trained models beside the project, each with a folder of inputs and outputs that another program
// computed. tolerance is a share of the largest magnitude of the output, or of 1 if that is larger.
var goldens = []struct {
	model, data string
	precision   config.Precision
	tolerance   float64
	quantized   bool // compare classes, and probabilities within 0.02
}{
	{"mnist-cntk/mnist.onnx", "mnist-cntk/test_data_set_0", config.FP32, 1e-4, false},
	{"mnist-cntk/mnist_opt.onnx", "mnist-cntk/test_data_set_1", config.FP32, 1e-4, false},
	{"mnist-burn/mnist.onnx", "mnist-burn/test_data_set_0", config.FP32, 1e-4, false},
	{"cifar10-resnet8/resnet8_fp32.onnx", "cifar10-resnet8/test_data_set_0", config.FP32, 1e-4, false},
	{"cifar10-resnet8/resnet8_fp32.onnx", "cifar10-resnet8/test_data_set_0", config.FP16, 1e-2, false},
	{"cifar10-resnet8/resnet8_torch_export.onnx", "cifar10-resnet8/test_data_set_torch_export", config.FP32, 1e-4, false},
	{"cifar10-resnet8/resnet8_int8_qdq.onnx", "cifar10-resnet8/test_data_set_qdq", config.INT8, 0, true},
	{"cifar10-resnet8/resnet8_int8_qdq.onnx", "cifar10-resnet8/test_data_set_qdq", config.FP32, 0, true},
	{"squeezenet-fp16/squeezenet_fp16.onnx", "squeezenet-fp16/test_data_set_0", config.FP32, 1e-2, false},
	{"kws-dscnn/kws_fp32_dequantised.onnx", "kws-dscnn/test_data_set_0", config.FP32, 1e-4, false},
	{"kws-dscnn/kws_int8_qdq.onnx", "kws-dscnn/test_data_set_qdq", config.INT8, 0, true},
	{"mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_fp32.onnx", "mobilenet_v1_0.25_128/test_data_set_0", config.FP32, 1e-4, false},
	{"mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_uint8_qdq.onnx", "mobilenet_v1_0.25_128/test_data_set_qdq", config.INT8, 0, true},
	{"mobilenet_v2_1.0_224_int8/mobilenet_v2_int8_qdq.onnx", "mobilenet_v2_1.0_224_int8/test_data_set_qdq", config.INT8, 0, true},
}

// TestEnginesMatchGoldens builds each model as a person would and runs its golden input.
func TestEnginesMatchGoldens(t *testing.T) {
	sessions.NotUnderRace(t)
	root := os.Getenv("TRTUI_DATA")
	if root == "" {
		t.Skip("TRTUI_DATA is not set: the trained models are not here")
	}
	b := cpu.Open(0)
	defer b.Close()
	cache := build.NewTimingCache()
	for _, g := range goldens {
		t.Run(filepath.Base(g.model)+"_"+string(g.precision), func(t *testing.T) {
			m, err := model.Open(graph.Ops(), filepath.Join(root, "models", g.model))
			if err != nil {
				t.Fatal(err)
			}
			in := readFolder(t, filepath.Join(root, "models", g.data), "input", m.Network.Inputs)
			want := readFolder(t, filepath.Join(root, "models", g.data), "output", m.Network.Outputs)
			batch := in[m.Network.Inputs[0].Name].Dims[0]
			cfg := config.Config{Precision: g.precision, Calibrator: "entropy", Batch: batch}
			r := sessions.NewRunner(m, stages.Workplace{Backend: b, Cache: cache}, nil)
			e, err := r.Engine(context.Background(), cfg, true)
			if err != nil {
				t.Fatal(err)
			}
			p := e.Plans[0]
			if float64(p.Memory.Peak) > 1.05*float64(p.Memory.LowerBound) {
				t.Errorf("arena of %d bytes, lower bound %d", p.Memory.Peak, p.Memory.LowerBound)
			}
			got := execute(t, p, b, in)
			for name, w := range want {
				compareValues(t, name, got[name], w, g.tolerance, g.quantized)
			}
		})
	}
}

func readFolder(t *testing.T, dir, kind string, tensors []*graph.Tensor) map[string]numeric.Value {
	t.Helper()
	values := map[string]numeric.Value{}
	for i, tensor := range tensors {
		data, err := os.ReadFile(filepath.Join(dir, kind+"_"+string(rune('0'+i))+".pb"))
		if err != nil {
			t.Fatal(err)
		}
		_, v, err := onnx.ReadTensor(data)
		if err != nil {
			t.Fatal(err)
		}
		values[tensor.Name] = v
	}
	return values
}

func execute(t *testing.T, p *run.Plan, b run.Backend, in map[string]numeric.Value) map[string]numeric.Value {
	t.Helper()
	l, err := run.Load(context.Background(), p, b)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.NewContext()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetInputs(in); err != nil {
		t.Fatal(err)
	}
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	out, err := c.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compareValues(t *testing.T, name string, got, want numeric.Value, tolerance float64, quantized bool) {
	t.Helper()
	x, y := got.Floats(), want.Floats()
	if len(x) != len(y) {
		t.Fatalf("output %s has %d elements, want %d", name, len(x), len(y))
	}
	largest, worst := 1.0, 0.0
	for i := range y {
		largest = max(largest, math.Abs(float64(y[i])))
		worst = max(worst, math.Abs(float64(x[i]-y[i])))
	}
	if !quantized {
		if !(worst <= tolerance*largest) {
			t.Errorf("output %s: differs by %.3g, want at most %.3g", name, worst, tolerance*largest)
		}
		return
	}
	if worst > 0.02*largest {
		t.Errorf("output %s: differs by %.3g, want at most %.3g", name, worst, 0.02*largest)
	}
	classes := want.Dims[len(want.Dims)-1]
	for row := 0; row < len(y); row += classes {
		if first(x[row:row+classes]) != first(y[row:row+classes]) {
			t.Errorf("output %s: item %d is of another class", name, row/classes)
		}
	}
}

func first(x []float32) int {
	best := 0
	for i := range x {
		if x[i] > x[best] {
			best = i
		}
	}
	return best
}
