package cuda

// job is what a launch asks of the device, for the estimate of its time.
type job struct {
	blocks   int
	resident int     // blocks that an SM's threads and registers suffice for, at least 1
	shared   int     // bytes of shared memory of a block
	cycles   float64 // of an SM's busiest unit, for one block
	latency  float64 // cycles that a block takes even if the SM has nothing else to do
	bytes    float64 // read from and written to device memory
}

// threadJob estimates a launch of so many threads that execute so many instructions each.
func threadJob(threads, instructions int, bytes float64) job {
	const resident, perCycle = 6, 128 // blocks of an SM; instructions of threads
	cycles := float64(instructions*blockThreads) / perCycle
	return job{
		blocks: ceilDiv(threads, blockThreads), resident: resident, cycles: cycles, latency: 800 + 6*float64(instructions), bytes: bytes,
	}
}

// registersPerSM is how many 32-bit registers the threads of an SM have.
const registersPerSM = 65536

// joinLatency is the cycles in which a block writes a part of a sum that others share, counts it and sees theirs.
const joinLatency = 2000

// sharedReserved is what the system takes of an SM's shared memory for each block.
const sharedReserved = 1 << 10
