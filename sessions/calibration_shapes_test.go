package sessions_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
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
		if _, err := ranges(cfg); err == nil || !strings.Contains(err.Error(), "data is f32[1 5 8]") {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
