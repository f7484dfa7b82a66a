package cuda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
	"github.com/trtui/trtui/kernels/cuda/internal/emit"
)

// Stream is a queue of the device's, with memory of the host through which copies go. It has one user at a time.
type Stream struct {
	backend   *Backend
	ctx       driver.Context
	handle    driver.Stream
	buffers   [2]staging // for copies, used in turn
	turn      int
	marks     []driver.Event // used again in turn
	next      int
	capturing *capturedGraph // nil where nothing is captured
	counters  kernels.Mem    // emit.MaxCounters words, 0 whenever no kernel runs: kernels count blocks with them
	err       error          // of a mark, which has no way to return it
	// behindKernel says that what was enqueued last is a kernel of ours, with which the next may overlap.
	behindKernel bool
}

// markCount is how many marks of a stream are good at a time; older ones are recorded anew.
const markCount = 4096

// NewStream returns a queue of its own.
func (b *Backend) NewStream() (kernels.Stream, error) {
	ctx := b.Context()
	h, err := ctx.StreamCreate(0)
	if err != nil {
		return nil, fmt.Errorf("stream on %s: %w", b.info.Name, err)
	}
	s := &Stream{backend: b, ctx: ctx, handle: h}
	p, err := ctx.MemAlloc(4 * emit.MaxCounters)
	if err == nil {
		s.counters.Addr = uint64(p)
		err = s.clear()
	}
	b.mu.Lock()
	b.streams++
	b.mu.Unlock()
	if err != nil {
		_ = s.Close() // the first error tells all
		return nil, fmt.Errorf("stream on %s: its counters: %w", b.info.Name, err)
	}
	return s, nil
}

// Handle returns the queue as the driver knows it.
func (s *Stream) Handle() driver.Stream { return s.handle }

// clear makes the counters 0: at first, and after a kernel that did not run to its end.
func (s *Stream) clear() error {
	s.behindKernel = false
	return s.ctx.MemsetD8Async(driver.Ptr(s.counters.Addr), 0, 4*emit.MaxCounters, s.handle)
}

// Record marks the present end of the queue. A mark that is captured is reached whenever the graph runs, and lasts as long
// as the graph; others last until markCount more have been recorded.
func (s *Stream) Record() kernels.Mark {
	s.behindKernel = false
	e, err := s.event()
	if err == nil && s.capturing != nil {
		err = s.ctx.EventRecordExternal(e, s.handle)
	} else if err == nil {
		err = s.ctx.EventRecord(e, s.handle)
	}
	s.note(err)
	return e
}

// graphsOverlap is the first version of CUDA whose graphs have dependencies on a kernel that has not ended.
const graphsOverlap driver.Version = 12030

// overlaps reports whether a kernel may begin before what is in the stream has ended.
func (s *Stream) overlaps() bool {
	return s.behindKernel && (s.capturing == nil || s.ctx.Device().Driver >= graphsOverlap)
}

// note keeps the first error of marks for Wait.
func (s *Stream) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

// event returns an event to record.
func (s *Stream) event() (driver.Event, error) {
	list := &s.marks
	if s.capturing != nil {
		list = &s.capturing.marks
	} else if len(s.marks) == markCount {
		s.next = (s.next + 1) % markCount
		return s.marks[s.next], nil
	}
	e, err := s.ctx.EventCreate(true)
	if err == nil {
		*list = append(*list, e)
	}
	return e, err
}

// Elapsed returns the device's time between two marks, for whose later one it waits. An error is Wait's to return.
func (s *Stream) Elapsed(a, b kernels.Mark) time.Duration {
	from, to := a.(driver.Event), b.(driver.Event)
	d, err := s.ctx.EventElapsed(from, to)
	if errors.Is(err, &driver.Error{Result: driver.NotReady}) {
		if err = s.ctx.EventSynchronize(to); err == nil {
			d, err = s.ctx.EventElapsed(from, to)
		}
	}
	s.note(err)
	return d
}

// Wait waits until the queue is empty.
func (s *Stream) Wait() error {
	err := s.ctx.StreamSynchronize(s.handle)
	if err == nil {
		err = s.err
	}
	s.err = nil
	return err
}

// Close gives the stream and what belongs to it back. Its graphs are closed before.
func (s *Stream) Close() error {
	err := s.Wait()
	first := func(e error) {
		if err == nil {
			err = e
		}
	}
	first(destroyEvents(s.ctx, s.marks))
	for i := range s.buffers {
		first(s.buffers[i].close(s.ctx))
	}
	if s.counters.Addr != 0 {
		first(s.ctx.MemFree(driver.Ptr(s.counters.Addr)))
	}
	first(s.ctx.StreamDestroy(s.handle))
	s.backend.mu.Lock()
	s.backend.streams--
	s.backend.mu.Unlock()
	return err
}

// destroyEvents gives events back, and returns the first error.
func destroyEvents(ctx driver.Context, list []driver.Event) error {
	var err error
	for _, e := range list {
		if e := ctx.EventDestroy(e); err == nil {
			err = e
		}
	}
	return err
}

// watched is implemented by contexts whose launches are worth watching: the simulator's.
type watched interface {
	Watch(st driver.Stream, ctx context.Context, tell func(done, total int)) error
}

// Watch watches the stream's launches where the device is simulated.
func (s *Stream) Watch(ctx context.Context, tell func(done, total int)) bool {
	w, ok := s.ctx.(watched)
	return ok && w.Watch(s.handle, ctx, tell) == nil
}

// Capture records what f enqueues as a graph.
func (s *Stream) Capture(f func() error) (kernels.Graph, error) {
	g := &capturedGraph{stream: s}
	s.capturing, s.behindKernel = g, false
	template, err := s.ctx.Capture(s.handle, f)
	s.capturing, s.behindKernel = nil, false
	if err == nil {
		g.exec, err = s.ctx.GraphInstantiate(template)
		if e := s.ctx.GraphDestroy(template); err == nil {
			err = e
		}
	}
	if err == nil {
		err = s.ctx.GraphUpload(g.exec, s.handle)
	}
	if err == nil {
		err, s.err = s.err, nil // of a mark
	}
	if err != nil {
		_ = g.Close() // the first error tells all
		return nil, err
	}
	return g, nil
}

// capturedGraph is a graph ready to be launched, with the events that it records.
type capturedGraph struct {
	stream *Stream
	exec   driver.GraphExec
	marks  []driver.Event
}

// Launch enqueues the graph in its stream.
func (g *capturedGraph) Launch() error {
	g.stream.behindKernel = false
	err := g.stream.ctx.GraphLaunch(g.exec, g.stream.handle)
	if err != nil {
		_ = g.stream.clear() // the first error tells all
	}
	return err
}

// Close gives it back, when it has run.
func (g *capturedGraph) Close() error {
	var err error
	if g.exec != 0 {
		err = g.stream.ctx.GraphExecDestroy(g.exec)
	}
	if e := destroyEvents(g.stream.ctx, g.marks); err == nil {
		err = e
	}
	g.exec, g.marks = 0, nil
	return err
}
