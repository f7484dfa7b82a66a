package cuda

import (
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/emit"
)

// launchOverhead is what a dependent kernel costs in a captured graph, however small it is. It is an assumption until it
// was measured (docs/gpu.md).
const launchOverhead = 1500 * time.Nanosecond

// machine is what the cost model knows of a device.
type machine struct {
	sms       float64
	clock     float64 // Hz
	bandwidth float64 // bytes a second
	shared    int     // bytes of an SM's shared memory
	rates     rates
}

// newMachine reads a device's figures. What a driver does not tell is taken from the smallest GPU that we support.
func newMachine(d driver.Device) machine {
	m := machine{sms: float64(d.Multiprocessors), clock: float64(d.ClockKHz) * 1e3, shared: d.SharedPerSM, rates: ratesOf(d.SM)}
	m.bandwidth = 2 * float64(d.MemoryClockKHz) * 1e3 * float64(d.MemoryBusBits) / 8 * memoryEfficiency
	if m.sms == 0 {
		m.sms = 16
	}
	if m.clock == 0 {
		m.clock = 1.4e9
	}
	if m.bandwidth == 0 {
		m.bandwidth = 200e9
	}
	if m.shared == 0 {
		m.shared = 100 << 10
	}
	return m
}

// memoryEfficiency is the share of the pins' bandwidth that a copy reaches: 4.3 of 4.8 TB/s on an H200.
const memoryEfficiency = 0.88

// time estimates a launch: waves of blocks over the SMs, or the memory's time if that is longer.
func (m machine) time(j emit.Job) time.Duration {
	resident := max(1, min(j.Resident, m.shared/(j.Shared+emit.SharedReserved)))
	slots := m.sms * float64(resident)
	waves := (float64(j.Blocks) + slots - 1) / slots
	if waves = float64(int(waves)); waves < 1 {
		waves = 1
	}
	// A wave that does not fill its SMs leaves each of them with fewer blocks to share.
	share := min(float64(resident), max(1, float64(j.Blocks)/m.sms))
	work := max(j.Multiplied/m.rates.of[j.Unit], j.Beside)
	busy := waves * max(share*(work+j.Cycles), j.Longest*work+j.Latency) / m.clock
	seconds := max(busy, j.Bytes/m.bandwidth)
	return launchOverhead + time.Duration(seconds*1e9)
}
