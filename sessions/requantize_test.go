package sessions_test

import (
	"bytes"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
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
