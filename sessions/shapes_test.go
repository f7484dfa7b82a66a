package sessions_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/dataset"
)

// A model with open axes is built at the shapes that are given, or that its data has; where there are none the error says
// what was assumed and what to give.
func TestOpenAxes(t *testing.T) {
	folder := filepath.Join(os.Getenv("TRTUI_DATA"), "models", "ppocr-det-cls")
	if _, err := os.Stat(folder); err != nil || os.Getenv("TRTUI_DATA") == "" {
		t.Skip("TRTUI_DATA names no folder with the models")
	}
	m, err := sessions.OpenModel(graph.Ops(), filepath.Join(folder, "ch_PP-OCRv4_det_infer.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	set, err := dataset.Open(filepath.Join(folder, "test_data_set_det"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := set.Bind(m.Network.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := m.DataShapes(data)
	if want := map[string][]int{"x": {1, 3, 192, 320}}; err != nil || !reflect.DeepEqual(shapes, want) {
		t.Fatalf("the data's shapes are %v, %v, want %v", shapes, err, want)
	}
	b := cpu.Open(0)
	defer b.Close()
	r := sessions.NewRunner(m, sessions.Workplace{Backend: b, Cache: build.NewTimingCache()}, nil)
	cfg := sessions.Config{Precision: sessions.FP32, Calibrator: "entropy", Batch: 1}
	_, err = r.Report(t.Context(), cfg, sessions.PartTimings, run.Profiling{Iterations: 1})
	if err == nil || !strings.Contains(err.Error(), "every open axis was taken to be 1: name shapes as in --shapes x:1x3x64x64") {
		t.Errorf("without shapes: %v", err)
	}
	cfg.Shapes = map[string][]int{"x": {1, 3, 32, 64}}
	if _, err := r.Report(t.Context(), cfg, sessions.PartMemory, run.Profiling{}); err != nil {
		t.Error(err)
	}
	cfg.Batch = 2
	if got := m.Shaped(cfg).Shapes["x"]; !reflect.DeepEqual(got, []int{2, 3, 32, 64}) || cfg.Shapes["x"][0] != 1 {
		t.Errorf("shapes of a batch of 2: %v", got)
	}
}
