package sessions_test

import (
	"bytes"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestRequantize drops the quantisation of a model that brings one, in symmetric 8 bits, and quantises it here: its channels are
// equalised or not, as is asked, the ledger says where, and it is nearer to its real numbers than as it came.
func TestRequantize(t *testing.T) {
	sessions.NotUnderRace(t)
	b := cpu.Open(0)
	defer b.Close()
	place := stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 16}, CalData: pictures{testdata.CalibrationImages(), 16},
	}
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	legacy := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: config.LegacyQuantization()}
	first := sessions.NewRunner(m, place, nil)
	n, err := first.Quantised(t.Context(), legacy)
	if err != nil {
		t.Fatal(err)
	}
	came, err := first.Report(t.Context(), legacy, report.PartScore, run.Profiling{})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := onnx.Export(&file, n); err != nil {
		t.Fatal(err)
	}
	if m, err = model.Parse(graph.Ops(), "qdq", file.Bytes()); err != nil || !m.Quantized {
		t.Fatalf("quantised: %v, %v", m != nil && m.Quantized, err)
	}
	if err := model.DropQuantization(t.Context(), m); err != nil || m.Quantized {
		t.Fatal(err)
	}
	r := sessions.NewRunner(m, place, nil)
	of := func(equalization string) (equalised int, sqnr float64) {
		t.Helper()
		cfg := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1, Quantization: config.Quantization{Rounding: "nearest", Equalization: equalization}}
		snap, err := r.Report(t.Context(), cfg, report.PartPasses|report.PartScore, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range snap.Passes.Steps {
			if s.Pass == "equalize-channels" {
				equalised += len(s.Fired)
			}
		}
		if l := snap.Passes; l.Kept+l.Fused+l.Folded+l.Eliminated != len(snap.Model.Layers) {
			t.Errorf("the ledger does not sum to all layers")
		}
		if d := snap.Passes.Dropped; d == nil || len(d.Fired) == 0 || d.Layers < len(snap.Model.Layers) || !snap.Model.Requantized {
			t.Errorf("what was dropped is told of by %+v", d)
		}
		return equalised, snap.Accuracy.Outputs[0].SQNR
	}
	none, plain := of("off")
	some, scaled := of("weights")
	t.Logf("%.1f dB as it came, %.1f requantised, %.1f equalised at %d places", came.Accuracy.Outputs[0].SQNR, plain, scaled, some)
	if none != 0 || some == 0 || plain < came.Accuracy.Outputs[0].SQNR+3 || scaled < came.Accuracy.Outputs[0].SQNR+3 {
		t.Errorf("%d and %d places are equalised", none, some)
	}
}

// TestOwnRanges: the ranges that a quantised model brings stand beside those of the calibrators, on the tensors that are quantised and on
// what is left of them where the quantisation is dropped; an activation that was made part of a range is no error of it.
func TestOwnRanges(t *testing.T) {
	b := cpu.Open(0)
	defer b.Close()
	n := graph.NewNetwork("n")
	add := func(name string, op *graph.Op, attrs any, in ...*graph.Tensor) *graph.Tensor {
		l, err := n.Add(name, op, attrs, in, name+"_out")
		if err != nil {
			t.Fatal(err)
		}
		return l.Outputs[0]
	}
	pair := func(name string, by numeric.Range, typ numeric.DataType, x *graph.Tensor) *graph.Tensor {
		q := add(name+"_Q", graph.Quantize, graph.QuantAttrs{Range: by, Type: typ}, x)
		return add(name+"_DQ", graph.Dequantize, graph.QuantAttrs{Range: by, Type: numeric.F32}, q)
	}
	integers := numeric.NewValue(numeric.I8, 1024, 8)
	for i := range integers.Data {
		integers.Data[i] = byte(i*37%201 - 100)
	}
	given, relu := numeric.PerTensor(1.0/255, -128), numeric.PerTensor(0.01, 0)
	x := pair("x", given, numeric.I8, n.AddInput("x", numeric.F32, symbolic.Shape(1, 1024)...))
	w := add("w", graph.Dequantize, graph.QuantAttrs{Range: numeric.PerTensor(0.001, 0), Type: numeric.F32}, n.AddConst("w_i8", integers))
	n.MarkOutput(pair("y", relu, numeric.U8, add("MatMul", graph.MatMul, nil, x, w)))
	var items flat
	for i := range 12 {
		v := numeric.NewValue(numeric.F32, 1, 1024)
		for k := range v.F32() {
			v.F32()[k] = float32((k*k+i*k)%97) / 97
		}
		items = append(items, v)
	}
	for _, dropped := range []bool{false, true} {
		m := model.Defined(n)
		if dropped {
			if err := model.DropQuantization(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		r := sessions.NewRunner(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), CalData: items}, nil)
		snap, err := r.Report(t.Context(), config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}, report.PartCalibration, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		own := map[string]*report.OwnRange{}
		for _, c := range snap.Calibration.Tensors {
			if c.Own != nil {
				own[c.Tensor] = c.Own
			}
		}
		if x := own["x"]; x == nil || x.Scale != given.Scale[0] || x.Zero != -128 || x.Type != "i8" || x.Low != 0 || x.High != 1 || x.Clip != 0 || x.Clamps || x.SQNR < 40 {
			t.Errorf("dropped %v: the input has %+v", dropped, x)
		}
		y, name := own["MatMul_out"], "MatMul_out"
		if dropped {
			y, name = own["y_DQ_out"], "y_DQ_out"
		}
		if y == nil || y.Scale != relu.Scale[0] || y.Zero != 0 || y.Type != "u8" || y.Clamps == dropped || y.SQNR < 30 {
			t.Errorf("dropped %v: %s has %+v", dropped, name, y)
		}
		if len(own) != 2 || len(snap.Calibration.Tensors) > 3 {
			t.Errorf("dropped %v: %d of %d tensors have ranges of the model", dropped, len(own), len(snap.Calibration.Tensors))
		}
	}
}

// flat is data of arrays.
type flat []numeric.Value

func (f flat) Name() string { return "flat" }
func (f flat) Len() int     { return len(f) }
func (f flat) Inputs(i int) (map[string]numeric.Value, error) {
	return map[string]numeric.Value{"x": f[i]}, nil
}
func (f flat) Labels(int) []int { return nil }
func (f flat) Random() bool     { return false }
