package driver

import (
	"fmt"
	"strings"
)

// Reading is the state of a device at one moment, as its management library (NVML) tells it.
type Reading struct {
	ClockMHz          int // of the multiprocessors
	MemoryClockMHz    int
	MemoryUsed        uint64 // bytes, of all processes
	MemoryTotal       uint64 // bytes
	Watts             float64
	Celsius           int
	BusyPercent       int // part of the last moments in which a kernel ran
	MemoryBusyPercent int // part of the last moments in which memory was read or written
	// Throttled says in words why the clocks are below their highest: nil when they are not.
	Throttled []string
	// Missing names what could not be read, and why; those fields are 0.
	Missing []string
}

// throttleReasons are the bits of NVML's clock throttle (now: event) reasons, lowest first: nvml.h,
// nvmlClocksEventReasonGpuIdle 0x1 to nvmlClocksEventReasonReliability 0x400.
var throttleReasons = [...]string{
	"idle", "application clocks", "power cap", "hardware slowdown", "sync boost", "software thermal slowdown",
	"hardware thermal slowdown", "power brake", "display clocks", "board limit", "reliability",
}

// throttleWords decodes the bits.
func throttleWords(bits uint64) []string {
	var words []string
	for i, name := range throttleReasons {
		if bits>>i&1 != 0 {
			words = append(words, name)
		}
	}
	if rest := bits >> len(throttleReasons) << len(throttleReasons); rest != 0 {
		words = append(words, fmt.Sprintf("reason %#x", rest))
	}
	return words
}

// String is one line for people: what could be read, and what slows the device down.
func (r Reading) String() string {
	var parts []string
	add := func(ok bool, format string, args ...any) {
		if ok {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(r.ClockMHz > 0, "%d MHz", r.ClockMHz)
	add(r.MemoryTotal > 0, "%.1f of %.0f GiB", float64(r.MemoryUsed)/(1<<30), float64(r.MemoryTotal)/(1<<30))
	add(r.Watts > 0, "%.0f W", r.Watts)
	add(r.Celsius > 0, "%d °C", r.Celsius)
	add(r.Throttled != nil, "%s", strings.Join(r.Throttled, ", "))
	return strings.Join(parts, "  ")
}
