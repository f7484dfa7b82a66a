package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/ptxsim"
)

// simulator is a driver whose device is ptxsim: memory, code and launches are real, time is a model's. Every call is done
// when it returns; streams have clocks of their own. A launch that does wrong is an error at once, which names the line.
// Handles are checked as a driver checks them, so that what is given back twice, or too early, is found.
type simulator struct {
	ctx    context.Context // of the launches; ends with Close
	cancel context.CancelFunc
	device driver.Device
	model  machine
	memory *ptxsim.Memory
	races  bool // look for races in global memory: it takes a dozen times the memory that kernels touch
	rough  bool // results that a GPU only approximates are as far off as they may be

	mu            sync.Mutex
	closed        bool
	serial        uintptr
	handles       map[uintptr]any // pointers to the sim types
	defaultStream simStream       // the default stream
	blocks        map[driver.Ptr]int
	host          map[*byte]int
	programs      programCache
}

// What the handles stand for.
type (
	simModule struct{ program *ptxsim.Program }
	simKernel struct { // a function
		module   *simModule
		name     string
		launches int
		dynamic  int  // bytes of dynamic shared memory that a launch may have
		allowed  bool // dynamic was set
	}
	simStream struct {
		clock   time.Duration
		capture *simGraph       // what is captured, or nil
		ctx     context.Context // of its launches; nil: the simulator's
		tell    func(done, total int)
	}
	simEvent struct {
		recorded bool
		at       time.Duration // of the clock of the stream that recorded it
	}
	simGraph struct{ nodes []simNode }
	simExec  struct{ simGraph }
	// simNode is a piece of work in a graph.
	simNode struct {
		kernel bool
		launch driver.KernelNode // with its name in the graph; the rest is a kernel's alone
		run    func(*simStream) error
	}
)

// simulatedMemory is how much memory the simulated device has.
const simulatedMemory = 4 << 30

// SimulatedDevice describes a device that nobody sells, with the figures of a data-centre GPU of the sm_80 kind.
func SimulatedDevice() driver.Device {
	return driver.Device{
		Name: "simulated sm_80 GPU", PCI: "simulated", SM: 80, Memory: simulatedMemory, Driver: 12000,
		Multiprocessors: 108, ThreadsPerSM: 2048, BlocksPerSM: 32, RegistersPerSM: 65536, SharedPerSM: 167936,
		SharedPerBlock: 49152, SharedPerBlockMax: 166912, L2Bytes: 40 << 20, ClockKHz: 1410000,
		MemoryClockKHz: 1215000, MemoryBusBits: 5120,
	}
}

// Simulate returns the context of a simulated device with such figures, of which its own memory is the size.
func Simulate(d driver.Device) driver.Context { return newSimulatorOf(d) }

func newSimulator() *simulator { return newSimulatorOf(SimulatedDevice()) }

func newSimulatorOf(d driver.Device) *simulator {
	d.Memory = simulatedMemory
	s := &simulator{
		device: d, memory: ptxsim.NewMemory(simulatedMemory),
		handles: map[uintptr]any{}, blocks: map[driver.Ptr]int{}, host: map[*byte]int{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.model = newMachine(s.device)
	return s
}

// OpenSimulator returns the backend "cudasim": the kernels that a GPU gets, run by the simulator of PTX. Its times are
// estimates.
func OpenSimulator() (*Backend, error) {
	return OpenSimulatorOn(func() (driver.Context, error) { return newSimulator(), nil })
}

// OpenSimulatorOn returns the backend "cudasim" over what open returns, now and whenever the device is to start anew: a
// context of Simulate, or something around one that records its calls or lets them fail.
func OpenSimulatorOn(open func() (driver.Context, error)) (*Backend, error) {
	ctx, err := open()
	if err != nil {
		return nil, err
	}
	b := New(ctx, "cudasim")
	b.info.Estimated, b.open = true, open
	return b, nil
}

func (s *simulator) Device() driver.Device { return s.device }

func (s *simulator) Synchronize() error {
	unlock, err := s.enter("cuCtxSynchronize")
	if err == nil {
		unlock()
	}
	return err
}

// Close ends the launches that run. Every later call fails.
func (s *simulator) Close() error {
	s.cancel()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return nil
}

// live lists what was allocated, loaded or created and not given back, in order: nothing after a clean end.
func (s *simulator) live() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, n := range s.blocks {
		list = append(list, fmt.Sprintf("device memory, %d bytes", n))
	}
	for _, n := range s.host {
		list = append(list, fmt.Sprintf("host memory, %d bytes", n))
	}
	for _, h := range s.handles {
		if _, owned := h.(*simKernel); !owned {
			list = append(list, fmt.Sprintf("%T", h))
		}
	}
	slices.Sort(list)
	return list
}

// fail returns the driver's error of a call.
func fail(call string, r driver.Result, format string, args ...any) error {
	return &driver.Error{Call: call, Result: r, Detail: fmt.Sprintf(format, args...)}
}

// enter locks the simulator for a call.
func (s *simulator) enter(call string) (unlock func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, &driver.Error{Call: call, Result: driver.InvalidContext}
	}
	return s.mu.Unlock, nil
}

