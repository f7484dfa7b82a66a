package sessions_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
)

// monitored is a device that tells how it is doing, after it failed to a few times.
type monitored struct {
	device
	calls, failures atomic.Int32
}

func (m *monitored) Telemetry() (run.Telemetry, error) {
	n := m.calls.Add(1)
	switch f := m.failures.Load(); {
	case n == 1 && f > 0:
		panic("asked too early")
	case n <= f:
		return run.Telemetry{}, errors.New("the device is busy")
	}
	return run.Telemetry{Clock: 1980, Power: 412.5, Temperature: 61, MemoryUsed: 1 << 30, MemoryTotal: 80 << 30, Throttle: []string{"power", "thermal"}}, nil
}

func openMonitored(t *testing.T, failures int32) (*sessions.Session, *monitored) {
	t.Helper()
	m := &monitored{device: device{Backend: cpu.Open(0), fingerprint: "sim 1"}}
	m.failures.Store(failures)
	s := sessions.Open(embedded(t), workplace(t, m), config.Config{Precision: config.FP32, Calibrator: "entropy", Batch: 1})
	t.Cleanup(func() { s.Close(); m.Close() })
	return s, m
}

func TestTelemetryIsPublishedAndRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.trtui")
	s, _ := openMonitored(t, 0)
	if err := s.Record(path); err != nil {
		t.Fatal(err)
	}
	snap := await(t, s, func(s *report.Snapshot) bool { return s.Telemetry != nil && s.Settled() })
	if d := snap.Telemetry; d.Clock != 1980 || d.Power != 412.5 || d.Throttle[1] != "thermal" || time.Since(d.Time) > time.Minute {
		t.Errorf("%+v", d)
	}
	next := await(t, s, func(n *report.Snapshot) bool { return n.Telemetry.Time.After(snap.Telemetry.Time) && n.Busy == nil })
	await(t, s, func(n *report.Snapshot) bool { return n.Telemetry.Time.After(next.Telemetry.Time) })
	if err := s.StopRecording(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows, memory int
	var throttle string
	var untold sql.NullInt64
	err = db.QueryRow("SELECT count(*), max(memory_total), max(throttle), max(utilization) FROM telemetry WHERE clock_mhz = 1980 AND power_w = 412.5").Scan(&rows, &memory, &throttle, &untold)
	if err != nil || rows < 2 || memory != 80<<30 || throttle != "power,thermal" || untold.Valid {
		t.Errorf("%d rows, %d bytes, %q, %v, %v", rows, memory, throttle, untold, err)
	}
	replay, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer replay.Close()
	last, err := replay.At(len(replay.Steps()) - 1)
	if err != nil || last.Telemetry == nil || last.Telemetry.Temperature != 61 {
		t.Errorf("the replay does not show it: %v", err)
	}
	// A second of waiting is no state to step to.
	if n := len(replay.Steps()); n > 12 {
		t.Errorf("%d states were recorded", n)
	}
}

// A device that does not answer is said to once, and asked again.
func TestTelemetryFails(t *testing.T) {
	s, m := openMonitored(t, 2)
	snap := await(t, s, func(s *report.Snapshot) bool { return s.Telemetry != nil })
	warnings := 0
	for _, l := range snap.Log {
		if l.Level == "warning" {
			warnings++
		}
	}
	if warnings != 1 || m.calls.Load() < 3 {
		t.Errorf("%d warnings in %d calls: %+v", warnings, m.calls.Load(), snap.Log)
	}
}
