//go:build linux && (amd64 || arm64) && !nocuda

package driver

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// gpu is the real [Context]: the primary context of a device, which it shares with other libraries in the process.
type gpu struct {
	cuda    *library
	primary uintptr // CUcontext
	ordinal int32   // CUdevice
	device  Device
	closed  atomic.Bool
	broken  atomic.Bool // a sticky error was seen

	mu      sync.Mutex
	buffers []*launchBuffer // not in use
	mapped  [][]byte        // what they all lie in
}

// oldestDriver has every function used, and takes the PTX that we write.
const oldestDriver Version = 12000

// Open makes the device with this ordinal ready. The error says what is missing: the library, a device, a newer driver.
func Open(ordinal int) (Context, error) {
	cuda, count, err := openCUDA()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= count {
		return nil, fmt.Errorf("CUDA device %d: the driver shows %d, numbered from 0", ordinal, count)
	}
	device, handle, err := cuda.describe(ordinal)
	if err != nil {
		return nil, fmt.Errorf("CUDA device %d: %w", ordinal, err)
	}
	g := &gpu{cuda: cuda, ordinal: handle, device: device}
	if err := cuda.doPointers(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&g.primary)), uintptr(handle)); err != nil {
		return nil, fmt.Errorf("CUDA device %d, %s: %w", ordinal, device.Name, err)
	}
	var least, most int32
	if err := g.doPointers(cuCtxGetStreamPriorityRange, uintptr(unsafe.Pointer(&least)), uintptr(unsafe.Pointer(&most))); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.device.StreamPriority = [2]int{int(least), int(most)}
	g.device.Build = driverBuild()
	return g, nil
}

// Probe lists the devices, without their StreamPriority, or says why there is none. It makes nothing ready and leaves
// nothing behind; without the library it takes microseconds.
func Probe() ([]Device, error) {
	cuda, count, err := openCUDA()
	if err != nil {
		return nil, err
	}
	devices := make([]Device, 0, count)
	for i := range count {
		d, _, err := cuda.describe(i)
		if err != nil {
			return devices, fmt.Errorf("CUDA device %d: %w", i, err)
		}
		devices = append(devices, d)
	}
	return devices, nil
}

// openCUDA opens and initialises the library and counts its devices: at least one.
func openCUDA() (*library, int, error) {
	cuda, err := openLibrary("libcuda.so.1", "TRTUI_LIBCUDA", functions)
	if err != nil {
		return nil, 0, fmt.Errorf("no CUDA: %w", err)
	}
	if _, err := purego.Dlsym(cuda.handle, functions[cuInit].name); err != nil {
		return nil, 0, fmt.Errorf("no CUDA: %s is not an NVIDIA driver library: it has no %s", cuda.path, functions[cuInit].name)
	}
	cuda.openBeside("libnvidia-ptxjitcompiler.so.1")
	cuda.missing = func(f prototype) error {
		return fmt.Errorf("the NVIDIA driver is too old: %s has no %s; update it to one for CUDA %s or newer",
			cuda.path, f.name, oldestDriver)
	}
	var v int32
	if err := cuda.doPointers(cuDriverGetVersion, uintptr(unsafe.Pointer(&v))); err != nil {
		return nil, 0, fmt.Errorf("no CUDA: %w", err)
	}
	if version := Version(v); version < oldestDriver {
		return nil, 0, fmt.Errorf("no CUDA: the NVIDIA driver is too old: it is for CUDA %s; update it to one for CUDA %s or newer",
			version, oldestDriver)
	}
	if err := cuda.do(cuInit, 0); err != nil {
		return nil, 0, fmt.Errorf("no CUDA: %w", err)
	}
	var count int32
	if err := cuda.doPointers(cuDeviceGetCount, uintptr(unsafe.Pointer(&count))); err != nil {
		return nil, 0, fmt.Errorf("no CUDA: %w", err)
	}
	if count < 1 {
		return nil, 0, fmt.Errorf("no CUDA: %w", &Error{Call: "cuDeviceGetCount", Result: NoDevice})
	}
	return cuda, int(count), nil
}

// describe reads all of Device but StreamPriority, and returns the driver's handle of the device.
func (l *library) describe(ordinal int) (Device, int32, error) {
	d := Device{Ordinal: ordinal}
	var handle int32
	if err := l.doPointers(cuDeviceGet, uintptr(unsafe.Pointer(&handle)), uintptr(ordinal)); err != nil {
		return d, 0, err
	}
	dev := uintptr(handle)
	var version int32
	if err := l.doPointers(cuDriverGetVersion, uintptr(unsafe.Pointer(&version))); err != nil {
		return d, 0, err
	}
	d.Driver = Version(version)
	var name, pci [256]byte
	if err := l.doPointers(cuDeviceGetName, uintptr(unsafe.Pointer(&name)), uintptr(len(name)), dev); err != nil {
		return d, 0, err
	}
	if err := l.doPointers(cuDeviceGetPCIBusId, uintptr(unsafe.Pointer(&pci)), uintptr(len(pci)), dev); err != nil {
		return d, 0, err
	}
	d.Name, d.PCI = cString(name[:]), cString(pci[:])
	if err := l.doPointers(cuDeviceGetUuid, uintptr(unsafe.Pointer(&d.UUID)), dev); err != nil {
		return d, 0, err
	}
	if err := l.doPointers(cuDeviceTotalMem, uintptr(unsafe.Pointer(&d.Memory)), dev); err != nil {
		return d, 0, err
	}
	return d, handle, l.attributes(&d, dev)
}

