package sessions_test

import (
	"testing"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/testdata"
)

// Of a model that brings its own quantisation activations are collected when the report of calibration is asked for, and
// from then on.
func TestCalibrateOnDemand(t *testing.T) {
	m, err := sessions.ParseModel(graph.Ops(), "embedded", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	m.Quantized = true
	b := cpu.Open(0)
	defer b.Close()
	cal := &counted{pictures: pictures{testdata.CalibrationImages(), 4}}
	cfg := config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1}
	s := sessions.Open(m, sessions.Workplace{Backend: b, Cache: build.NewTimingCache(), Data: pictures{testdata.TestImages(), 2}, CalData: cal}, cfg)
	defer s.Close()
	settled := func(batch int, calibrated bool) {
		t.Helper()
		for snap := range s.Events() {
			if snap.Err != "" {
				t.Fatal(snap.Err)
			}
			if snap.Settled() && snap.Config.Batch == batch && (snap.Calibration != nil) == calibrated {
				return
			}
		}
	}
	settled(1, false)
	if cal.reads != 0 {
		t.Errorf("%d items were read before anyone asked", cal.reads)
	}
	s.Calibrate()
	settled(1, true)
	if cal.reads == 0 {
		t.Error("no items were read")
	}
	cfg.Batch = 2
	s.Set(cfg)
	settled(2, true)
}

// counted counts the items that are read.
type counted struct {
	pictures
	reads int // by the session's own goroutine
}

func (c *counted) Inputs(i int) (map[string]graph.Value, error) {
	c.reads++
	return c.pictures.Inputs(i)
}
