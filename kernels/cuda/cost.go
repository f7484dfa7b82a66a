package cuda

import (
	"math"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
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

// overlap is the share of the shorter one of computing and moving bytes that the longer one hides. It is an assumption; without
// any, launches that the memory holds up would be equal whatever they compute, and the order of the table would choose.
const overlap = 0.9

// schedulers is how many of an SM's warps multiply and issue at a time, each with a quarter of its units.
const schedulers = 4

// time estimates a launch: waves of blocks over the SMs, or the memory's time if that is longer, and what of the other shows.
func (m machine) time(j emit.Job) time.Duration {
	resident := max(1, min(j.Resident, m.shared/(j.Shared+emit.SharedReserved)))
	slots := m.sms * float64(resident)
	waves := math.Floor(float64(j.Blocks) / slots)
	cycles := waves * m.wave(j, float64(resident))
	if rest := float64(j.Blocks) - waves*slots; rest > 0 || j.Blocks == 0 {
		cycles += m.wave(j, math.Ceil(max(1, rest)/m.sms))
	}
	busy, moving := cycles/m.clock, j.Bytes/m.bandwidth
	seconds := max(busy, moving) + (1-overlap)*min(busy, moving)
	return launchOverhead + time.Duration(seconds*1e9)
}

// wave returns the cycles in which an SM that has most does so many blocks at a time. A block takes as long as its latency, and
// as its products do on the units that its own warps reach.
func (m machine) wave(j emit.Job, blocks float64) float64 {
	multiplied := j.Multiplied / m.rates.of[j.Unit]
	work, alone := max(multiplied, j.Beside), max(multiplied, j.Beside)
	if j.Warps > 0 {
		alone = max(multiplied*schedulers/float64(min(j.Warps, schedulers)), j.Beside)
	}
	return max(blocks*(work+j.Cycles), j.Longest*alone+j.Latency)
}
