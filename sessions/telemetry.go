package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// telemetryInterval is how often the device is asked.
const telemetryInterval = time.Second

// watch asks the device how it is doing until the session is closed. What fails is not asked for any less, but said once.
func (s *Session) watch(ctx context.Context, m run.Monitor) {
	defer s.watching.Done()
	tick := time.NewTicker(telemetryInterval)
	defer tick.Stop()
	failing := false
	for {
		t, err := telemetry(m)
		if errors.Is(err, run.ErrNoTelemetry) {
			return
		}
		if err != nil && !failing {
			s.log("warning", "", "device telemetry: %v", err)
		}
		if err == nil || !failing {
			s.observed(t)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// telemetry asks the device once; nil where it does not answer. A fault in asking must not end the session.
func telemetry(m run.Monitor) (state *report.Telemetry, err error) {
	defer func() {
		if v := recover(); v != nil {
			state, err = nil, fmt.Errorf("internal error: %v", v)
		}
	}()
	t, err := m.Telemetry()
	if err != nil {
		return nil, err
	}
	return &report.Telemetry{
		Time: time.Now(), Clock: t.Clock, MemoryClock: t.MemoryClock, Power: t.Power, Temperature: t.Temperature,
		MemoryUsed: t.MemoryUsed, MemoryTotal: t.MemoryTotal, Utilization: t.Utilization, Throttle: t.Throttle,
	}, nil
}

// observed publishes the device's state. A recording keeps it in a table of its own: it is no state of the work that a
// replay would step through.
func (s *Session) observed(t *report.Telemetry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.snap.Telemetry = t
	s.deliver()
	if r := s.recorder.Load(); r != nil && t != nil {
		r.Telemetry(s.snap.Config, t)
	}
}
