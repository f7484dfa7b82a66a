// Package simulator is a driver whose device is ptxsim: memory, code and launches are real, time is a model's; streams have
// clocks of their own. Handles are checked as a driver checks them, so that what is given back twice, or too early, is found.
//
// By default every call is done when it returns, and a launch that does wrong is an error at once, which names the line. On a
// device work is done later: [Options].Order makes it so, in orders that only what a driver promises keeps right. Then an
// error of work is that of a later call, and of all that follow, and names the call that enqueued it. Where work that is
// pending makes a call undefined, the call is such an error: page-locked memory that a copy uses is given back or changed, a
// module that a launch runs is unloaded. What a driver's manual defines is done: MemFree waits; streams, events and graphs
// that are destroyed live until their work is done. [Options].Streams finds work of two streams that uses the same memory
// with nothing that orders it.
package simulator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// Context is a driver's context of a simulated device.
type Context struct {
	Options
	ctx    context.Context // of the launches; ends with Close
	cancel context.CancelFunc
	device driver.Device
	memory *ptxsim.Memory

	mu            sync.Mutex
	closed        bool
	serial        uintptr
	handles       map[uintptr]any // pointers to what they stand for
	defaultStream stream
	blocks        map[driver.Ptr]int
	host          map[*byte]int
	programs      programCache

	busy    []*stream  // that have work, those that got it first before others
	changed *sync.Cond // a task is done, or no more will be
	random  *rand.Rand // of Options.Seed
	lost    *failure   // nil while the context works
	waited  seen       // what the host has waited for
	traces  []*trace   // of what is done, the oldest first
}

// Options are how launches are simulated; they may be changed until the first, but for Seed.
type Options struct {
	Time  func(*ptxsim.Stats) time.Duration // what a launch takes, by what it did; none where it is nil
	Races bool                              // look for races in global memory: it takes a dozen times the memory that kernels touch
	Rough bool                              // results that a GPU only approximates are as far off as they may be
	Apart bool                              // lanes that a branch has parted stay apart for as long as the ISA lets them
	Order Order                             // when enqueued work is done
	// Streams looks for work of several streams that uses the same memory with nothing that orders it. What a kernel uses is
	// known in words of 4 bytes; blocks run one at a time.
	Streams bool
	Seed    uint64 // of the choices of Mixed
}

// What the handles stand for.
type (
	module struct {
		program  *ptxsim.Program
		unloaded bool
	}
	function struct { // a function
		module   *module
		name     string
		launches int
		dynamic  int  // bytes of dynamic shared memory that a launch may have
		allowed  bool // dynamic was set
	}
	stream struct {
		handle  driver.Stream
		pending []*task // in order; the first may run
		last    *task   // that was enqueued, done or not
		serial  uint64  // of that
		seen    seen    // what its next task is ordered after
		clock   time.Duration
		capture *graph          // what is captured, or nil
		ctx     context.Context // of its launches; nil: the simulator's
		tell    func(done, total int)

		reads, writes []ptxsim.Range // by the launch that ran last
	}
	event struct {
		timing    bool
		destroyed bool
		last      *task // that records it; nil: none did
	}
	graph struct{ nodes []node }
	exec  struct {
		graph
		last *task // of its last launch
	}
	// node is a piece of work in a graph.
	node struct {
		kernel  bool
		overlap bool              // its attribute, which it keeps
		launch  driver.KernelNode // with its name in the graph; the rest is a kernel's alone
		run     func(*stream) error

		what     string    // beside the call, for messages
		function *function // that it launches
		from, to []byte    // page-locked memory that it copies from or to
		reads    []ptxsim.Range
		writes   []ptxsim.Range // device memory, of what is no kernel
		waits    *event
		records  *event
	}
)

// memoryBytes is how much memory the simulated device has.
const memoryBytes = 4 << 30

// New returns the context of a simulated device with such figures, of which its own memory is the size.
func New(d driver.Device, o Options) *Context {
	d.Memory = memoryBytes
	s := &Context{
		Options: o, device: d, memory: ptxsim.NewMemory(memoryBytes),
		handles: map[uintptr]any{}, blocks: map[driver.Ptr]int{}, host: map[*byte]int{},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.changed, s.random = sync.NewCond(&s.mu), rand.New(rand.NewPCG(o.Seed, 0))
	return s
}

func (s *Context) Device() driver.Device { return s.device }

func (s *Context) Synchronize() error {
	const call = "cuCtxSynchronize"
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	return s.drain(call)
}

// Close ends the launches that run, and drops what is pending. Every later call fails.
func (s *Context) Close() error {
	s.cancel()
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	return nil
}

// Live lists what was allocated, loaded or created and not given back, in order: nothing after a clean end.
func (s *Context) Live() []string {
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
		if _, owned := h.(*function); !owned {
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
func (s *Context) enter(call string) (unlock func(), err error) {
	s.mu.Lock()
	if err := s.gone(call); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	return s.mu.Unlock, nil
}

// create returns a handle for v; the simulator is locked.
func (s *Context) create(v any) uintptr {
	s.serial += 16
	s.handles[s.serial] = v
	return s.serial
}

// created makes a handle of its own for v in a call.
func created[H ~uintptr](s *Context, call string, v any) (H, error) {
	unlock, err := s.enter(call)
	if err != nil {
		return 0, err
	}
	defer unlock()
	return H(s.create(v)), nil
}

// lookup looks a handle up; the simulator is locked.
func lookup[T any](s *Context, call string, h uintptr) (T, error) {
	v, ok := s.handles[h].(T)
	if !ok {
		return v, fail(call, driver.InvalidHandle, "%T %#x", v, h)
	}
	return v, nil
}

// destroy gives a handle back.
func destroy[T any](s *Context, call string, h uintptr) error {
	unlock, err := s.enter(call)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = lookup[T](s, call, h)
	delete(s.handles, h)
	return err
}
