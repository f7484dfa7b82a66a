package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/ptx"
	"github.com/trtui/trtui/kernels/cuda/ptxsim"
)

// simulator is a driver whose device is ptxsim: memory, code and launches are real, time is a model's. Every call is done
// when it returns; streams have clocks of their own. A launch that does wrong is an error at once, which names the line.
type simulator struct {
	ctx    context.Context
	cancel context.CancelFunc
	device driver.Device
	model  machine
	memory *ptxsim.Memory

	mu      sync.Mutex
	handles uintptr
	host    map[*byte]bool
	modules map[driver.Module]*ptxsim.Program
	entries map[driver.Function]*entry
	streams map[driver.Stream]*simStream
	events  map[driver.Event]time.Duration // the stream's clock when it was recorded; below 0: not yet
	graphs  map[driver.Graph][]func() error
	execs   map[driver.GraphExec][]func() error
}

// entry is a kernel in a module.
type entry struct {
	program  *ptxsim.Program
	name     string
	launches int
}

// simStream is a queue that is always empty.
type simStream struct {
	clock   time.Duration
	capture *[]func() error // what is captured, or nil
}

// simulatedMemory is how much memory the simulated device has.
const simulatedMemory = 4 << 30

// newSimulator returns a device that nobody sells, with the figures of a data-centre GPU of the sm_80 kind.
func newSimulator() *simulator {
	s := &simulator{
		device: driver.Device{
			Name: "simulated sm_80 GPU", PCI: "simulated", SM: 80, Memory: simulatedMemory, Driver: 12000,
			Multiprocessors: 108, ThreadsPerSM: 2048, BlocksPerSM: 32, RegistersPerSM: 65536, SharedPerSM: 167936,
			SharedPerBlock: 49152, SharedPerBlockMax: 166912, L2Bytes: 40 << 20, ClockKHz: 1410000,
			MemoryClockKHz: 1215000, MemoryBusBits: 5120,
		},
		memory: ptxsim.NewMemory(simulatedMemory), host: map[*byte]bool{},
		modules: map[driver.Module]*ptxsim.Program{}, entries: map[driver.Function]*entry{},
		streams: map[driver.Stream]*simStream{0: {}}, events: map[driver.Event]time.Duration{},
		graphs: map[driver.Graph][]func() error{}, execs: map[driver.GraphExec][]func() error{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.model = newMachine(s.device)
	return s
}

// OpenSimulator returns the backend "cudasim": the kernels that a GPU gets, run by the simulator of PTX. Its times are
// estimates.
func OpenSimulator() (*Backend, error) {
	b := New(newSimulator(), "cudasim")
	b.info.Estimated = true
	return b, nil
}

func (s *simulator) Device() driver.Device { return s.device }
func (s *simulator) Synchronize() error    { return nil }

func (s *simulator) Close() error {
	s.cancel()
	return nil
}

// handle returns a new number.
func (s *simulator) handle() uintptr {
	s.handles++
	return s.handles
}

// invalid is the error of a handle that is not.
func invalid(call string) error { return &driver.Error{Call: call, Result: driver.InvalidHandle} }

func (s *simulator) MemGetInfo() (free, total uint64, err error) {
	return simulatedMemory - uint64(s.memory.Used()), simulatedMemory, nil
}

func (s *simulator) MemAlloc(n int) (driver.Ptr, error) {
	p, err := s.memory.Alloc(int64(n))
	if err != nil {
		return 0, &driver.Error{Call: "cuMemAlloc_v2", Result: driver.OutOfMemory, Detail: fmt.Sprintf("%d bytes", n)}
	}
	return driver.Ptr(p), nil
}

func (s *simulator) MemFree(p driver.Ptr) error { return s.memory.Free(uint64(p)) }

func (s *simulator) MemHostAlloc(n int) ([]byte, error) { return make([]byte, n), nil }
func (s *simulator) MemFreeHost([]byte) error           { return nil }

func (s *simulator) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	return s.memory.Write(uint64(dst), src)
}
func (s *simulator) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	return s.memory.Read(uint64(src), dst)
}
func (s *simulator) MemcpyHtoDAsync(dst driver.Ptr, src []byte, st driver.Stream) error {
	return s.enqueue(st, "cuMemcpyHtoDAsync_v2", func() error { return s.memory.Write(uint64(dst), src) })
}
func (s *simulator) MemcpyDtoHAsync(dst []byte, src driver.Ptr, st driver.Stream) error {
	return s.enqueue(st, "cuMemcpyDtoHAsync_v2", func() error { return s.memory.Read(uint64(src), dst) })
}
func (s *simulator) MemcpyDtoDAsync(dst, src driver.Ptr, n int, st driver.Stream) error {
	return s.enqueue(st, "cuMemcpyDtoDAsync_v2", func() error { return s.memory.Copy(uint64(dst), uint64(src), int64(n)) })
}
func (s *simulator) MemsetD8Async(dst driver.Ptr, v uint8, n int, st driver.Stream) error {
	return s.enqueue(st, "cuMemsetD8Async", func() error { return s.memory.Fill(uint64(dst), v, int64(n)) })
}
func (s *simulator) MemsetD32Async(dst driver.Ptr, v uint32, n int, st driver.Stream) error {
	return s.enqueue(st, "cuMemsetD32Async", func() error {
		word := []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}
		for i := range n {
			if err := s.memory.Write(uint64(dst)+uint64(4*i), word); err != nil {
				return err
			}
		}
		return nil
	})
}

