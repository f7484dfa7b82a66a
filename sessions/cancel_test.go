package sessions_test

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestCancel stops a build: what was made stays, nothing is done until it is asked for, and then all of it.
func TestCancel(t *testing.T) {
	s := open(t, config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1})
	s.Cancel() // most often before the work has begun, which it then does not stop
	await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil && (snap.Settled() || snap.Stopped) })
	s.Rerun()
	await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil && snap.Settled() && !snap.Stopped })

	s.Set(config.Config{Precision: config.INT8, Calibrator: "entropy", Batch: 1})
	await(t, s, func(snap *report.Snapshot) bool { return snap.Busy != nil && snap.Config.Precision == config.INT8 })
	s.Cancel()
	snap := await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil })
	if !snap.Stopped || snap.Settled() || snap.Timings == nil {
		t.Fatalf("stopped %v, settled %v", snap.Stopped, snap.Settled())
	}
	select {
	case later := <-s.Events():
		for later.Busy == nil && len(s.Events()) > 0 { // the line in the log
			later = <-s.Events()
		}
		if later.Busy != nil {
			t.Errorf("it goes on: %+v", later.Busy)
		}
	case <-time.After(300 * time.Millisecond):
	}
	s.Set(config.Config{Precision: config.INT8, Calibrator: "entropy", Batch: 1})
	await(t, s, func(snap *report.Snapshot) bool {
		return snap.Busy == nil && snap.Settled() && snap.Config.Precision == config.INT8
	})
}

// TestCancelTiming stops the timing of tactics when some are timed.
func TestCancelTiming(t *testing.T) {
	s := open(t, config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1})
	await(t, s, func(snap *report.Snapshot) bool {
		return snap.Busy != nil && snap.Busy.Phase == "timing tactics" && snap.Busy.Done > 2
	})
	s.Cancel()
	snap := await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil })
	if !snap.Stopped || snap.Err != "" {
		t.Errorf("stopped %v, error %q", snap.Stopped, snap.Err)
	}
}

// TestCancelMeasuring stops the measurement itself: its times stay, and are not taken for those of one that was over.
func TestCancelMeasuring(t *testing.T) {
	s := open(t, config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1})
	await(t, s, func(snap *report.Snapshot) bool {
		return snap.Settled() && snap.Timings.Live && snap.Timings.Samples > 20
	})
	s.Cancel()
	snap := await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil })
	if !snap.Stopped || !snap.Settled() || !snap.Timings.Live {
		t.Errorf("stopped %v, settled %v, live %v", snap.Stopped, snap.Settled(), snap.Timings.Live)
	}
	s.Rerun()
	snap = await(t, s, func(snap *report.Snapshot) bool { return snap.Busy == nil && snap.Settled() && !snap.Stopped })
	if snap.Timings.Live {
		t.Error("times of a measurement that is over are live")
	}
}
