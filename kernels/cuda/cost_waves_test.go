package cuda

import (
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/emit/emittest"
	"github.com/trtui/trtui/kernels/cuda/internal/products"
)

// without is a time less what any launch takes.
func without(d time.Duration) float64 { return (d - launchOverhead).Seconds() }

// TestWaves: blocks that do not spread evenly over the SMs take as long as the SM that has most; what does not fill a wave is a
// wave of its own, and shorter only where SMs have fewer blocks.
func TestWaves(t *testing.T) {
	m := newMachine(driver.Device{SM: 80, Multiprocessors: 100, ClockKHz: 1e6, SharedPerSM: 160 << 10})
	const cycles = 10000
	job := func(blocks, resident int) emit.Job {
		return emit.Job{Blocks: blocks, Resident: resident, Cycles: cycles}
	}
	for _, c := range []struct {
		blocks, resident int
		most             float64 // blocks of an SM, one after the other
	}{
		{1, 2, 1}, {100, 2, 1}, {101, 2, 2}, {200, 2, 2}, {201, 2, 3}, {300, 2, 3}, {301, 2, 4}, {400, 2, 4}, {100, 1, 1}, {101, 1, 2}, {1001, 4, 11},
	} {
		if got, want := without(m.time(job(c.blocks, c.resident))), c.most*cycles/1e9; got < want*0.999 || got > want*1.001 {
			t.Errorf("%d blocks, %d at a time: %g s, want %g", c.blocks, c.resident, got, want)
		}
	}
}

// TestAlone: a block of few warps on an SM of its own multiplies with the units of its warps; several share all.
func TestAlone(t *testing.T) {
	m := newMachine(driver.Device{SM: 80, Multiprocessors: 100, ClockKHz: 1e6})
	at := func(blocks, warps int) float64 {
		return without(m.time(emit.Job{Blocks: blocks, Warps: warps, Resident: 4, Unit: emit.TensorF16, Multiplied: 1e8, Longest: 1}))
	}
	for _, c := range []struct {
		blocks, warps int
		times         float64 // as long as a block of many warps
	}{{100, 8, 1}, {100, 4, 1}, {100, 2, 2}, {100, 1, 4}, {200, 2, 2}, {400, 1, 4}, {400, 8, 4}} {
		if got, want := at(c.blocks, c.warps), c.times*at(100, 0); got < want*0.999 || got > want*1.001 {
			t.Errorf("%d blocks of %d warps: %g s, want %g", c.blocks, c.warps, got, want)
		}
	}
}

// TestBytesBesideCycles: of two launches that move the same bytes for longer than they compute the one that computes less is predicted to be
// the faster one; but it takes no longer than both after each other.
func TestBytesBesideCycles(t *testing.T) {
	m := newMachine(driver.Device{SM: 80, Multiprocessors: 100, ClockKHz: 1e6})
	bytes := m.bandwidth * 1e-3
	at := func(cycles, bytes float64) float64 {
		return without(m.time(emit.Job{Blocks: 100, Resident: 1, Cycles: cycles, Bytes: bytes}))
	}
	less, more := at(1e5, bytes), at(5e5, bytes)
	if less >= more || less <= at(0, bytes) || more >= at(5e5, 0)+at(0, bytes) {
		t.Errorf("%g s and %g s; the bytes alone take %g, the cycles %g", less, more, at(0, bytes), at(5e5, 0))
	}
}

// TestRegisters: what the cost model takes for the blocks that an SM holds is, but for one, what the assembler's registers and the
// shared memory of the largest kind leave room for.
func TestRegisters(t *testing.T) {
	tool := emittest.Assembler(t)
	const shared, threads = 228 << 10, 2048
	for _, u := range []emit.Unit{emit.TensorF16, emit.SimtF32} {
		for _, tl := range products.Tiles(u) {
			if tl.Stages != 3 || tl.Split > 2 {
				continue
			}
			e := products.OnTile("", graph.Conv, kernels.NHWC, tl)
			tr := emittest.ConvTrial(t, e, u.Type(), [4]int{1, 256, 14, 14}, [4]int{256, 256, 3, 3}, 1, 1, 0)
			registers := emittest.Registers(t, tool, "sm_80", tr.Work.Module.String())
			j := e.Jobs(tr.Binding)[0]
			fits := shared / (j.Shared + emit.SharedReserved)
			block := 32 * j.Warps
			want := min(fits, threads/block, emit.RegistersPerSM/(block*emit.RoundUp(registers, 8)))
			if got := min(fits, j.Resident); got < want-1 || got > want+1 {
				t.Errorf("%s: %d blocks on an SM, and %d registers leave room for %d", tl, got, registers, want)
			}
		}
	}
}