// ModuleLoad reads PTX text. There is nothing else that it takes: Link gives the text back.
func (s *simulator) ModuleLoad(image []byte, _ driver.JITOptions) (driver.Module, driver.JITLog, error) {
	refused := func(err error) (driver.Module, driver.JITLog, error) {
		return 0, driver.JITLog{Error: err.Error()}, &driver.Error{Call: "cuModuleLoadDataEx", Result: driver.InvalidPTX, Log: err.Error()}
	}
	m, err := ptx.Parse(string(image))
	if err != nil {
		return refused(err)
	}
	p, err := ptxsim.Load(s.memory, m)
	if err != nil {
		return refused(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := driver.Module(s.handle())
	s.modules[h] = p
	return h, driver.JITLog{}, nil
}

// Link has no compiler to offer.
func (s *simulator) Link([]byte, driver.JITOptions) ([]byte, driver.JITLog, error) {
	return nil, driver.JITLog{}, &driver.Error{Call: "cuLinkCreate_v2", Result: driver.NotSupported}
}

func (s *simulator) ModuleUnload(m driver.Module) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.modules[m]
	if !ok {
		return invalid("cuModuleUnload")
	}
	delete(s.modules, m)
	return p.Unload()
}

func (s *simulator) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.modules[m]
	if !ok {
		return 0, invalid("cuModuleGetFunction")
	}
	if _, _, err := p.ParamBytes(name); err != nil {
		return 0, &driver.Error{Call: "cuModuleGetFunction", Result: driver.NotFound, Detail: name}
	}
	h := driver.Function(s.handle())
	s.entries[h] = &entry{program: p, name: name}
	return h, nil
}

func (s *simulator) FuncAttributes(driver.Function) (driver.FuncAttributes, error) {
	return driver.FuncAttributes{}, nil
}
func (s *simulator) FuncSetMaxDynamicShared(driver.Function, int) error { return nil }
func (s *simulator) MaxActiveBlocks(driver.Function, int, int) (int, error) {
	return 1, nil
}

// LaunchKernel runs a kernel. The first two launches of each are checked in every respect, asynchronous copies arriving as
// late as they may in one and as early in the other; later ones run faster, with bounds and alignment checked alone.
func (s *simulator) LaunchKernel(f driver.Function, grid, block [3]int, shared int, st driver.Stream, params []byte) error {
	s.mu.Lock()
	e, ok := s.entries[f]
	stream := s.streams[st]
	s.mu.Unlock()
	if !ok || stream == nil {
		return invalid("cuLaunchKernel")
	}
	own := append([]byte(nil), params...)
	return s.enqueue(st, "cuLaunchKernel", func() error {
		s.mu.Lock()
		n := e.launches
		e.launches++
		s.mu.Unlock()
		opt := ptxsim.Options{Seed: uint64(n), Unchecked: n > 1, Lints: ptxsim.LintNone}
		if n%2 == 1 {
			opt.Async = ptxsim.Early
		}
		stats, err := e.program.Launch(s.ctx, e.name, ptxsim.Shape{Grid: grid, Block: block, Shared: shared}, own, opt)
		if err != nil {
			return err
		}
		s.mu.Lock()
		stream.clock += s.model.estimate(stats)
		s.mu.Unlock()
		return nil
	})
}

// estimate is the time of a launch by what it did: instructions, products, and bytes of either memory.
func (m machine) estimate(s *ptxsim.Stats) time.Duration {
	if s.Blocks == 0 {
		return launchOverhead
	}
	cycles := max(float64(s.Instructions)/4, float64(s.MACs)/units[tensorF16].rate, float64(s.SharedRead+s.SharedWrite)/128)
	resident := min(max(1, s.Occupancy), 8)
	return m.time(job{
		blocks: s.Blocks, resident: resident, cycles: cycles / float64(s.Blocks), latency: 1000 + 2*cycles/float64(s.Blocks),
		bytes: float64(s.GlobalRead + s.GlobalWrite),
	})
}

