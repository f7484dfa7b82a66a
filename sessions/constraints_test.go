package sessions_test

import (
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

// TestConstraints asks for precisions that can be had and for some that cannot: the latter are told of, by layer and with
// the reason, or are an error.
func TestConstraints(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	var warned []string
	r := sessions.NewRunner(m, stages.Workplace{
		Backend: b, Cache: build.NewTimingCache(), CalData: pictures{testdata.CalibrationImages(), 8},
		Warn: func(text string) { warned = append(warned, text) },
	}, nil)
	const softmax = "layer softmax/Softmax: precision %s is not met, it runs in f32: Softmax has no 8-bit form"
	for _, rule := range []string{"*:fp32", "*:fp16", "stem/*:int8,block2/*:fp16", "*:int8,softmax/*:fp32", "*:int8", "softmax/Softmax:int8"} {
		want := ""
		if rule == "*:int8" || strings.HasPrefix(rule, "softmax/") {
			want = strings.ReplaceAll(softmax, "%s", rule)
		}
		for _, p := range []config.Precision{config.FP32, config.FP16, config.INT8} {
			warned = nil
			cfg := config.Config{Precision: p, Calibrator: "minmax", Batch: 1, LayerPrecisions: strings.Split(rule, ",")}
			snap, err := r.Report(t.Context(), cfg, report.PartPasses, run.Profiling{})
			if err != nil {
				t.Fatalf("%s with %s: %v", p, rule, err)
			}
			if got := strings.Join(warned, "\n"); got != want {
				t.Errorf("%s with %s warns %q, want %q", p, rule, got, want)
			}
			if got := len(snap.Passes.Unmet); got != len(warned) {
				t.Errorf("%s with %s: %d unmet precisions are reported, want %d", p, rule, got, len(warned))
			}
			cfg.Constraints = config.Obey
			_, err = r.Report(t.Context(), cfg, report.PartPasses, run.Profiling{})
			switch {
			case want == "" && err != nil:
				t.Errorf("%s obeying %s: %v", p, rule, err)
			case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want+"; set another precision")):
				t.Errorf("%s obeying %s: error %v, want %s", p, rule, err, want)
			}
		}
	}
}

// TestIgnoredConstraints builds as if no layer's precision was set, and says which were.
func TestIgnoredConstraints(t *testing.T) {
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	warned := ""
	r := sessions.NewRunner(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), Warn: func(text string) { warned += text }}, nil)
	cfg := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1, LayerPrecisions: []string{"*:fp16"}, Constraints: config.Ignore}
	snap, err := r.Report(t.Context(), cfg, report.PartPasses, run.Profiling{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range snap.Passes.Engine {
		if l.Precision == "f16" {
			t.Errorf("%s is %s", l.Name, l.Precision)
		}
	}
	if warned != "precision constraints are none: the layer precisions *:fp16 are ignored" {
		t.Error(warned)
	}
	cfg.Constraints = ""
	if snap, err = r.Report(t.Context(), cfg, report.PartPasses, run.Profiling{}); err != nil || !strings.Contains(snap.Passes.Engine[0].Text, "f16") {
		t.Error(snap.Passes.Engine[0].Text, err)
	}
}

// TestUnmetPrecisionIsLogged has a session tell of a precision that is not met.
func TestUnmetPrecisionIsLogged(t *testing.T) {
	sessions.NotUnderRace(t)
	m, err := model.Parse(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(0)
	defer b.Close()
	cfg := config.Config{Precision: config.INT8, Calibrator: "minmax", Batch: 1, Quantization: untried, LayerPrecisions: []string{"softmax/Softmax:int8"}}
	s := sessions.Open(m, stages.Workplace{Backend: b, Cache: build.NewTimingCache(), CalData: pictures{testdata.CalibrationImages(), 8}}, cfg)
	defer s.Close()
	obeys := false
	for snap := range s.Events() {
		for _, line := range snap.Log {
			if !obeys && line.Level == "warning" && line.Layer == "softmax/Softmax" && strings.Contains(line.Text, "Softmax has no 8-bit form") {
				obeys = true
				cfg.Constraints = config.Obey
				s.Set(cfg)
			}
		}
		if snap.Config.Constraints == config.Obey && snap.Busy == nil && snap.Err != "" {
			if !strings.Contains(snap.Err, "softmax/Softmax: precision softmax/Softmax:int8 is not met") {
				t.Errorf("the error is %q", snap.Err)
			}
			if snap.Stale.Has(report.PartPasses) || len(snap.Passes.Unmet) != 1 || !snap.Stale.Has(report.PartTactics) {
				t.Errorf("stale %v with %d unmet precisions: the graph should be fresh, and no more", snap.Stale, len(snap.Passes.Unmet))
			}
			return
		}
		if snap.Settled() && snap.Busy == nil && !obeys {
			t.Fatalf("it is settled without a warning: %v", snap.Log)
		}
	}
}
