package onnx

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// dataFolder returns where the external test data is, and skips the test if there is none.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TRTUI_DATA")
	if dir == "" {
		t.Skip("TRTUI_DATA is not set: no external models to test with")
	}
	return dir
}

// models lists trained models with their reference inputs and outputs.
var models = []struct {
	file   string
	sets   string // pattern of the data sets' folders
	tol    float64
	qdq    bool // quantised: compared by class and probability
	layers int
	slow   bool // takes more than a few seconds
}{
	{file: "mnist-cntk/mnist.onnx", sets: "test_data_set_?", tol: 1e-4, layers: 12},
	{file: "mnist-cntk/mnist_opt.onnx", sets: "test_data_set_?", tol: 1e-4, layers: 8},
	{file: "mnist-burn/mnist.onnx", sets: "test_data_set_?", tol: 1e-4, layers: 13},
	{file: "cifar10-resnet8/resnet8_fp32.onnx", sets: "test_data_set_0", tol: 1e-4, layers: 24},
	{file: "cifar10-resnet8/resnet8_int8_qdq.onnx", sets: "test_data_set_qdq", qdq: true, layers: 64},
	{file: "cifar10-resnet8/resnet8_torch_export.onnx", sets: "test_data_set_torch_export", tol: 1e-4, layers: 80},
	{file: "kws-dscnn/kws_fp32_dequantised.onnx", sets: "test_data_set_0", tol: 1e-4, layers: 23},
	{file: "kws-dscnn/kws_int8_qdq.onnx", sets: "test_data_set_qdq", qdq: true, layers: 57},
	{file: "mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_fp32.onnx", sets: "test_data_set_0", tol: 1e-4, layers: 59},
	{file: "mobilenet_v1_0.25_128/mobilenet_v1_0.25_128_uint8_qdq.onnx", sets: "test_data_set_qdq", qdq: true, layers: 147},
	{file: "mobilenet_v2_1.0_224_int8/mobilenet_v2_int8_qdq.onnx", sets: "test_data_set_qdq", qdq: true, layers: 289, slow: true},
	{file: "super_resolution/super_resolution.onnx", sets: "test_data_set_zoo", tol: 1e-4, layers: 10, slow: true},
	{file: "ppocr-det-cls/ch_ppocr_mobile_v2.0_cls_infer.onnx", sets: "test_data_set_cls", tol: 1e-4, layers: 221},
	{file: "magika-v3_3/model.onnx", sets: "test_data_set_0", tol: 1e-2, layers: 95},
	{file: "stories260K-llama/stories260K_seq64.onnx", sets: "test_data_set_0", tol: 1e-4, layers: 434},
	{file: "stories260K-llama/stories260K_dyn.onnx", sets: "test_data_set_dyn", tol: 1e-4, layers: 654},
	{file: "yunet-face/yunet_n_320_320.onnx", sets: "test_data_set_0", tol: 1e-4, layers: 115},
	{file: "yunet-face/yunet_n_dynamic.onnx", sets: "test_data_set_dyn", tol: 1e-4, layers: 163, slow: true},
	{file: "ppocr-det-cls/ch_PP-OCRv4_det_infer.onnx", sets: "test_data_set_det", tol: 1e-4, layers: 330, slow: true},
	{file: "squeezenet-fp16/squeezenet_fp16.onnx", sets: "test_data_set_0", tol: 1e-2, layers: 66, slow: true},
}

// TestModels imports trained models and compares what they compute with references of float64 arithmetic.
func TestModels(t *testing.T) {
	dir := filepath.Join(dataFolder(t), "models")
	for _, m := range models {
		t.Run(m.file, func(t *testing.T) {
			f, err := Open(graph.Ops(), filepath.Join(dir, m.file))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(f.Network.Layers); got != m.layers {
				t.Errorf("%d layers, want %d", got, m.layers)
			}
			if m.slow && testing.Short() {
				t.Skip("slow")
			}
			sets, err := filepath.Glob(filepath.Join(dir, filepath.Dir(m.file), m.sets))
			if err != nil || len(sets) == 0 {
				t.Fatalf("no data sets: %v", err)
			}
			for _, set := range sets {
				inputs := map[string]numeric.Value{}
				for i, x := range f.Network.Inputs {
					inputs[x.Name] = readValue(t, filepath.Join(set, fmt.Sprintf("input_%d.pb", i)))
				}
				out, err := f.Network.Eval(context.Background(), inputs, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, y := range f.Network.Outputs {
					want := readValue(t, filepath.Join(set, fmt.Sprintf("output_%d.pb", i)))
					if m.qdq {
						compareClasses(t, out[y.Name], want)
					} else {
						compareNumbers(t, out[y.Name], want, m.tol)
					}
				}
			}
		})
	}
}

func readValue(t *testing.T, path string) numeric.Value {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, v, err := ReadTensor(b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// compareNumbers allows a difference of tol times the largest magnitude, which counts as 1 at least.
func compareNumbers(t *testing.T, got, want numeric.Value, tol float64) {
	t.Helper()
	a, b := got.Floats(), want.Floats()
	if len(a) != len(b) {
		t.Fatalf("shape %v, want %v", got.Dims, want.Dims)
	}
	top, worst := 1.0, 0.0
	for i := range b {
		top = max(top, math.Abs(float64(b[i])))
		worst = max(worst, math.Abs(float64(a[i])-float64(b[i])))
	}
	if !(worst <= tol*top) {
		t.Errorf("largest difference %g, want at most %g", worst, tol*top)
	}
}

// compareClasses demands the same largest class of each item and probabilities within 0.02.
func compareClasses(t *testing.T, got, want numeric.Value) {
	t.Helper()
	compareNumbers(t, got, want, 0.02)
	a, b := got.Floats(), want.Floats()
	classes := want.Dims[1]
	for i := 0; i < len(b); i += classes {
		if x, y := argmax(a[i:i+classes]), argmax(b[i:i+classes]); x != y {
			t.Errorf("item %d: class %d, want %d", i/classes, x, y)
		}
	}
}

func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
