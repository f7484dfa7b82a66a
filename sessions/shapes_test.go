package sessions_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// A model with open axes is built at the shapes that are given, or that its data has; where there are none the error says
// which axes are open and what to give.
func TestOpenAxes(t *testing.T) {
	folder := filepath.Join(os.Getenv("TRTUI_DATA"), "models", "ppocr-det-cls")
	if _, err := os.Stat(folder); err != nil || os.Getenv("TRTUI_DATA") == "" {
		t.Skip("TRTUI_DATA names no folder with the models")
	}
	m, err := model.Open(graph.Ops(), filepath.Join(folder, "ch_PP-OCRv4_det_infer.onnx"))
	if err != nil {
		t.Fatal(err)
	}
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
	r := sessions.NewRunner(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache()}, nil)
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	_, err = r.Report(t.Context(), cfg, report.PartTimings, run.Profiling{Iterations: 1})
	if err == nil || !strings.Contains(err.Error(), "have no value: give shapes, as in x:1x3x64x64") {
		t.Errorf("without shapes: %v", err)
	}
	snap, err := r.Report(t.Context(), cfg, report.PartModel, run.Profiling{})
	if err != nil || len(snap.Model.Layers) == 0 || snap.Model.Inputs[0].Shape != nil || snap.Model.FLOPs != 0 {
		t.Errorf("a look at the model: %v", err)
	}
	cfg.Shapes = map[string][]int{"x": {1, 3, 32, 64}}
	if _, err := r.Report(t.Context(), cfg, report.PartMemory, run.Profiling{}); err != nil {
		t.Error(err)
	}
	cfg.Batch = 2
	if got := m.Shaped(cfg).Shapes["x"]; !reflect.DeepEqual(got, []int{2, 3, 32, 64}) || cfg.Shapes["x"][0] != 1 {
		t.Errorf("shapes of a batch of 2: %v", got)
	}
}

// The batch closes first axes, shapes close theirs, and what shares a symbol with either; nothing else has a value.
func TestSymbols(t *testing.T) {
	n := graph.NewNetwork("n")
	n.AddInput("tokens", numeric.I64, symbolic.Symbol("batch"), symbolic.Symbol("length"))
	n.AddInput("mask", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("length"))
	n.AddInput("page", numeric.F32, symbolic.Const(1), symbolic.Symbol("height"), symbolic.Symbol("width"))
	n.AddInput("alone", numeric.F32, symbolic.Symbol("rows"))
	m := &model.Model{Network: n}
	for _, c := range []struct {
		batch  int
		shapes map[string][]int
		want   map[string]int
		says   []string // by the error
	}{
		{1, nil, nil, []string{"input tokens is", "where length has no value", "where height and width have no value", "tokens:1x64,mask:1x64,page:1x64x64"}},
		{1, map[string][]int{"mask": {1, 7}}, nil, []string{"input page is"}},
		{2, map[string][]int{"mask": {2, 7}, "page": {1, 5, 6}}, map[string]int{"batch": 2, "length": 7, "height": 5, "width": 6, "rows": 2}, nil},
		{0, map[string][]int{"tokens": {3, 7}, "page": {1, 5, 6}, "alone": {4}}, map[string]int{"batch": 3, "length": 7, "height": 5, "width": 6, "rows": 4}, nil},
		{1, map[string][]int{"tokens": {1, 7}, "mask": {1, 8}, "page": {1, 5, 6}}, nil, []string{"length"}},
	} {
		got, err := m.Symbols(config.Config{Batch: c.batch, Shapes: c.shapes})
		if c.says == nil && (err != nil || !reflect.DeepEqual(got, c.want)) {
			t.Errorf("%v: %v, %v, want %v", c.shapes, got, err, c.want)
		}
		for _, text := range c.says {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%v: %v, want %q", c.shapes, err, text)
			}
		}
	}
	_, err := m.Symbols(config.Config{Batch: 1, Shapes: map[string][]int{"mask": {1, 7}}})
	if err == nil || strings.Contains(err.Error(), "tokens") {
		t.Errorf("the mask's shape closes that of tokens: %v", err)
	}
}

