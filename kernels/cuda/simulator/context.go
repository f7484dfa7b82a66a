// Package simulator is a driver whose device is ptxsim: memory, code and launches are real, time is a model's. Every call is
// done when it returns; streams have clocks of their own. A launch that does wrong is an error at once, which names the line.
// Handles are checked as a driver checks them, so that what is given back twice, or too early, is found.
package simulator

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/ptxsim"
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
}

// Options are how launches are simulated; they may be changed until the first.
type Options struct {
	Time  func(*ptxsim.Stats) time.Duration // what a launch takes, by what it did; none where it is nil
	Races bool                              // look for races in global memory: it takes a dozen times the memory that kernels touch
	Rough bool                              // results that a GPU only approximates are as far off as they may be
}

// What the handles stand for.
type (
	module   struct{ program *ptxsim.Program }
	function struct { // a function
		module   *module
		name     string
		launches int
		dynamic  int  // bytes of dynamic shared memory that a launch may have
		allowed  bool // dynamic was set
	}
	stream struct {
		clock   time.Duration
		capture *graph          // what is captured, or nil
		ctx     context.Context // of its launches; nil: the simulator's
		tell    func(done, total int)
	}
	event struct {
		recorded bool
		at       time.Duration // of the clock of the stream that recorded it
	}
	graph struct{ nodes []node }
	exec  struct{ graph }
	// node is a piece of work in a graph.
	node struct {
		kernel  bool
		overlap bool              // its attribute, which it keeps
		launch  driver.KernelNode // with its name in the graph; the rest is a kernel's alone
		run     func(*stream) error
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
	return s
}

func (s *Context) Device() driver.Device { return s.device }

func (s *Context) Synchronize() error {
	unlock, err := s.enter("cuCtxSynchronize")
	if err == nil {
		unlock()
	}
	return err
}

// Close ends the launches that run. Every later call fails.
func (s *Context) Close() error {
	s.cancel()
	s.mu.Lock()
	s.closed = true
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
	if s.closed {
		s.mu.Unlock()
		return nil, &driver.Error{Call: call, Result: driver.InvalidContext}
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
