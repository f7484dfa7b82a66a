//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"errors"
	"fmt"
	"unsafe"
)

// The functions of NVML that are used.
const (
	nvmlInit symbol = iota
	nvmlShutdown
	nvmlHandleByPCI
	nvmlClockInfo
	nvmlMemoryInfo
	nvmlPowerUsage
	nvmlTemperature
	nvmlUtilization
	nvmlThrottleReasons
	nvmlEventReasons
	nvmlDriverVersion
)

var nvmlFunctions = []prototype{
	nvmlInit:            {name: "nvmlInit_v2", args: ""},
	nvmlShutdown:        {name: "nvmlShutdown", args: ""},
	nvmlHandleByPCI:     {name: "nvmlDeviceGetHandleByPciBusId_v2", args: "sp"},
	nvmlClockInfo:       {name: "nvmlDeviceGetClockInfo", args: "hip"},
	nvmlMemoryInfo:      {name: "nvmlDeviceGetMemoryInfo", args: "hp"},
	nvmlPowerUsage:      {name: "nvmlDeviceGetPowerUsage", args: "hp"},
	nvmlTemperature:     {name: "nvmlDeviceGetTemperature", args: "hip"},
	nvmlUtilization:     {name: "nvmlDeviceGetUtilizationRates", args: "hp"},
	nvmlThrottleReasons: {name: "nvmlDeviceGetCurrentClocksThrottleReasons", args: "hp"},
	nvmlEventReasons:    {name: "nvmlDeviceGetCurrentClocksEventReasons", args: "hp"},
	nvmlDriverVersion:   {name: "nvmlSystemGetDriverVersion", args: "su"},
}

// nvmlResults are the results (nvmlReturn_t) that a person may meet.
var nvmlResults = map[Result]string{
	1: "not initialised", 2: "invalid argument", 3: "not supported by this device", 4: "no permission",
	6: "not found", 9: "the driver is not loaded", 15: "the device is lost: reset it or reboot",
	16: "the device needs a reset", 17: "a system call failed", 18: "the library and the driver differ in version: reboot",
	999: "unknown error",
}

var errNoFunction = errors.New("not in this driver's NVML")

// Monitor reads the state of one device through NVML. It may be used from any goroutine.
type Monitor struct {
	nvml   *library
	device uintptr
}

// OpenMonitor finds a device by its PCI id ([Device].PCI), since NVML numbers devices in another order than CUDA. A program
// works the same without a monitor: the error is for showing.
func OpenMonitor(pci string) (*Monitor, error) {
	nvml, err := openLibrary("libnvidia-ml.so.1", "TRTUI_LIBNVML", nvmlFunctions)
	if err != nil {
		return nil, fmt.Errorf("no NVML: %w", err)
	}
	nvml.missing = func(prototype) error { return errNoFunction }
	m := &Monitor{nvml: nvml}
	if err := m.doPointers(nvmlInit); err != nil {
		return nil, fmt.Errorf("no NVML: %w", err)
	}
	id := append([]byte(pci), 0)
	if err := m.doPointers(nvmlHandleByPCI, uintptr(data(id)), uintptr(unsafe.Pointer(&m.device))); err != nil {
		return nil, errors.Join(fmt.Errorf("no NVML for device %s: %w", pci, err), m.Close())
	}
	return m, nil
}

// driverBuild asks NVML for the driver's own version; empty where it does not tell.
func driverBuild() string {
	nvml, err := openLibrary("libnvidia-ml.so.1", "TRTUI_LIBNVML", nvmlFunctions)
	if err != nil {
		return ""
	}
	nvml.missing = func(prototype) error { return errNoFunction }
	m := &Monitor{nvml: nvml}
	if m.doPointers(nvmlInit) != nil {
		return ""
	}
	defer m.Close()
	var text [80]byte // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
	if m.doPointers(nvmlDriverVersion, uintptr(unsafe.Pointer(&text)), uintptr(len(text))) != nil {
		return ""
	}
	return cString(text[:])
}

// Close ends the use of NVML.
func (m *Monitor) Close() error { return m.doPointers(nvmlShutdown) }

// Read reads the device's state, as much of it as this device and driver tell.
func (m *Monitor) Read() Reading {
	const coreClock, memoryClock, coreSensor = 1, 2, 0 // nvmlClockType_t, nvmlTemperatureSensors_t
	var r Reading
	missed := func(what string, err error) {
		if err != nil {
			r.Missing = append(r.Missing, fmt.Sprintf("%s: %v", what, err))
		}
	}
	var clock, memory, milliwatts, celsius uint32
	var bytes struct{ total, free, used uint64 }
	var busy struct{ gpu, memory uint32 }
	var reasons uint64
	missed("clock", m.doPointers(nvmlClockInfo, m.device, coreClock, uintptr(unsafe.Pointer(&clock))))
	missed("memory clock", m.doPointers(nvmlClockInfo, m.device, memoryClock, uintptr(unsafe.Pointer(&memory))))
	missed("memory", m.doPointers(nvmlMemoryInfo, m.device, uintptr(unsafe.Pointer(&bytes))))
	missed("power", m.doPointers(nvmlPowerUsage, m.device, uintptr(unsafe.Pointer(&milliwatts))))
	missed("temperature", m.doPointers(nvmlTemperature, m.device, coreSensor, uintptr(unsafe.Pointer(&celsius))))
	missed("utilisation", m.doPointers(nvmlUtilization, m.device, uintptr(unsafe.Pointer(&busy))))
	err := m.doPointers(nvmlThrottleReasons, m.device, uintptr(unsafe.Pointer(&reasons)))
	if errors.Is(err, errNoFunction) { // renamed, and the old name is to go
		err = m.doPointers(nvmlEventReasons, m.device, uintptr(unsafe.Pointer(&reasons)))
	}
	missed("throttle reasons", err)
	r.ClockMHz, r.MemoryClockMHz = int(clock), int(memory)
	r.MemoryUsed, r.MemoryTotal = bytes.used, bytes.total
	r.Watts, r.Celsius = float64(milliwatts)/1000, int(celsius)
	r.BusyPercent, r.MemoryBusyPercent = int(busy.gpu), int(busy.memory)
	r.Throttled = throttleWords(reasons)
	return r
}

//go:uintptrescapes
func (m *Monitor) doPointers(s symbol, args ...uintptr) error {
	r, err := m.nvml.callPointers(s, args...)
	if err != nil || r == Success {
		return err
	}
	if text := nvmlResults[r]; text != "" {
		return fmt.Errorf("%s (%d)", text, r)
	}
	return fmt.Errorf("NVML result %d", r)
}
