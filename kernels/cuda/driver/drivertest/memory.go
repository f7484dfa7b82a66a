// Package drivertest has contexts for tests of what stands on package driver: [New], a device of host memory that accepts
// kernels and runs none, and [Record], which wraps any context, logs every call and fails those it is told to fail.
package drivertest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Memory is a context on a device of host memory. Allocations, copies, sets, handles, captures and graphs are real and
// checked: an access outside an allocation is an illegal address, a handle that was destroyed is invalid. A launch only
// checks its arguments. Work is done at once, in the order of the calls.
type Memory struct {
	mu      sync.Mutex
	device  driver.Device
	blocks  []block // by address
	next    driver.Ptr
	used    uint64
	host    map[*byte]int
	handles map[uintptr]any
	serial  uintptr
	clock   time.Duration
	dead    *driver.Error
}

type block struct {
	at   driver.Ptr
	data []byte
}

// What the handles stand for.
type (
	module   struct{ text []byte }
	function struct {
		name   string
		shared int
	}
	stream struct{ capture *graph }
	event  struct {
		recorded bool
		at       time.Duration
	}
	graph struct{ work []work }
	exec  struct{ graph }
	work  struct {
		node   driver.KernelNode
		kernel bool
		run    func() error
	}
)

// Device is what a [Memory] says it is: an H200 with little memory.
func Device() driver.Device {
	return driver.Device{
		Name: "drivertest", PCI: "0000:00:00.0", SM: 90, Memory: 1 << 30, Driver: 12040,
		Multiprocessors: 132, ThreadsPerSM: 2048, BlocksPerSM: 32, RegistersPerSM: 65536,
		SharedPerSM: 233472, SharedPerBlock: 49152, SharedPerBlockMax: 232448, L2Bytes: 50 << 20,
		ClockKHz: 1980000, MemoryClockKHz: 3201000, MemoryBusBits: 6144, CopyEngines: 3, StreamPriority: [2]int{0, -5},
		ECC: true, CooperativeLaunch: true, MemoryPools: true, UnifiedAddressing: true, ConcurrentKernels: true,
	}
}

// New returns a context on device d; only its Memory, SharedPerBlock and SharedPerBlockMax have an effect.
func New(d driver.Device) *Memory {
	return &Memory{device: d, next: 0x7000_0000_0000, host: map[*byte]int{}, handles: map[uintptr]any{}}
}

// Live lists what was allocated, loaded or created and not given back, in order: nothing after a clean end.
func (m *Memory) Live() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var live []string
	for _, b := range m.blocks {
		live = append(live, fmt.Sprintf("device memory, %d bytes", len(b.data)))
	}
	for _, n := range m.host {
		live = append(live, fmt.Sprintf("host memory, %d bytes", n))
	}
	for _, h := range m.handles {
		if _, owned := h.(*function); !owned {
			live = append(live, strings.TrimPrefix(fmt.Sprintf("%T", h), "*drivertest."))
		}
	}
	slices.Sort(live)
	return live
}

// Break makes every later call, Close aside, fail with r, as a sticky error does.
func (m *Memory) Break(r driver.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = &driver.Error{Result: r}
}

func fail(call string, r driver.Result, format string, args ...any) error {
	return &driver.Error{Call: call, Result: r, Detail: fmt.Sprintf(format, args...)}
}

// lock enters the context for one call.
func (m *Memory) lock(call string) (unlock func(), err error) {
	m.mu.Lock()
	if m.dead != nil {
		m.mu.Unlock()
		return nil, &driver.Error{Call: call, Result: m.dead.Result}
	}
	return m.mu.Unlock, nil
}

func (m *Memory) handle(h any) uintptr {
	m.serial += 16
	m.handles[m.serial] = h
	return m.serial
}

// find looks a handle up; T is one of the types above.
func find[T any](m *Memory, call string, h uintptr) (T, error) {
	v, ok := m.handles[h].(T)
	if !ok {
		return v, fail(call, driver.InvalidHandle, "%T %#x", v, h)
	}
	return v, nil
}

func drop[T any](m *Memory, call string, h uintptr) error {
	unlock, err := m.lock(call)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := find[T](m, call, h); err != nil {
		return err
	}
	delete(m.handles, h)
	return nil
}

// bytes returns the n bytes of device memory at p.
func (m *Memory) bytes(call string, p driver.Ptr, n int) ([]byte, error) {
	i, found := slices.BinarySearchFunc(m.blocks, p, func(b block, p driver.Ptr) int { return cmp.Compare(b.at, p) })
	if !found {
		i--
	}
	if i >= 0 {
		if b := m.blocks[i]; n >= 0 && uint64(p-b.at)+uint64(n) <= uint64(len(b.data)) {
			return b.data[p-b.at:][:n], nil
		}
	}
	return nil, fail(call, driver.InvalidValue, "%d bytes at %#x are in no allocation", n, uint64(p))
}

// enqueue runs w, or appends it to the stream's capture.
func (m *Memory) enqueue(call string, s driver.Stream, w work) error {
	if s == 0 {
		return w.run()
	}
	st, err := find[*stream](m, call, uintptr(s))
	if err != nil {
		return err
	}
	if st.capture == nil {
		return w.run()
	}
	m.serial += 16
	w.node.Node = driver.GraphNode(m.serial)
	st.capture.work = append(st.capture.work, w)
	return nil
}

