package emit

// Job is what a launch asks of the device, for the estimate of its time. Products and what is done beside them overlap; the
// rest of a block's cycles comes on top.
type Job struct {
	Blocks     int
	Warps      int     // of a block; 0: as many as an SM's schedulers, or more
	Resident   int     // blocks that an SM's threads and registers suffice for, at least 1
	Shared     int     // bytes of shared memory of a block: the launch's dynamic ones
	Unit       Unit    // that multiplies
	Multiplied float64 // multiply-adds of a block, on the mean
	Beside     float64 // cycles of the SM in which a block issues or reads shared memory while the unit multiplies
	Cycles     float64 // of the SM, for a block, while nothing is multiplied
	Longest    float64 // products and what is beside them of the block that has most, over the mean
	Latency    float64 // cycles that a block takes, beside those products, even if the SM has nothing else to do
	Bytes      float64 // read from and written to device memory
}

// ThreadJob estimates a launch of so many threads that execute so many instructions each.
func ThreadJob(threads, instructions int, bytes float64) Job {
	const resident = 6 // blocks of an SM
	cycles := float64(instructions*BlockThreads) / ThreadsPerCycle
	return Job{
		Blocks: CeilDiv(threads, BlockThreads), Resident: resident, Cycles: cycles, Latency: 800 + 6*float64(instructions), Bytes: bytes,
	}
}

// Multiplying says that each thread of a [ThreadJob] has so many 32-bit multiply-adds among its instructions.
func (j Job) Multiplying(n int) Job {
	j.Unit, j.Multiplied = SimtF32, float64(n*BlockThreads)
	j.Beside, j.Cycles = j.Cycles, 0
	return j
}

// What an SM of every capability from 8.0 on does in a cycle: four schedulers issue for a warp each, and shared memory has 32
// banks of 4 bytes.
const (
	ThreadsPerCycle     = 4 * 32
	SharedBytesPerCycle = 32 * 4
)

// What an SM has, and takes for itself.
const (
	RegistersPerSM = 65536   // of 32 bits
	SharedReserved = 1 << 10 // bytes of shared memory, for each block
)

// JoinLatency is the cycles in which a block writes a part of a sum that others share, counts it and sees theirs.
const JoinLatency = 2000
