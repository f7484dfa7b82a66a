package run

import "errors"

// ErrNoTelemetry is returned by a Monitor whose device has no state to tell of, and never will.
var ErrNoTelemetry = errors.New("the device tells nothing of its state")

// Monitor is implemented by backends whose device tells how it is doing. A call takes no more than milliseconds and does
// not disturb what runs; it may be made while the device works.
type Monitor interface {
	Telemetry() (Telemetry, error)
}

// Telemetry is the state of a device at one moment. Zero stands for what the device does not tell.
type Telemetry struct {
	Clock       int      // of the multiprocessors, in MHz
	MemoryClock int      // in MHz
	Power       float64  // drawn by the board, in watts
	Temperature int      // of the chip, in degrees Celsius
	MemoryUsed  int64    // bytes, by all processes
	MemoryTotal int64    // bytes
	Utilization int      // share of the last moments in which a kernel ran, in percent
	Throttle    []string // why the clocks are held down, each in a word or two: "power", "thermal", "hardware"
}
