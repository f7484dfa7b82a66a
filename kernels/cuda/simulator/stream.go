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

// enqueue runs a node at once, or keeps it where the stream is captured.
func (s *Context) enqueue(call string, st driver.Stream, n node) error {
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	if q.capture != nil {
		s.serial += 16
		n.launch.Node = driver.GraphNode(s.serial)
		q.capture.nodes = append(q.capture.nodes, n)
		unlock()
		return nil
	}
	unlock()
	return n.run(q)
}

// work is enqueue for what is no kernel.
func (s *Context) work(call string, st driver.Stream, run func() error) error {
	return s.enqueue(call, st, node{run: func(*stream) error { return run() }})
}

func (s *Context) StreamCreate(int) (driver.Stream, error) {
	return created[driver.Stream](s, "cuStreamCreateWithPriority", &stream{})
}

func (s *Context) StreamDestroy(st driver.Stream) error {
	return destroy[*stream](s, "cuStreamDestroy_v2", uintptr(st))
}

// Watch ends the stream's launches with ctx and tells how far each is.
func (s *Context) Watch(st driver.Stream, ctx context.Context, tell func(done, total int)) error {
	q, unlock, err := s.queue("Watch", st)
	if err != nil {
		return err
	}
	defer unlock()
	q.ctx, q.tell = ctx, tell
	return nil
}

// idle finds that a stream has nothing to do, or that it is captured and cannot be waited for.
func (s *Context) idle(call string, st driver.Stream) error {
	q, unlock, err := s.queue(call, st)
	if err != nil {
		return err
	}
	defer unlock()
	if q.capture != nil {
		return fail(call, captureUnsupported, "the stream is being captured")
	}
	return nil
}

func (s *Context) StreamSynchronize(st driver.Stream) error {
	return s.idle("cuStreamSynchronize", st)
}

func (s *Context) StreamQuery(st driver.Stream) (bool, error) {
	err := s.idle("cuStreamQuery", st)
	return err == nil, err
}

// StreamWaitEvent brings the stream's clock up to the event's.
func (s *Context) StreamWaitEvent(st driver.Stream, h driver.Event) error {
	const call = "cuStreamWaitEvent"
	e, err := s.event(call, h)
	if err != nil {
		return err
	}
	return s.enqueue(call, st, node{run: func(q *stream) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		q.clock = max(q.clock, e.at)
		return nil
	}})
}

// event looks an event up.
func (s *Context) event(call string, h driver.Event) (*event, error) {
	unlock, err := s.enter(call)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return lookup[*event](s, call, uintptr(h))
}

func (s *Context) EventCreate(bool) (driver.Event, error) {
	return created[driver.Event](s, "cuEventCreate", &event{})
}

func (s *Context) EventDestroy(e driver.Event) error {
	return destroy[*event](s, "cuEventDestroy_v2", uintptr(e))
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
	e, err := s.event(call, h)
	if err != nil {
		return err
	}
	return s.enqueue(call, st, node{run: func(q *stream) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.recorded, e.at = true, q.clock
		return nil
	}})
}

func (s *Context) EventSynchronize(e driver.Event) error {
	_, err := s.event("cuEventSynchronize", e)
	return err
}

func (s *Context) EventQuery(e driver.Event) (bool, error) {
	_, err := s.event("cuEventQuery", e)
	return err == nil, err
}

func (s *Context) EventElapsed(start, end driver.Event) (time.Duration, error) {
	const call = "cuEventElapsedTime"
	a, err := s.event(call, start)
	if err != nil {
		return 0, err
	}
	b, err := s.event(call, end)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.recorded || !b.recorded {
		return 0, fail(call, driver.InvalidHandle, "an event was never recorded")
	}
	return b.at - a.at, nil
}
