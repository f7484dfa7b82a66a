package sessions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

// TestQuantization builds the embedded model in INT8 with each choice of how is quantised: each does what it says, and
// asymmetric ranges bring it nearer to FP32.
func TestQuantization(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	place := stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), TapItems: 1,
		Data: pictures{testdata.TestImages(), 32}, CalData: pictures{testdata.CalibrationImages(), 32},
	}
	r := sessions.NewRunner(m, place, nil)
	parts := report.PartPasses | report.PartAccuracy
	of := func(q config.Quantization) *report.Snapshot {
		t.Helper()
		snap, err := r.Report(t.Context(), config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1, Quantization: q}, parts, run.Profiling{Iterations: 1})
		if err != nil {
			t.Fatal(err)
		}
		return snap
	}
	sqnr := func(s *report.Snapshot) float64 { return s.Accuracy.Outputs[0].SQNR }
	corrected := func(s *report.Snapshot) (n int) {
		for _, st := range s.Passes.Steps {
			if st.Pass == "correct-biases" {
				n = len(st.Fired)
			}
		}
		return n
	}
	legacy, asymmetric := of(config.LegacyQuantization()), of(config.Quantization{BiasCorrection: "off"})
	fast, exact := of(config.Quantization{BiasCorrection: "fast"}), of(config.Quantization{})
	t.Logf("symmetric %.1f dB, asymmetric %.1f, corrected %.1f, exactly %.1f", sqnr(legacy), sqnr(asymmetric), sqnr(fast), sqnr(exact))
	if sqnr(asymmetric) < sqnr(legacy)+1 || sqnr(exact) < sqnr(legacy)+3 || corrected(legacy)+corrected(asymmetric) > 0 || corrected(fast) < 15 || corrected(exact) < 15 {
		t.Errorf("symmetric %.1f dB, asymmetric %.1f, corrected %.1f, exactly %.1f", sqnr(legacy), sqnr(asymmetric), sqnr(fast), sqnr(exact))
	}
	// Rounding by moments would take back most of what one scale loses.
	nearest := untried
	channel := sqnr(of(nearest))
	nearest.WeightScales = "tensor"
	if tensor := sqnr(of(nearest)); tensor > channel-1 {
		t.Errorf("a scale for all weights of a layer: %.1f dB, one for each channel %.1f", tensor, channel)
	}
	kept := of(config.Quantization{Rounding: untried.Rounding, Equalization: untried.Equalization, Keep: []string{"first", "Gemm"}, WeightRanges: "mse", Activations: "asymmetric:u8"})
	for _, l := range kept.Passes.Engine {
		want := "u8"
		if l.Op == "Gemm" || strings.HasPrefix(l.Name, "stem/") {
			want = "f32"
		}
		if (l.Op == "Conv" || l.Op == "Gemm") && l.Precision != want && !strings.HasPrefix(l.Name, "excite/") {
			t.Errorf("%s is %s, want %s", l.Name, l.Precision, want)
		}
	}
	given := of(config.Quantization{Rounding: untried.Rounding, Equalization: untried.Equalization, Ranges: map[string][]float64{"image": {-0.25, 0.5}}})
	if sqnr(given) > 15 || !slices.ContainsFunc(given.Passes.Engine, func(l report.Layer) bool { return strings.Contains(l.Text, "image") }) {
		t.Errorf("an input that is cut: %.1f dB", sqnr(given))
	}
	for _, bad := range []config.Quantization{
		{Ranges: map[string][]float64{"none": {-1, 1}}}, {Ranges: map[string][]float64{"image": {1, 2}}}, {Keep: []string{"nothing"}}, {Activations: "both"},
	} {
		cfg := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1, Quantization: bad}
		if _, err := r.Report(t.Context(), cfg, report.PartPasses, run.Profiling{}); err == nil {
			t.Errorf("%+v is built", bad)
		}
	}
	// An engine has what was added to its biases, and no data is needed to lower it again. What trials chose for the network as it
	// was is applied to another one then, and need not be the best for it.
	plainly := config.Quantization{BiasCorrection: "fast", Rounding: "nearest", Equalization: "off"}
	plain := of(plainly)
	for _, c := range []struct {
		q     config.Quantization
		was   *report.Snapshot
		least float64
	}{
		{config.Quantization{BiasCorrection: "fast"}, fast, sqnr(legacy) + 1},
		{plainly, plain, sqnr(plain) - 3},
	} {
		built, err := r.Engine(t.Context(), config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1, Quantization: c.q}, true)
		if err != nil {
			t.Fatal(err)
		}
		e := written(t, built)
		place := place
		place.CalData = nil
		cfg, err := e.BuiltWith()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Disable = []string{"fuse-residual"} // so that it is not as in the file
		again, err := sessions.NewRunner(e, place, nil).Report(t.Context(), cfg, parts, run.Profiling{Iterations: 1})
		if err != nil {
			t.Fatal(err)
		}
		if corrected(again) != corrected(c.was) || sqnr(again) < c.least {
			t.Errorf("lowered again: %d biases corrected, %.1f dB; in the engine %d, %.1f dB", corrected(again), sqnr(again), corrected(c.was), sqnr(c.was))
		}
	}
}
