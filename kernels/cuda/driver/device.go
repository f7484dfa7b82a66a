package driver

import "fmt"

// Version is a version of CUDA that a driver supports, as the driver gives it: 12040 is 12.4.
type Version int

func (v Version) String() string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Device describes a GPU.
type Device struct {
	Ordinal int
	Name    string   // "NVIDIA H200"
	UUID    [16]byte // of the device, whatever its ordinal
	PCI     string   // "0000:1b:00.0", what NVML knows the device by
	SM      int      // compute capability: 90 is 9.0
	Memory  uint64   // bytes
	Driver  Version  // newest CUDA version that the driver supports
	Build   string   // of the driver, such as "535.104.05"; empty where NVML does not tell, and from Probe

	Multiprocessors   int
	ThreadsPerSM      int
	BlocksPerSM       int
	RegistersPerSM    int
	SharedPerSM       int // bytes
	SharedPerBlock    int // bytes that every launch may use
	SharedPerBlockMax int // bytes after FuncSetMaxDynamicShared
	L2Bytes           int
	ClockKHz          int // of the multiprocessors, at most
	MemoryClockKHz    int
	MemoryBusBits     int
	CopyEngines       int
	StreamPriority    [2]int // least and most urgent, the latter the lower number; Probe leaves it out
	ComputeMode       int    // 0 default, 2 prohibited, 3 one process only
	ECC, Integrated   bool
	CooperativeLaunch bool
	MemoryPools       bool
	UnifiedAddressing bool
	ConcurrentKernels bool
}

// Compiler names what compiles PTX for the device: drivers for one version of CUDA come in many builds.
func (d Device) Compiler() string {
	if d.Build == "" {
		return d.Driver.String()
	}
	return d.Driver.String() + " build " + d.Build
}

// String is one line: name, architecture, memory, driver.
func (d Device) String() string {
	return fmt.Sprintf("%s, sm_%d, %.1f GiB, driver CUDA %s", d.Name, d.SM, float64(d.Memory)/(1<<30), d.Driver)
}