func (m *Memory) Device() driver.Device { return m.device }

func (m *Memory) Synchronize() error {
	unlock, err := m.lock("cuCtxSynchronize")
	if err == nil {
		unlock()
	}
	return err
}

// Close ends the context; [Memory.Live] still tells what was left.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = &driver.Error{Result: driver.InvalidContext}
	return nil
}

func (m *Memory) MemGetInfo() (free, total uint64, err error) {
	unlock, err := m.lock("cuMemGetInfo_v2")
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	return m.device.Memory - m.used, m.device.Memory, nil
}

func (m *Memory) MemAlloc(n int) (driver.Ptr, error) {
	const call = "cuMemAlloc_v2"
	unlock, err := m.lock(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	if n < 1 {
		return 0, fail(call, driver.InvalidValue, "%d bytes", n)
	}
	if uint64(n) > m.device.Memory-m.used {
		return 0, fail(call, driver.OutOfMemory, "%d bytes", n)
	}
	b := block{m.next, bytes.Repeat([]byte{0xCD}, n)} // undefined content is nobody's zero
	m.next += driver.Ptr(n+511)/256*256 + 256         // and a gap, so that an access past the end is found
	m.used += uint64(n)
	m.blocks = append(m.blocks, b)
	return b.at, nil
}

func (m *Memory) MemFree(p driver.Ptr) error {
	const call = "cuMemFree_v2"
	unlock, err := m.lock(call)
	if err != nil {
		return err
	}
	defer unlock()
	i := slices.IndexFunc(m.blocks, func(b block) bool { return b.at == p })
	if i < 0 {
		return fail(call, driver.InvalidValue, "%#x is no allocation", uint64(p))
	}
	m.used -= uint64(len(m.blocks[i].data))
	m.blocks = slices.Delete(m.blocks, i, i+1)
	return nil
}

func (m *Memory) MemHostAlloc(n int) ([]byte, error) {
	unlock, err := m.lock("cuMemHostAlloc")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if n < 1 {
		return nil, fail("cuMemHostAlloc", driver.InvalidValue, "%d bytes", n)
	}
	words := make([]uint64, (n+7)/8) // aligned like memory for any element
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
	m.host[unsafe.SliceData(b)] = n
	return b, nil
}

func (m *Memory) MemFreeHost(b []byte) error {
	unlock, err := m.lock("cuMemFreeHost")
	if err != nil {
		return err
	}
	defer unlock()
	if _, ok := m.host[unsafe.SliceData(b)]; !ok {
		return fail("cuMemFreeHost", driver.InvalidValue, "no page-locked memory starts there")
	}
	delete(m.host, unsafe.SliceData(b))
	return nil
}

// copyWork is a copy of n bytes in stream s, checked at once as the driver does: to and from give the two sides.
func (m *Memory) copyWork(call string, s driver.Stream, dst, src func() ([]byte, error)) error {
	unlock, err := m.lock(call)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := dst(); err != nil {
		return err
	}
	if _, err := src(); err != nil {
		return err
	}
	return m.enqueue(call, s, work{run: func() error {
		to, err := dst()
		if err != nil {
			return err
		}
		from, err := src()
		copy(to, from)
		return err
	}})
}

func host(b []byte) func() ([]byte, error) { return func() ([]byte, error) { return b, nil } }

func (m *Memory) dev(call string, p driver.Ptr, n int) func() ([]byte, error) {
	return func() ([]byte, error) { return m.bytes(call, p, n) }
}

func (m *Memory) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	const call = "cuMemcpyHtoD_v2"
	return m.copyWork(call, 0, m.dev(call, dst, len(src)), host(src))
}

func (m *Memory) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	const call = "cuMemcpyDtoH_v2"
	return m.copyWork(call, 0, host(dst), m.dev(call, src, len(dst)))
}

func (m *Memory) MemcpyHtoDAsync(dst driver.Ptr, src []byte, s driver.Stream) error {
	const call = "cuMemcpyHtoDAsync_v2"
	return m.copyWork(call, s, m.dev(call, dst, len(src)), host(src))
}

func (m *Memory) MemcpyDtoHAsync(dst []byte, src driver.Ptr, s driver.Stream) error {
	const call = "cuMemcpyDtoHAsync_v2"
	return m.copyWork(call, s, host(dst), m.dev(call, src, len(dst)))
}

func (m *Memory) MemcpyDtoDAsync(dst, src driver.Ptr, n int, s driver.Stream) error {
	const call = "cuMemcpyDtoDAsync_v2"
	return m.copyWork(call, s, m.dev(call, dst, n), m.dev(call, src, n))
}

func (m *Memory) MemsetD8Async(dst driver.Ptr, v uint8, n int, s driver.Stream) error {
	const call = "cuMemsetD8Async"
	return m.copyWork(call, s, m.dev(call, dst, n), host(bytes.Repeat([]byte{v}, max(n, 0))))
}

func (m *Memory) MemsetD32Async(dst driver.Ptr, v uint32, n int, s driver.Stream) error {
	const call = "cuMemsetD32Async"
	word := binary.LittleEndian.AppendUint32(nil, v)
	return m.copyWork(call, s, m.dev(call, dst, 4*n), host(bytes.Repeat(word, max(n, 0))))
}

// entry matches the declaration of a kernel in PTX text.
var entry = regexp.MustCompile(`\.entry\s+([\w$]+)`)