// create returns a handle for v; the simulator is locked.
func (s *simulator) create(v any) uintptr {
	s.serial += 16
	s.handles[s.serial] = v
	return s.serial
}

// created makes a handle of its own for v in a call.
func created[H ~uintptr](s *simulator, call string, v any) (H, error) {
	unlock, err := s.enter(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return H(s.create(v)), nil
}

// simulatedHandle looks a handle up; the simulator is locked.
func simulatedHandle[T any](s *simulator, call string, h uintptr) (T, error) {
	v, ok := s.handles[h].(T)
	if !ok {
		return v, fail(call, driver.InvalidHandle, "%T %#x", v, h)
	}
	return v, nil
}

// destroy gives a handle back.
func destroy[T any](s *simulator, call string, h uintptr) error {
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = simulatedHandle[T](s, call, h)
	delete(s.handles, h)
	return err
}

func (s *simulator) MemGetInfo() (free, total uint64, err error) {
	unlock, err := s.enter("cuMemGetInfo_v2")
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	return simulatedMemory - uint64(s.memory.Used()), simulatedMemory, nil
}

func (s *simulator) MemAlloc(n int) (driver.Ptr, error) {
	const call = "cuMemAlloc_v2"
	unlock, err := s.enter(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if n < 1 {
		return 0, fail(call, driver.InvalidValue, "%d bytes", n)
	}
	p, err := s.memory.Alloc(int64(n))
	if err != nil {
		return 0, fail(call, driver.OutOfMemory, "%d bytes", n)
	}
	s.blocks[driver.Ptr(p)] = n
	return driver.Ptr(p), nil
}

func (s *simulator) MemFree(p driver.Ptr) error {
	const call = "cuMemFree_v2"
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	if _, ok := s.blocks[p]; !ok {
		return fail(call, driver.InvalidValue, "%#x is no allocation", uint64(p))
	}
	delete(s.blocks, p)
	return s.memory.Free(uint64(p))
}

func (s *simulator) MemHostAlloc(n int) ([]byte, error) {
	const call = "cuMemHostAlloc"
	unlock, err := s.enter(call)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if n < 1 {
		return nil, fail(call, driver.InvalidValue, "%d bytes", n)
	}
	b := make([]byte, n)
	s.host[&b[0]] = n
	return b, nil
}

func (s *simulator) MemFreeHost(b []byte) error {
	const call = "cuMemFreeHost"
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	if len(b) == 0 || s.host[&b[0]] == 0 {
		return fail(call, driver.InvalidValue, "no page-locked memory starts there")
	}
	delete(s.host, &b[0])
	return nil
}

// invalidAddress is the driver's error for what the simulator's memory refuses.
func invalidAddress(call string, err error) error {
	if err == nil {
		return nil
	}
	return fail(call, driver.InvalidValue, "%v", err)
}

func (s *simulator) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	return s.MemcpyHtoDAsync(dst, src, 0)
}

func (s *simulator) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	return s.MemcpyDtoHAsync(dst, src, 0)
}

func (s *simulator) MemcpyHtoDAsync(dst driver.Ptr, src []byte, st driver.Stream) error {
	const call = "cuMemcpyHtoDAsync_v2"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Write(uint64(dst), src)) })
}

func (s *simulator) MemcpyDtoHAsync(dst []byte, src driver.Ptr, st driver.Stream) error {
	const call = "cuMemcpyDtoHAsync_v2"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Read(uint64(src), dst)) })
}

func (s *simulator) MemcpyDtoDAsync(dst, src driver.Ptr, n int, st driver.Stream) error {
	const call = "cuMemcpyDtoDAsync_v2"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Copy(uint64(dst), uint64(src), int64(n))) })
}

func (s *simulator) MemsetD8Async(dst driver.Ptr, v uint8, n int, st driver.Stream) error {
	const call = "cuMemsetD8Async"
	return s.work(call, st, func() error { return invalidAddress(call, s.memory.Fill(uint64(dst), v, int64(n))) })
}

func (s *simulator) MemsetD32Async(dst driver.Ptr, v uint32, n int, st driver.Stream) error {
	const call = "cuMemsetD32Async"
	return s.work(call, st, func() error {
		word := []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
		var errs error
		for i := range n {
			if errs = errors.Join(errs, s.memory.Write(uint64(dst)+uint64(4*i), word)); errs != nil {
				break
			}
		}
		return invalidAddress(call, errs)
	})
}
