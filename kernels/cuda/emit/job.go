package emit

// Job is what a launch asks of the device, for the estimate of its time.
type Job struct {
	Blocks   int
	Resident int     // blocks that an SM's threads and registers suffice for, at least 1
	Shared   int     // bytes of shared memory of a block
	Cycles   float64 // of an SM's busiest unit, for one block
	Latency  float64 // cycles that a block takes even if the SM has nothing else to do
	Bytes    float64 // read from and written to device memory
}

// ThreadJob estimates a launch of so many threads that execute so many instructions each.
func ThreadJob(threads, instructions int, bytes float64) Job {
	const resident, perCycle = 6, 128 // blocks of an SM; instructions of threads
	cycles := float64(instructions*BlockThreads) / perCycle
	return Job{
		Blocks: CeilDiv(threads, BlockThreads), Resident: resident, Cycles: cycles, Latency: 800 + 6*float64(instructions), Bytes: bytes,
	}
}

// What an SM has, and takes for itself.
const (
	RegistersPerSM = 65536   // of 32 bits
	SharedReserved = 1 << 10 // bytes of shared memory, for each block
)

// JoinLatency is the cycles in which a block writes a part of a sum that others share, counts it and sees theirs.
const JoinLatency = 2000
