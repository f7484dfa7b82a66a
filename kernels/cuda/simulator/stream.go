package simulator

import (
	"context"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Results that the simulator alone names.
const (
	illegalState       driver.Result = 401
	captureUnsupported driver.Result = 900
)

// queue looks a stream up; the simulator is locked until unlock is called.
func (s *Context) queue(call string, st driver.Stream) (q *stream, unlock func(), err error) {
	if unlock, err = s.enter(call); err != nil {
		return nil, nil, err
	}
	if st == 0 {
		return &s.defaultStream, unlock, nil
	}
	if q, err = lookup[*stream](s, call, uintptr(st)); err != nil {
		unlock()
	}
	return q, unlock, err
}

// enqueue puts a node into a stream, or keeps it where the stream is captured.
func (s *Context) enqueue(call string, st driver.Stream, n node) error {
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	defer unlock()
	if q.capture != nil {
		s.keep(q.capture, n)
		return nil
	}
	_, err = s.submit(call, q, n)
	return err
}

// keep adds a node to a graph that is captured.
func (s *Context) keep(g *graph, n node) {
	s.serial += 16
	n.launch.Node = driver.GraphNode(s.serial)
	g.nodes = append(g.nodes, n)
}

// work is enqueue for what writes or reads n bytes at p.
func (s *Context) work(call string, st driver.Stream, p driver.Ptr, n int, w node) error {
	if err := invalidAddress(call, s.memory.Contains(uint64(p), int64(n))); err != nil {
		return err
	}
	w.what = sized(n, p)
	w.writes = rangeAt(p, n)
	if w.to != nil {
		w.reads, w.writes = w.writes, nil
	}
	return s.enqueue(call, st, w)
}

// usable refuses a node of whose things something is gone, as may be in a graph that was captured before.
func (s *Context) usable(call string, n node) error {
	switch {
	case n.function != nil && n.function.module.unloaded:
		return s.misuse(call, "kernel %s is launched, whose module was unloaded", n.function.name)
	case n.records != nil && n.records.destroyed, n.waits != nil && n.waits.destroyed:
		return s.misuse(call, "an event is used that was destroyed")
	case !s.locked(n.from), !s.locked(n.to):
		return fail(call, driver.InvalidValue, "%d bytes of host memory that are not, or no longer, page-locked", len(n.from)+len(n.to))
	}
	return nil
}

func (s *Context) StreamCreate(int) (driver.Stream, error) {
	q := &stream{}
	h, err := created[driver.Stream](s, "cuStreamCreateWithPriority", q)
	q.handle = h
	return h, err
}

// StreamDestroy does not wait: what is pending will still be done.
func (s *Context) StreamDestroy(st driver.Stream) error {
	return destroy[*stream](s, "cuStreamDestroy_v2", uintptr(st))
}

// Watch ends the stream's launches with ctx and tells how far each is. From now on they are done in the calls that enqueue
// them, whatever the order is.
func (s *Context) Watch(st driver.Stream, ctx context.Context, tell func(done, total int)) error {
	const call = "Watch"
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.wait(call, q.last); err != nil {
		return err
	}
	q.ctx, q.tell = ctx, tell
	return nil
}

// whole looks a stream up whose work is waited for: one that is captured cannot be.
func (s *Context) whole(call string, st driver.Stream) (*stream, func(), error) {
	q, unlock, err := s.queue(call, st)
	if err == nil && q.capture != nil {
		unlock()
		err = fail(call, captureUnsupported, "the stream is being captured")
	}
	return q, unlock, err
}

func (s *Context) StreamSynchronize(st driver.Stream) error {
	const call = "cuStreamSynchronize"
	q, unlock, err := s.whole(call, st)
	if err != nil {
		return err
	}
	defer unlock()
	return s.wait(call, q.last)
}

func (s *Context) StreamQuery(st driver.Stream) (bool, error) {
	const call = "cuStreamQuery"
	q, unlock, err := s.whole(call, st)
	if err != nil {
		return false, err
	}
	defer unlock()
	return s.complete(call, q.last)
}

// StreamWaitEvent also brings the stream's clock up to the event's.
func (s *Context) StreamWaitEvent(st driver.Stream, h driver.Event) error {
	const call = "cuStreamWaitEvent"
	e, unlock, err := s.event(call, h)
	if err != nil {
		return err
	}
	unlock()
	return s.enqueue(call, st, node{waits: e})
}

// event looks an event up; the simulator is locked until unlock is called.
func (s *Context) event(call string, h driver.Event) (e *event, unlock func(), err error) {
	if unlock, err = s.enter(call); err != nil {
		return nil, nil, err
	}
	if e, err = lookup[*event](s, call, uintptr(h)); err != nil {
		unlock()
	}
	return e, unlock, err
}

func (s *Context) EventCreate(timing bool) (driver.Event, error) {
	return created[driver.Event](s, "cuEventCreate", &event{timing: timing})
}

// EventDestroy does not wait: a record that is pending will still be done.
func (s *Context) EventDestroy(h driver.Event) error {
	const call = "cuEventDestroy_v2"
	e, unlock, err := s.event(call, h)
	if err != nil {
		return err
	}
	defer unlock()
	e.destroyed = true
	delete(s.handles, uintptr(h))
	return nil
}

func (s *Context) EventRecord(h driver.Event, st driver.Stream) error {
	return s.record("cuEventRecord", h, st)
}

// EventRecordExternal is EventRecord within a capture, and nowhere else.
func (s *Context) EventRecordExternal(h driver.Event, st driver.Stream) error {
	const call = "cuEventRecordWithFlags"
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	captured := q.capture != nil
	unlock()
	if !captured {
		return fail(call, driver.InvalidValue, "an external event outside a capture")
	}
	return s.record(call, h, st)
}

func (s *Context) record(call string, h driver.Event, st driver.Stream) error {
	e, unlock, err := s.event(call, h)
	if err != nil {
		return err
	}
	unlock()
	return s.enqueue(call, st, node{records: e})
}

// EventSynchronize waits for the last record, if there is one.
func (s *Context) EventSynchronize(h driver.Event) error {
	const call = "cuEventSynchronize"
	e, unlock, err := s.event(call, h)
	if err != nil {
		return err
	}
	defer unlock()
	return s.wait(call, e.last)
}

func (s *Context) EventQuery(h driver.Event) (bool, error) {
	const call = "cuEventQuery"
	e, unlock, err := s.event(call, h)
	if err != nil {
		return false, err
	}
	defer unlock()
	return s.complete(call, e.last)
}

func (s *Context) EventElapsed(start, end driver.Event) (time.Duration, error) {
	const call = "cuEventElapsedTime"
	a, unlock, err := s.event(call, start)
	if err != nil {
		return 0, err
	}
	defer unlock()
	b, err := lookup[*event](s, call, uintptr(end))
	switch {
	case err != nil:
		return 0, err
	case !a.timing || !b.timing:
		return 0, fail(call, driver.InvalidHandle, "an event was made without timing")
	case a.last == nil || b.last == nil:
		return 0, fail(call, driver.InvalidHandle, "an event was never recorded")
	case !a.last.done || !b.last.done:
		return 0, fail(call, driver.NotReady, "an event has not happened")
	}
	return b.last.at - a.last.at, nil
}
