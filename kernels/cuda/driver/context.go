package driver

import (
	"fmt"
	"time"
)

// Ptr is an address in device memory; 0 is none.
type Ptr uint64

// Handles of the driver. The zero Stream is the device's default stream; other zero values are none.
type (
	Module    uintptr
	Function  uintptr
	Stream    uintptr
	Event     uintptr
	Graph     uintptr
	GraphExec uintptr
	GraphNode uintptr
)

// Context is a device made ready for one process: its memory, loaded code, streams and graphs. All methods may be called
// from any goroutine at the same time; work in one stream happens in the order of the calls.
//
// Every failure of the driver is an [*Error]. An asynchronous method may return the failure of work enqueued earlier; once
// an error is [Error.Sticky] every later call fails too, and what remains is Close and a new context.
type Context interface {
	// Device describes the device. It never fails: what it says was read when the context was opened.
	Device() Device
	// Synchronize waits until all streams are idle.
	Synchronize() error
	// Close releases the context. What was allocated or loaded through it is gone.
	Close() error

	Memory
	Code
	Streams
	Graphs
}

// Memory is the part of [Context] that allocates and copies. Sizes are in bytes.
type Memory interface {
	// MemGetInfo returns how much device memory is free and how much there is.
	MemGetInfo() (free, total uint64, err error)
	// MemAlloc returns n bytes of device memory, aligned to 256 bytes at least, with undefined content. n is at least 1.
	MemAlloc(n int) (Ptr, error)
	// MemFree gives back what MemAlloc returned. It waits for work that may use it.
	MemFree(p Ptr) error
	// MemHostAlloc returns n bytes of page-locked host memory outside the Go heap: what asynchronous copies need.
	MemHostAlloc(n int) ([]byte, error)
	// MemFreeHost gives back what MemHostAlloc returned; any slice that starts at the same byte will do. It does not wait: no
	// copy of the memory is pending.
	MemFreeHost(b []byte) error

	// MemcpyHtoD copies src to the device and waits for it. Go memory will do.
	MemcpyHtoD(dst Ptr, src []byte) error
	// MemcpyDtoH fills dst from the device and waits for it. Go memory will do. It does not wait for other streams than
	// the default one.
	MemcpyDtoH(dst []byte, src Ptr) error
	// MemcpyHtoDAsync copies src to the device in stream s. src is memory of MemHostAlloc, unchanged until s got there.
	MemcpyHtoDAsync(dst Ptr, src []byte, s Stream) error
	// MemcpyDtoHAsync fills dst in stream s. dst is memory of MemHostAlloc, not to be read until s got there.
	MemcpyDtoHAsync(dst []byte, src Ptr, s Stream) error
	// MemcpyDtoDAsync copies n bytes within the device; the ranges do not overlap.
	MemcpyDtoDAsync(dst, src Ptr, n int, s Stream) error
	// MemsetD8Async sets n bytes to v.
	MemsetD8Async(dst Ptr, v uint8, n int, s Stream) error
	// MemsetD32Async sets n words of 4 bytes to v; dst is aligned to 4.
	MemsetD32Async(dst Ptr, v uint32, n int, s Stream) error
}

// Code is the part of [Context] that compiles, loads and launches kernels.
type Code interface {
	// ModuleLoad makes a module of PTX text, which the driver compiles, or of a cubin. The log is of use with an error too.
	ModuleLoad(image []byte, o JITOptions) (Module, JITLog, error)
	// Link compiles PTX text to a cubin for this device without loading it. A driver that cannot do this returns an error
	// with which ModuleLoad of the same text is still worth trying.
	Link(ptx []byte, o JITOptions) (cubin []byte, log JITLog, err error)
	// ModuleUnload does not wait: no launch of the module's functions is pending.
	ModuleUnload(m Module) error
	// ModuleGetFunction finds an entry by its name.
	ModuleGetFunction(m Module, name string) (Function, error)

	// FuncAttributes tells what the compiler made of a function.
	FuncAttributes(f Function) (FuncAttributes, error)
	// FuncSetMaxDynamicShared allows launches of f with up to n bytes of dynamic shared memory. Needed above 48 KB in all.
	FuncSetMaxDynamicShared(f Function, n int) error
	// MaxActiveBlocks returns how many blocks of so many threads and bytes of dynamic shared memory fit on one
	// multiprocessor at a time.
	MaxActiveBlocks(f Function, threads, shared int) (int, error)

	// LaunchKernel enqueues f in stream s. params is the parameter buffer as the entry declares it: each parameter at its
	// alignment, no more than [MaxParams] bytes; it is copied before the call returns. It does not allocate. A driver
	// that knows no attributes launches without Overlap, which is a hint, and refuses a Cluster.
	LaunchKernel(f Function, l LaunchConfig, s Stream, params []byte) error
}

