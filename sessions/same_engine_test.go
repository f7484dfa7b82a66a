package sessions_test

import (
	"slices"
	"testing"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestSameEngineStays changes what has no say while a session is at rest and while it works: the configuration follows,
// and nothing is built or measured again.
func TestSameEngineStays(t *testing.T) {
	sessions.NotUnderRace(t)
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	s := open(t, cfg)
	early := await(t, s, func(s *report.Snapshot) bool { return s.Timings != nil })
	cfg.Calibrator = "minmax"
	s.Set(cfg)
	built := await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil && snap.Settled() })
	if built.Config.Calibrator != "minmax" || built.Calibration.Active != "minmax" {
		t.Errorf("the session ends with %s, its comparison with %s", built.Config.Calibrator, built.Calibration.Active)
	}
	if built.Passes != early.Passes {
		t.Error("the change of a calibrator in FP32 rebuilt the engine")
	}
	for _, change := range []func(){
		func() { cfg.Calibrator = "mse" },
		func() { cfg.Constraints = config.Obey },
		func() { cfg.Calibrator = "percentile:99.5" }, // not among those compared: that comparison is made anew
	} {
		change()
		s.Set(cfg)
		now := await(t, s, func(snap *report.Snapshot) bool {
			return snap.Busy == nil && snap.Settled() && snap.Config.Calibrator == cfg.Calibrator && snap.Config.Constraints == cfg.Constraints
		})
		if now.Timings != built.Timings || now.Passes != built.Passes || now.Memory != built.Memory || now.Accuracy != built.Accuracy {
			t.Errorf("%s, %s: something was made anew", cfg.Calibrator, cfg.Constraints)
		}
		if now.Calibration.Active != cfg.Calibrator || !slices.Contains(now.Calibration.Calibrators, cfg.Calibrator) {
			t.Errorf("%s is compared as %s in %q", cfg.Calibrator, now.Calibration.Active, now.Calibration.Calibrators)
		}
	}
	cfg.Precision = config.INT8
	s.Set(cfg)
	if now := await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil && settled(cfg)(snap) }); now.Timings == built.Timings {
		t.Error("a change of precision measured nothing")
	}
}
