package sessions_test

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// TestSearch searches among two layers, once by accuracy, once more from the state of that, and by latency.
func TestSearch(t *testing.T) {
	sessions.NotUnderRace(t)
	r, ctx := studied(t), context.Background()
	cfg := config.Default()
	for _, n := range []string{"inception/one/conv/Conv", "head/classify/Gemm"} {
		cfg.SetLayerPrecision(n, config.INT8)
	}
	path, goal := filepath.Join(t.TempDir(), "search.json"), 45.0
	state, err := stages.OpenSearchState(path)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	how := stages.Tuning{Goal: report.Goal{MinSQNR: &goal}, To: []config.Precision{config.FP32}, Most: 4, State: state, Each: func(s *report.Search) { told = len(s.Points) }}
	first, err := r.Tune(ctx, cfg, how)
	if err != nil {
		t.Fatal(err)
	}
	if first.Best == nil || told != len(first.Points) || len(first.Points) > 4 || first.Live || *first.Chosen().SQNR < goal || state.Err() != nil {
		t.Fatalf("search %+v", first)
	}
	for _, p := range first.Points { // what is calibrated on is measured
		if math.Abs(p.Predicted-*p.SQNR) > 0.1 {
			t.Errorf("an engine of %.2f dB was predicted to have %.2f", *p.SQNR, p.Predicted)
		}
	}
	if how.State, err = stages.OpenSearchState(path); err != nil {
		t.Fatal(err)
	}
	again, err := r.Tune(ctx, cfg, how)
	if err != nil {
		t.Fatal(err)
	}
	if again.Resumed != len(first.Points) || again.Predictions != 0 || again.Chosen().Tuned != first.Chosen().Tuned {
		t.Errorf("gone on with: %d points of %d, %d predictions", again.Resumed, len(first.Points), again.Predictions)
	}
	how.State, how.Goal = nil, report.Goal{MaxLatency: time.Hour}
	if s, err := r.Tune(ctx, cfg, how); err != nil || s.Best == nil || *s.Chosen().SQNR < *first.Chosen().SQNR {
		t.Errorf("all the time there is: %+v, %v", s, err)
	}
	how.Limit = 1
	if s, err := r.Tune(ctx, cfg, how); err != nil || len(s.Points) != 1 || s.Chosen() == nil || s.Predictions > 2 {
		t.Errorf("without time: %+v, %v", s, err)
	}
	how.Limit = 0
	stopped, cancel := context.WithCancel(ctx)
	how.Each = func(s *report.Search) {
		if len(s.Points) == 1 {
			cancel()
		}
	}
	how.Goal = report.Goal{MaxDrop: new(float64), MinSQNR: &goal}
	if s, err := r.Tune(stopped, cfg, how); len(s.Points) != 1 || s.Chosen() == nil || err != nil && s.Best != nil && s.Live {
		t.Errorf("stopped: %+v, %v", s, err)
	}
	if how.State, err = stages.OpenSearchState(path); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Tune(ctx, config.Config{Precision: config.INT8, Batch: 1, Calibrator: "minmax"}, how); err == nil {
		t.Error("a state of another configuration is gone on with")
	}
}

// TestSearchIsReproduced builds what a search has found anew, as a file of its configuration is read: nothing in it is left to trials,
// which would be made for other layers, and the outputs are as near to FP32's as the search says.
func TestSearchIsReproduced(t *testing.T) {
	sessions.NotUnderRace(t)
	cfg, goal := config.Default(), 45.0
	for _, n := range []string{"inception/one/conv/Conv", "inception/reduce/conv/Conv", "head/classify/Gemm"} {
		cfg.SetLayerPrecision(n, config.INT8)
	}
	for _, to := range [][]config.Precision{{config.FP32}, nil} {
		found, err := studied(t).Tune(t.Context(), cfg, stages.Tuning{Goal: report.Goal{MinSQNR: &goal}, To: to, Most: 3})
		if err != nil {
			t.Fatal(err)
		}
		best := found.Chosen()
		if q := best.Config.Quantization.Full(); q.Rounder().IsAuto() || q.Equalizer().IsAuto() {
			t.Errorf("raised to %v: rounding %s and equalization %s are left to trials", to, q.Rounding, q.Equalization)
		}
		snap, err := studied(t).Report(t.Context(), best.Config, report.PartScore, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		if got := snap.Accuracy.Outputs[0].SQNR; math.Abs(got-*best.SQNR) > 0.1 {
			t.Errorf("raised to %v: %.2f dB were found, built anew it has %.2f", to, *best.SQNR, got)
		}
	}
}

// TestSearchInINT8 searches with no precision to raise layers to, and once more from the state of that.
func TestSearchInINT8(t *testing.T) {
	sessions.NotUnderRace(t)
	r, ctx := studied(t), context.Background()
	cfg := config.Default()
	for _, n := range []string{"inception/one/conv/Conv", "head/classify/Gemm"} {
		cfg.SetLayerPrecision(n, config.INT8)
	}
	goal := 199.0
	how := stages.Tuning{Goal: report.Goal{MinSQNR: &goal}, Most: 4, State: &stages.SearchState{}}
	first, err := r.Tune(ctx, cfg, how)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(first.Points); n < 2 || n > 4 || first.Best != nil {
		t.Fatalf("search in INT8: %+v", first)
	}
	for i, p := range first.Points {
		if p.Raised != 0 || p.Config.LayerPrecisions == nil || *first.Chosen().SQNR < *p.SQNR {
			t.Errorf("point %d: %+v, chosen %+v", i, p, first.Chosen())
		}
		for _, q := range first.Points[:i] {
			if reflect.DeepEqual(q.Config, p.Config) {
				t.Errorf("measured twice: %+v", p.Config)
			}
		}
	}
	again, err := r.Tune(ctx, cfg, how)
	if err != nil || again.Resumed != len(first.Points) || again.Predictions != 0 || *again.Chosen().SQNR != *first.Chosen().SQNR {
		t.Errorf("gone on with: %+v, %v", again, err)
	}
	how.State, how.Limit = nil, 1
	if s, err := r.Tune(ctx, cfg, how); err != nil || len(s.Points) != 1 {
		t.Errorf("without time: %+v, %v", s, err)
	}
}