// Streams is the part of [Context] that orders and times work.
type Streams interface {
	// StreamCreate makes a stream that does not wait for the default stream. priority is clamped to what
	// [Device].StreamPriority gives: lower numbers are more urgent, 0 is the default.
	StreamCreate(priority int) (Stream, error)
	// StreamDestroy does not wait; what is enqueued will be done.
	StreamDestroy(s Stream) error
	StreamSynchronize(s Stream) error
	// StreamQuery tells whether all work of s is done.
	StreamQuery(s Stream) (bool, error)
	// StreamWaitEvent makes later work of s wait for the last record of e.
	StreamWaitEvent(s Stream, e Event) error

	// EventCreate makes an event; one without timing is cheaper.
	EventCreate(timing bool) (Event, error)
	EventDestroy(e Event) error
	EventRecord(e Event, s Stream) error
	// EventRecordExternal records e from within a captured graph: every launch of the graph records it anew, as something
	// that the host may wait for and time. It is invalid outside Capture.
	EventRecordExternal(e Event, s Stream) error
	EventSynchronize(e Event) error
	// EventQuery tells whether the last record of e has happened.
	EventQuery(e Event) (bool, error)
	// EventElapsed returns the device's time between two events, about 0.5 µs exact. Both have happened: before that the
	// error is NotReady.
	EventElapsed(start, end Event) (time.Duration, error)
}

// Graphs is the part of [Context] that records work once and launches it many times.
type Graphs interface {
	// Capture calls record, and makes a graph of what that enqueues in s instead of running it. record stays in its
	// goroutine, which is held on one thread meanwhile, and neither synchronizes nor allocates device memory; other
	// goroutines may. Its error, if any, is returned as it is and the graph dropped.
	Capture(s Stream, record func() error) (Graph, error)
	// CapturedNode returns the node of the work last enqueued in s, which is being captured: called right after
	// LaunchKernel, the node of that launch. It is valid for the captured graph and for what is instantiated from it.
	CapturedNode(s Stream) (GraphNode, error)
	// GraphKernelNodes returns the kernel nodes of a graph, in no promised order, without their parameters.
	GraphKernelNodes(g Graph) ([]KernelNode, error)
	GraphDestroy(g Graph) error

	GraphInstantiate(g Graph) (GraphExec, error)
	// GraphUpload moves what launches need to the device ahead of the first one.
	GraphUpload(x GraphExec, s Stream) error
	// GraphLaunch enqueues the whole graph in s. One GraphExec runs at most once at a time: launches wait for each other.
	GraphLaunch(x GraphExec, s Stream) error
	// GraphExecUpdate takes parameters and addresses from g, a newly captured graph of the same shape. With an error, which
	// says what differs, x is as it was: instantiate g instead.
	GraphExecUpdate(x GraphExec, g Graph) error
	// GraphExecKernelNodeSetParams changes launches of x to come: the launch n.Node becomes the rest of n.
	GraphExecKernelNodeSetParams(x GraphExec, n KernelNode) error
	GraphExecDestroy(x GraphExec) error
}

// MaxParams is the size limit of a launch's parameters in bytes.
const MaxParams = 4096

// LaunchConfig is how a kernel is launched: its shape, and attributes that are none where they are zero.
type LaunchConfig struct {
	Grid, Block [3]int // blocks, and threads of a block
	Shared      int    // bytes of dynamic shared memory
	Cluster     [3]int // blocks that run together and reach each other's shared memory; they divide the grid
	// Overlap lets the kernel begin before the one before it in the stream has ended, once all blocks of that one have said
	// so or ended. What it reads or overwrites of others it touches after its own wait (griddepcontrol.wait).
	Overlap bool
}

// attributes reports whether the launch is more than a shape.
func (l LaunchConfig) attributes() bool { return l.Overlap || l.Cluster != [3]int{} }

// CheckCluster returns why no device launches the grid in the clusters.
func (l LaunchConfig) CheckCluster() error {
	if l.Cluster == [3]int{} {
		return nil
	}
	blocks := 1
	for i, n := range l.Cluster {
		if n < 1 || l.Grid[i]%n != 0 {
			return fmt.Errorf("clusters of %v do not divide a grid of %v", l.Cluster, l.Grid)
		}
		blocks *= n
	}
	if blocks > 16 {
		return fmt.Errorf("a cluster of %d blocks; no device has more than 16", blocks)
	}
	return nil
}

// KernelNode is a launch in a graph, without attributes: a node keeps those that it was captured with.
type KernelNode struct {
	Node        GraphNode
	Function    Function
	Grid, Block [3]int
	Shared      int    // bytes of dynamic shared memory
	Params      []byte // as in LaunchKernel
}

// Config is the shape of the launch.
func (n KernelNode) Config() LaunchConfig {
	return LaunchConfig{Grid: n.Grid, Block: n.Block, Shared: n.Shared}
}

// JITOptions steers the driver's compiler. The zero value is its default: full optimisation, as many registers as it likes.
type JITOptions struct {
	MaxRegisters int  // a thread's limit, 0 for none
	OptLevel     int  // 1 to 4; 0 is the default, 4
	LineInfo     bool // keep source lines for profilers
}

// JITLog is what the driver's compiler had to say. Info holds register and spill counts, and warnings that cost speed,
// such as C7508 (setmaxnreg ignored).
type JITLog struct {
	Info, Error string
	Wall        time.Duration // time spent compiling; 0 for a cubin
}

// FuncAttributes is what the compiler made of a kernel.
type FuncAttributes struct {
	Declared      bool // no compiler was asked: Registers are those live at a time in the order of the text, LocalBytes what the text declares
	Registers     int  // a thread's
	LocalBytes    int  // a thread's local memory: spills, mostly; a compiler's are not known where Declared
	SharedBytes   int  // a block's static shared memory
	ConstBytes    int
	MaxThreads    int // a block's limit, by registers and launch bounds
	PTXVersion    int // 80 for .version 8.0
	BinaryVersion int // 90 for sm_90
}