// enqueue runs work at once, or keeps it where the stream is captured.
func (s *simulator) enqueue(st driver.Stream, call string, work func() error) error {
	s.mu.Lock()
	stream := s.streams[st]
	if stream == nil {
		s.mu.Unlock()
		return invalid(call)
	}
	if stream.capture != nil {
		*stream.capture = append(*stream.capture, work)
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	return work()
}

func (s *simulator) StreamCreate(int) (driver.Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := driver.Stream(s.handle())
	s.streams[h] = &simStream{}
	return h, nil
}

func (s *simulator) StreamDestroy(st driver.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[st] == nil {
		return invalid("cuStreamDestroy_v2")
	}
	delete(s.streams, st)
	return nil
}

func (s *simulator) StreamSynchronize(driver.Stream) error             { return nil }
func (s *simulator) StreamQuery(driver.Stream) (bool, error)           { return true, nil }
func (s *simulator) StreamWaitEvent(driver.Stream, driver.Event) error { return nil }

func (s *simulator) EventCreate(bool) (driver.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := driver.Event(s.handle())
	s.events[h] = -1
	return h, nil
}

func (s *simulator) EventDestroy(e driver.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.events, e)
	return nil
}

func (s *simulator) EventRecord(e driver.Event, st driver.Stream) error {
	return s.enqueue(st, "cuEventRecord", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.events[e]; !ok {
			return invalid("cuEventRecord")
		}
		s.events[e] = s.streams[st].clock
		return nil
	})
}

func (s *simulator) EventRecordExternal(e driver.Event, st driver.Stream) error {
	return s.EventRecord(e, st)
}
func (s *simulator) EventSynchronize(driver.Event) error   { return nil }
func (s *simulator) EventQuery(driver.Event) (bool, error) { return true, nil }

func (s *simulator) EventElapsed(start, end driver.Event) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok1 := s.events[start]
	b, ok2 := s.events[end]
	if !ok1 || !ok2 || a < 0 || b < 0 {
		return 0, &driver.Error{Call: "cuEventElapsedTime", Result: driver.InvalidHandle, Detail: "an event was never recorded"}
	}
	return b - a, nil
}

// Capture keeps what record enqueues.
func (s *simulator) Capture(st driver.Stream, record func() error) (driver.Graph, error) {
	s.mu.Lock()
	stream := s.streams[st]
	if stream == nil || stream.capture != nil {
		s.mu.Unlock()
		return 0, invalid("cuStreamBeginCapture_v2")
	}
	var work []func() error
	stream.capture = &work
	s.mu.Unlock()
	err := record()
	s.mu.Lock()
	defer s.mu.Unlock()
	stream.capture = nil
	if err != nil {
		return 0, err
	}
	h := driver.Graph(s.handle())
	s.graphs[h] = work
	return h, nil
}

// errNodes says that graphs are lists here.
var errNodes = errors.New("the simulator does not edit the nodes of graphs")

func (s *simulator) CapturedNode(driver.Stream) (driver.GraphNode, error) { return 0, errNodes }
func (s *simulator) GraphKernelNodes(driver.Graph) ([]driver.KernelNode, error) {
	return nil, errNodes
}
func (s *simulator) GraphExecKernelNodeSetParams(driver.GraphExec, driver.KernelNode) error {
	return errNodes
}

func (s *simulator) GraphDestroy(g driver.Graph) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.graphs, g)
	return nil
}

func (s *simulator) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	work, ok := s.graphs[g]
	if !ok {
		return 0, invalid("cuGraphInstantiateWithFlags")
	}
	h := driver.GraphExec(s.handle())
	s.execs[h] = work
	return h, nil
}

func (s *simulator) GraphUpload(driver.GraphExec, driver.Stream) error { return nil }

func (s *simulator) GraphLaunch(x driver.GraphExec, _ driver.Stream) error {
	s.mu.Lock()
	work, ok := s.execs[x]
	s.mu.Unlock()
	if !ok {
		return invalid("cuGraphLaunch")
	}
	for _, f := range work {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

func (s *simulator) GraphExecUpdate(x driver.GraphExec, g driver.Graph) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.execs[x] = s.graphs[g]
	return nil
}

func (s *simulator) GraphExecDestroy(x driver.GraphExec) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.execs, x)
	return nil
}
