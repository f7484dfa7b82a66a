package cuda

import (
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// job is what a launch asks of the device, for the estimate of its time. Products and what is done beside them overlap; the
// rest of a block's cycles comes on top.
type job struct {
	blocks     int
	resident   int     // blocks that an SM's threads and registers suffice for, at least 1
	shared     int     // bytes of shared memory of a block
	unit       unit    // that multiplies
	multiplied float64 // multiply-adds of a block, on the mean
	beside     float64 // cycles of the SM in which a block issues or reads shared memory while the unit multiplies
	cycles     float64 // of the SM, for a block, while nothing is multiplied
	longest    float64 // products and what is beside them of the block that has most, over the mean
	latency    float64 // cycles that a block takes, beside those products, even if the SM has nothing else to do
	bytes      float64 // read from and written to device memory
}

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

// sharedReserved is what the system takes of an SM's shared memory for each block.
const sharedReserved = 1 << 10

// memoryEfficiency is the share of the pins' bandwidth that a copy reaches: 4.3 of 4.8 TB/s on an H200.
const memoryEfficiency = 0.88

// time estimates a launch: waves of blocks over the SMs, or the memory's time if that is longer.
func (m machine) time(j job) time.Duration {
	resident := max(1, min(j.resident, m.shared/(j.shared+sharedReserved)))
	slots := m.sms * float64(resident)
	waves := (float64(j.blocks) + slots - 1) / slots
	if waves = float64(int(waves)); waves < 1 {
		waves = 1
	}
	// A wave that does not fill its SMs leaves each of them with fewer blocks to share.
	share := min(float64(resident), max(1, float64(j.blocks)/m.sms))
	work := max(j.multiplied/m.rates.of[j.unit], j.beside)
	busy := waves * max(share*(work+j.cycles), j.longest*work+j.latency) / m.clock
	seconds := max(busy, j.bytes/m.bandwidth)
	return launchOverhead + time.Duration(seconds*1e9)
}