// Shapes that an input cannot have are errors that say what is wrong with them, whether or not the model needs shapes.
func TestShapesThatDoNotFit(t *testing.T) {
	n := graph.NewNetwork("n")
	x := n.AddInput("image", numeric.F32, symbolic.Symbol("batch"), symbolic.Const(3), symbolic.Symbol("height"), symbolic.Symbol("width"))
	n.AddInput("past", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("length"))
	n.MarkOutput(x)
	m := &model.Model{Network: n}
	for _, c := range []struct {
		image, past []int
		more        string
		want        string
	}{
		{[]int{1, 3, 5, 6}, []int{1, 7}, "", ""},
		{[]int{1, 3, 5, 6}, []int{1, 0}, "", ""},
		{[]int{1, 3, 5, 6}, []int{1, 7}, "imago", `shapes: the model has no input "imago"; did you mean "image"?`},
		{[]int{1, 3, 5, 6}, []int{1, 7}, "foo", `no input "foo"; it has image f32[batch,3,height,width], past f32[batch,length]`},
		{nil, []int{1, 7}, "foo", `no input "foo"`},
		{[]int{1, 3, 5}, []int{1, 7}, "", "shapes: image 1x3x5: 3 axes, but the input is f32[batch,3,height,width], which has 4 axes; give a shape such as image:1x3x64x64"},
		{[]int{1, 4, 5, 6}, []int{1, 7}, "", "shapes: image 1x4x5x6: axis 1 is 4, but the input is f32[batch,3,height,width], where it is 3"},
		{[]int{1, 3, 5}, []int{7}, "", "past 7: 1 axis, but"},
		{[]int{1, 3, 0, 6}, []int{1, 7}, "", "input image of shape 1x3x0x6 has no elements, so that nothing would be computed; give extents of at least 1"},
		{[]int{1, 3, 5, 0}, []int{1, 0}, "", "input image of shape 1x3x5x0 has no elements"},
	} {
		shapes := map[string][]int{"past": c.past}
		if c.image != nil {
			shapes["image"] = c.image
		}
		if c.more != "" {
			shapes[c.more] = []int{1}
		}
		_, err := m.Symbols(config.Config{Batch: 1, Shapes: shapes})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", shapes, err, c.want)
		}
	}
}

// Extents with which layers do not fit together are an error before anything is built, which names the layer once.
func TestExtentsThatDoNotFit(t *testing.T) {
	sessions.NotUnderRace(t)
	d := graph.Define("n")
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("a"))
	y := d.Input("y", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("b"))
	d.Output("z", d.Named("sum").ElementWise(elementwise.Add, x, y))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	r := sessions.NewRunner(&model.Model{Network: n}, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), CalData: noise{}}, nil)
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1, Shapes: map[string][]int{"x": {1, 4}, "y": {1, 4}}}
	if _, err := r.Report(t.Context(), cfg, report.PartMemory, run.Profiling{}); err != nil {
		t.Error(err)
	}
	cfg.Shapes = map[string][]int{"x": {1, 4}, "y": {1, 3}}
	for _, cfg.Precision = range []config.Precision{config.FP32, config.INT8} {
		_, err = r.Report(t.Context(), cfg, report.PartMemory, run.Profiling{})
		if err == nil || strings.Count(err.Error(), "sum") != 1 || !strings.HasSuffix(err.Error(), "the model cannot take inputs of x:1x4,y:1x3; give other shapes, another batch or other data") {
			t.Errorf("%s: %v", cfg.Precision, err)
		}
	}
	if _, err := r.Engine(t.Context(), cfg, false); !errors.As(err, new(*model.ShapesError)) {
		t.Errorf("%s: %v", cfg.Precision, err)
	}
}
