package cuda

import (
	"errors"

	"github.com/trtui/trtui/core/run"
)

// Telemetry reads the device's state through NVML, where the driver has that.
func (b *Backend) Telemetry() (run.Telemetry, error) {
	switch {
	case b.info.Estimated:
		return run.Telemetry{}, run.ErrNoTelemetry
	case b.monitor == nil:
		return run.Telemetry{}, errors.New("NVML is missing, which comes with the driver")
	}
	r := b.monitor.Read()
	return run.Telemetry{
		Clock: r.ClockMHz, MemoryClock: r.MemoryClockMHz, Power: r.Watts, Temperature: r.Celsius,
		MemoryUsed: int64(r.MemoryUsed), MemoryTotal: int64(r.MemoryTotal), Utilization: r.BusyPercent, Throttle: r.Throttled,
	}, nil
}
