package sessions_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// TestCalibrationShapes: an engine of a range is calibrated on data of a shape that it serves, whatever its best one is, to the ranges that
// an engine of that shape has; data that it does not serve are refused.
func TestCalibrationShapes(t *testing.T) {
	d := graph.Define("open")
	weights := make([]float32, 64)
	for i := range weights {
		weights[i] = float32(i%7) - 3
	}
	d.Output("y", d.Relu(d.MatMul(d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("rows"), symbolic.Const(8)), d.Weights("w", weights, 8, 8))))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	const items, rows = 4, 5
	values := make([]float32, items*rows*8)
	for i := range values {
		values[i] = float32(i%23) - 9
	}
	set, err := dataset.New("rows", []dataset.Array{{Name: "x", Value: numeric.Values(numeric.F32, values, items, rows, 8)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	defer b.Close()
	w := workplace(t, b)
	if w.CalData, err = set.Bind(n.Inputs); err != nil {
		t.Fatal(err)
	}
	at := func(batch, rows int) map[string][]int { return map[string][]int{"x": {batch, rows, 8}} }
	ranges := func(cfg config.Config) (map[string]numeric.Range, error) {
		cfg.Precision, cfg.Calibrator, cfg.Quantization = config.INT8, "minmax", untried
		e, err := sessions.NewRunner(&model.Model{Network: n, Path: "open"}, w, nil).Engine(t.Context(), cfg, true)
		if err != nil {
			return nil, err
		}
		var r struct{ Ranges map[string]numeric.Range }
		return r.Ranges, json.Unmarshal(e.Report, &r)
	}
	want, err := ranges(config.Config{Batch: 1, Shapes: at(1, rows)})
	if err != nil || len(want) == 0 {
		t.Fatalf("%v, %v", want, err)
	}
	for _, cfg := range []config.Config{
		{Batch: 2, Shapes: at(2, 9), MinShapes: at(2, 1), MaxShapes: at(4, 16)},
		{Batch: 1, Shapes: at(1, 9), MinShapes: at(1, 8), MaxShapes: at(1, 16), Profiles: []config.Profile{{Shapes: at(1, 3), MinShapes: at(1, 1), MaxShapes: at(1, 7)}}},
	} {
		if got, err := ranges(cfg); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %v, %v, want %v", cfg, got, err, want)
		}
	}
	for _, cfg := range []config.Config{{Batch: 1, Shapes: at(1, 9)}, {Batch: 1, Shapes: at(1, 9), MinShapes: at(1, 6), MaxShapes: at(1, 16)}} {
		if _, err := ranges(cfg); err == nil || !strings.Contains(err.Error(), "item 0: input x: axis 1 (rows) is 5, the engine was built for ") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// TestItemShapes: of data whose items have shapes of their own an engine of a range is calibrated on each at its own, and compared with
// FP32 on each; an item that it does not serve is named with input, axis, value and range.
func TestItemShapes(t *testing.T) {
	d := graph.Define("open")
	rnd := rand.New(rand.NewPCG(5, 6))
	normal := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rnd.NormFloat64())
		}
		return v
	}
	x := d.Input("x", numeric.F32, symbolic.Symbol("batch"), symbolic.Symbol("rows"), symbolic.Const(8))
	d.Output("y", d.MatMul(d.Relu(d.MatMul(x, d.Weights("w", normal(128), 8, 16))), d.Weights("v", normal(64), 16, 4)))
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	items := func(rows ...int) dataset.Data {
		var feeds []map[string]numeric.Value
		for _, r := range rows {
			feeds = append(feeds, map[string]numeric.Value{"x": numeric.Values(numeric.F32, normal(r*8), 1, r, 8)})
		}
		path := filepath.Join(t.TempDir(), "items.json")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := dataset.WriteFeeds(f, feeds); err != nil {
			t.Fatal(err)
		}
		set, err := dataset.Open(path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := set.Bind(n.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		return bound
	}
	b := cpu.Open(1)
	defer b.Close()
	snapshot := func(data, cal dataset.Data, cfg config.Config) (*report.Snapshot, error) {
		w := workplace(t, b)
		w.Data, w.CalData, w.TapItems = data, cal, 4
		return sessions.NewRunner(&model.Model{Network: n, Path: "open"}, w, nil).Report(t.Context(), cfg, report.PartCalibration|report.PartAccuracy, run.Profiling{Iterations: 1})
	}
	at := func(rows int) map[string][]int { return map[string][]int{"x": {1, rows, 8}} }
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Quantization: untried, Batch: 1, Shapes: at(6), MinShapes: at(1), MaxShapes: at(16)}
	all := items(5, 3, 16, 1, 5, 9)
	snap, err := snapshot(all, all, cfg)
	if err != nil {
		t.Fatal(err)
	}
	low, high := float32(0), float32(0)
	for i := range all.Len() {
		in, err := all.Inputs(i)
		if err != nil {
			t.Fatal(err)
		}
		out, err := n.Eval(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range out["y"].F32() {
			low, high = min(low, v), max(high, v)
		}
	}
	c := snap.Calibration
	last := c.Tensors[len(c.Tensors)-1]
	if last.Tensor != "y" || math.Abs(float64(last.Min-low)) > 1e-4 || math.Abs(float64(last.Max-high)) > 1e-4 || c.Batches != 6 {
		t.Errorf("%s of %d items reaches from %g to %g, want %g to %g", last.Tensor, c.Batches, last.Min, last.Max, low, high)
	}
	a := snap.Accuracy
	if len(a.Outputs) != 1 || a.Items != 6 || a.Outputs[0].SQNR < 20 || len(a.Unlike) > 0 || a.TapItems != 4 || len(a.Layers) == 0 {
		t.Errorf("accuracy: %+v", a)
	}
	for _, one := range []struct {
		data, cal dataset.Data
		cfg       config.Config
		want      string
	}{
		{all, items(5, 3, 17), cfg, "item 2: input x: axis 1 (rows) is 17, the engine was built for 1 to 16"},
		{items(5, 3, 9, 20), all, cfg, "item 3: input x: axis 1 (rows) is 20, the engine was built for 1 to 16"},
		{items(6, 3), items(6), config.Config{Precision: config.FP32, Batch: 1, Shapes: at(6)}, "item 1: input x: axis 1 (rows) is 3, the engine was built for 6 alone"},
		{items(6, 3), items(6), config.Config{Precision: config.FP32, Batch: 2, Shapes: map[string][]int{"x": {2, 6, 8}}, MinShapes: at(1), MaxShapes: map[string][]int{"x": {2, 8, 8}}}, "items 0 and 1, which would be computed at once, differ in shape"},
	} {
		if _, err := snapshot(one.data, one.cal, one.cfg); err == nil || !strings.Contains(err.Error(), one.want) {
			t.Errorf("%v, want %s", err, one.want)
		}
	}
}