// attributes reads what the driver gives by number (CUdevice_attribute). A number that this driver does not know, or no
// longer, leaves 0; the compute capability is always known.
func (l *library) attributes(d *Device, dev uintptr) error {
	var major, minor int
	var ecc, integrated, cooperative, pools, unified, concurrent int
	for _, a := range []struct {
		number uintptr
		to     *int
	}{
		{75, &major}, {76, &minor}, {16, &d.Multiprocessors}, {39, &d.ThreadsPerSM}, {106, &d.BlocksPerSM},
		{82, &d.RegistersPerSM}, {81, &d.SharedPerSM}, {8, &d.SharedPerBlock}, {97, &d.SharedPerBlockMax},
		{38, &d.L2Bytes}, {13, &d.ClockKHz}, {36, &d.MemoryClockKHz}, {37, &d.MemoryBusBits}, {40, &d.CopyEngines},
		{20, &d.ComputeMode}, {32, &ecc}, {18, &integrated}, {95, &cooperative}, {115, &pools}, {41, &unified},
		{31, &concurrent},
	} {
		var v int32
		err := l.doPointers(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&v)), a.number, dev)
		unknown := errors.Is(err, &Error{Result: InvalidValue}) && a.to != &major && a.to != &minor
		if err != nil && !unknown {
			return detail(err, "attribute %d", a.number)
		}
		*a.to = int(v)
	}
	d.SM = 10*major + minor
	d.ECC, d.Integrated, d.CooperativeLaunch = ecc != 0, integrated != 0, cooperative != 0
	d.MemoryPools, d.UnifiedAddressing, d.ConcurrentKernels = pools != 0, unified != 0, concurrent != 0
	return nil
}

func (g *gpu) Device() Device { return g.device }

// Close releases the primary context; after a sticky error it resets it, so that the next Open starts anew.
func (g *gpu) Close() error {
	if g.closed.Swap(true) {
		return nil
	}
	err := g.freeLaunchBuffers()
	if g.broken.Load() {
		err = errors.Join(err, g.cuda.do(cuDevicePrimaryCtxReset, uintptr(g.ordinal)))
	}
	return errors.Join(err, g.cuda.do(cuDevicePrimaryCtxRelease, uintptr(g.ordinal)))
}

// do calls a function with the context current. The driver keeps the current context by thread while goroutines move
// between threads: this is the one place that deals with it.
// The arguments are values, or addresses of memory outside the Go heap.
func (g *gpu) do(s symbol, args ...uintptr) error {
	if g.closed.Load() {
		return &Error{Call: g.cuda.functions[s].name, Result: InvalidContext}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	called := cuCtxSetCurrent
	r, err := g.cuda.call(called, g.primary)
	if err == nil && r == Success {
		called = s
		r, err = g.cuda.call(s, args...)
	}
	if err != nil || r == Success {
		return err
	}
	e := g.cuda.newError(called, r)
	if e.Sticky() {
		g.broken.Store(true)
	}
	return e
}

// doPointers is do for arguments that are addresses of Go values; see callPointers.
//
//go:uintptrescapes
func (g *gpu) doPointers(s symbol, args ...uintptr) error { return g.do(s, args...) }

// do calls a function that needs no context.
func (l *library) do(s symbol, args ...uintptr) error {
	r, err := l.call(s, args...)
	if err != nil || r == Success {
		return err
	}
	return l.newError(s, r)
}

// doPointers is do for arguments that are addresses of Go values; see callPointers.
//
//go:uintptrescapes
func (l *library) doPointers(s symbol, args ...uintptr) error { return l.do(s, args...) }

// newError describes a failed call; a result that the table does not describe, in the driver's words.
func (l *library) newError(s symbol, r Result) *Error {
	e := &Error{Call: l.functions[s].name, Result: r}
	if known := results[r]; known.name != "" && known.text != "" {
		return e
	}
	var text *byte
	if r, err := l.callPointers(cuGetErrorString, uintptr(r), uintptr(unsafe.Pointer(&text))); err == nil && r == Success {
		e.Text = cText(text)
	}
	return e
}

// detail adds what was asked for to a driver's error.
func detail(err error, format string, args ...any) error {
	if e, ok := err.(*Error); ok {
		e.Detail = fmt.Sprintf(format, args...)
	}
	return err
}

// cString is a buffer's text up to its first NUL.
func cString(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// cText copies a string of the library, at most 4 KB of it.
func cText(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for n < 4096 && *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
