package simulator

import "github.com/trtui/trtui/kernels/cuda/driver"

// Named is a device whose figures are known, by the name that a person gives it.
type Named struct {
	Name   string
	Device driver.Device
}

// Devices are the devices that can be simulated, the usual one first: what a driver tells of each, but for the memory.
//
// Sources: multiprocessors, bus width and L2 cache from NVIDIA's data sheets of A100, H100 SXM and H200 SXM; shared memory
// and registers from the CUDA C++ Programming Guide's table of compute capabilities; clocks as nvidia-smi lists the
// highest of each board. 2 * clock * bus width is the bandwidth of the data sheet: 1555 GB/s of the A100 with 40 GB and 3352
// of the H100; of the H200 it is 4917 where the sheet has 4800.
var Devices = []Named{
	{"a100-like", driver.Device{ // which nobody sells: of the sm_80 kind
		Name: "simulated sm_80 GPU", PCI: "simulated", SM: 80, Driver: 12000,
		Multiprocessors: 108, ThreadsPerSM: 2048, BlocksPerSM: 32, RegistersPerSM: 65536, SharedPerSM: 167936,
		SharedPerBlock: 49152, SharedPerBlockMax: 166912, L2Bytes: 40 << 20, ClockKHz: 1410000,
		MemoryClockKHz: 1215000, MemoryBusBits: 5120,
	}},
	{"h100", hopper("simulated H100", 2619000, 5120)},
	{"h200", hopper("simulated H200", 3201000, 6144)},
}

// hopper is an SXM board with a memory of its own.
func hopper(name string, memoryClock, bus int) driver.Device {
	return driver.Device{
		Name: name, PCI: "simulated", SM: 90, Driver: 12040,
		Multiprocessors: 132, ThreadsPerSM: 2048, BlocksPerSM: 32, RegistersPerSM: 65536, SharedPerSM: 233472,
		SharedPerBlock: 49152, SharedPerBlockMax: 232448, L2Bytes: 50 << 20, ClockKHz: 1980000,
		MemoryClockKHz: memoryClock, MemoryBusBits: bus,
	}
}

// Device is the usual one.
func Device() driver.Device { return Devices[0].Device }
