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

// watchDevice asks a device how it is doing until ctx ends. What fails is not asked for any less, but said once.
func watchDevice(ctx context.Context, b *board, m run.Monitor) {
	tick := time.NewTicker(telemetryInterval)
	defer tick.Stop()
	failing := false
	for {
		t, err := telemetry(m)
		if errors.Is(err, run.ErrNoTelemetry) {
			return
		}
		if err != nil && !failing {
			b.log("warning", "", "device telemetry: %v", err)
		}
		if err == nil || !failing {
			b.observed(t)
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
