package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

const (
	unsupportedModel = "testdata/unsupported.onnx"
	notRunnable      = "3 of 7 layers have unsupported operators (Sift x2, Weave)"
	refusal          = "unsupported.onnx cannot be imported: com.example:Sift (2 nodes: sift1, sift2): operator is not supported; com.example:Weave (node weave): operator is not supported"
)

// lookAt opens the model with unsupported operators, whose input has axes without a value.
func lookAt(t *testing.T) (*model.Model, stages.Workplace) {
	t.Helper()
	if _, err := model.Open(graph.Ops(), unsupportedModel); err == nil || err.Error() != refusal {
		t.Fatalf("to run it: %v", err)
	}
	m, err := model.LookAt(graph.Ops(), unsupportedModel)
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.Open(1)
	t.Cleanup(func() { b.Close() })
	return m, stages.Workplace{Backend: b, Cache: build.NewTimingCache()}
}

func looked(s *report.Snapshot) bool {
	return s.Busy == nil && s.Stale == 0 && s.Passes != nil
}

// TestLookAtSession opens a session on a model that cannot be run and changes its configuration in every way: the graph and
// the passes come, nothing is an error, and nothing runs.
func TestLookAtSession(t *testing.T) {
	m, w := lookAt(t)
	s := sessions.Open(m, w, config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1})
	defer s.Close()
	snap := await(t, s, looked)
	if !snap.Refused() || snap.Model.NotRunnable != notRunnable {
		t.Errorf("not runnable: %q", snap.Model.NotRunnable)
	}
	var marked []string
	for _, l := range snap.Passes.Engine {
		if l.Unsupported != "" {
			marked = append(marked, l.Name+" "+l.Op+" behind "+l.Behind+" "+l.Precision)
		}
	}
	want := []string{"sift1 Sift behind  ", "conv2 Conv behind sift1 ", "sift2 Sift behind  ", "weave Weave behind  "}
	if !slices.Equal(marked, want) {
		t.Errorf("marked: %q", marked)
	}
	if len(snap.Passes.Engine) != 6 || snap.Passes.Fused != 2 {
		t.Errorf("%d layers after all passes, %d fused", len(snap.Passes.Engine), snap.Passes.Fused)
	}
	if text := logText(snap); !strings.Contains(text, notRunnable) || !strings.Contains(text, "Weave: operator is not supported") || strings.Contains(text, "building") {
		t.Errorf("log:\n%s", text)
	}
	for name, change := range map[string]func(*config.Config){
		"int8":        func(c *config.Config) { c.Precision = config.INT8 },
		"fp16":        func(c *config.Config) { c.Precision = config.FP16 },
		"batch":       func(c *config.Config) { c.Batch = 4 },
		"layer":       func(c *config.Config) { c.LayerPrecisions = []string{"conv1:int8"} },
		"obey":        func(c *config.Config) { c.Constraints = config.Obey },
		"calibrators": func(c *config.Config) { c.Precision, c.Calibrator = config.INT8, "mse" },
	} {
		cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
		change(&cfg)
		s.Set(cfg)
		s.Ask(report.PartCalibration)
		s.Rerun()
		snap = await(t, s, func(s *report.Snapshot) bool {
			return looked(s) && key(s.Config) == key(cfg)
		})
		if snap.Passes.Precision != config.FP32 || snap.Timings != nil || snap.Memory != nil || snap.Tactics != nil || snap.Calibration != nil || snap.Accuracy != nil {
			t.Errorf("%s: something was built: %+v", name, snap)
		}
	}
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1, Disable: []string{"fuse-activation"}}
	s.Set(cfg)
	snap = await(t, s, func(s *report.Snapshot) bool { return looked(s) && len(s.Passes.Engine) == 7 })
	if snap.Err != "" {
		t.Error(snap.Err)
	}
}

func key(v any) string { b, _ := json.Marshal(v); return string(b) }

func logText(s *report.Snapshot) string {
	var b strings.Builder
	for _, l := range s.Log {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// TestLookAtRefuses asks for everything that runs a model that cannot be run.
func TestLookAtRefuses(t *testing.T) {
	m, w := lookAt(t)
	r := sessions.NewRunner(m, w, nil)
	cfg := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.As(err, new(*onnx.ImportError)) || err.Error() != refusal {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, part := range []report.Parts{report.PartMemory, report.PartTactics, report.PartTimings, report.PartOverview, report.PartAccuracy, report.PartScore} {
		_, err := r.Report(context.Background(), cfg, part, run.Profiling{Iterations: 1})
		refused("report", err)
	}
	_, err := r.Engine(context.Background(), cfg, true)
	refused("engine", err)
	_, _, err = r.Identity(context.Background(), cfg)
	refused("identity", err)
	snap, err := r.Report(context.Background(), cfg, report.PartModel|report.PartPasses, run.Profiling{})
	if err != nil || snap.Model.NotRunnable != notRunnable || len(snap.Passes.Engine) != 6 {
		t.Errorf("the passes: %v", err)
	}
	if list := snap.Model.Unsupported; len(list) != 4 || list[1] != (report.UnsupportedLayer{Layer: "conv2", Op: "Conv",
		Reason: `its input "s1" has no known shape: it comes from unsupported node sift1`, Behind: "sift1"}) || list[0].Domain != "com.example" {
		t.Errorf("the list: %+v", list)
	}
}

// TestLookAtRecording records a session on a model that cannot be run, and replays it.
func TestLookAtRecording(t *testing.T) {
	m, w := lookAt(t)
	path := filepath.Join(t.TempDir(), "r.trtui")
	s := sessions.Open(m, w, config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1})
	await(t, s, looked)
	if err := s.Record(path); err != nil {
		t.Fatal(err)
	}
	s.Rerun()
	await(t, s, looked)
	s.Close()
	r, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	snap := r.Snapshot()
	if !snap.Refused() || snap.Passes == nil || !strings.Contains(snap.Model.Layers[2].Text, "unsupported com.example:Sift") {
		t.Errorf("replayed: %+v", snap)
	}
}
