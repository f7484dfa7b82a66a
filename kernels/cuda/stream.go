package cuda

import (
	"time"

	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cuda/driver"
)

// stream is a queue of the device's, with memory of the host through which copies go. It has one user at a time.
type stream struct {
	ctx       driver.Context
	handle    driver.Stream
	staging   []byte         // page-locked
	marks     []driver.Event // reused in turn
	next      int
	captured  []driver.Event // of graphs: they stay
	capturing bool
	err       error // of a mark, which has no way to return it
}

// markCount is how many marks of a stream are good at a time; older ones are recorded anew.
const markCount = 4096

// minStaging is the smallest buffer for copies.
const minStaging = 1 << 16

// NewStream returns a queue of its own.
func (b *Backend) NewStream() (kernels.Stream, error) {
	h, err := b.ctx.StreamCreate(0)
	if err != nil {
		return nil, err
	}
	return &stream{ctx: b.ctx, handle: h}, nil
}

// Record marks the present end of the queue. In a capture, the mark is reached whenever the graph runs.
func (s *stream) Record() kernels.Mark {
	e, err := s.event()
	if err == nil && s.capturing {
		err = s.ctx.EventRecordExternal(e, s.handle)
	} else if err == nil {
		err = s.ctx.EventRecord(e, s.handle)
	}
	if err != nil && s.err == nil {
		s.err = err
	}
	return e
}

// event returns an event to record.
func (s *stream) event() (driver.Event, error) {
	if s.capturing {
		e, err := s.ctx.EventCreate(true)
		if err == nil {
			s.captured = append(s.captured, e)
		}
		return e, err
	}
	if len(s.marks) < markCount {
		e, err := s.ctx.EventCreate(true)
		if err == nil {
			s.marks = append(s.marks, e)
		}
		return e, err
	}
	s.next = (s.next + 1) % markCount
	return s.marks[s.next], nil
}

// Elapsed returns the device's time between two marks.
func (s *stream) Elapsed(a, b kernels.Mark) time.Duration {
	d, err := s.ctx.EventElapsed(a.(driver.Event), b.(driver.Event))
	if err != nil && s.err == nil {
		s.err = err
	}
	return d
}

// Wait waits until the queue is empty.
func (s *stream) Wait() error {
	err := s.ctx.StreamSynchronize(s.handle)
	if err == nil {
		err, s.err = s.err, nil
	}
	return err
}

// Close gives the stream and what belongs to it back.
func (s *stream) Close() error {
	err := s.Wait()
	for _, list := range [][]driver.Event{s.marks, s.captured} {
		for _, e := range list {
			_ = s.ctx.EventDestroy(e) // the first error tells all
		}
	}
	if s.staging != nil {
		_ = s.ctx.MemFreeHost(s.staging)
	}
	if e := s.ctx.StreamDestroy(s.handle); err == nil {
		err = e
	}
	return err
}

// room makes the staging buffer hold n bytes, when nothing uses it any more.
func (s *stream) room(n int) error {
	if err := s.Wait(); err != nil || len(s.staging) >= n {
		return err
	}
	if s.staging != nil {
		if err := s.ctx.MemFreeHost(s.staging); err != nil {
			return err
		}
		s.staging = nil
	}
	var err error
	s.staging, err = s.ctx.MemHostAlloc(max(n, minStaging))
	return err
}

func (s *stream) upload(dst driver.Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	if err := s.room(len(src)); err != nil {
		return err
	}
	copy(s.staging, src)
	return s.ctx.MemcpyHtoDAsync(dst, s.staging[:len(src)], s.handle)
}

func (s *stream) download(dst []byte, src driver.Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	if err := s.room(len(dst)); err != nil {
		return err
	}
	if err := s.ctx.MemcpyDtoHAsync(s.staging[:len(dst)], src, s.handle); err != nil {
		return err
	}
	if err := s.Wait(); err != nil {
		return err
	}
	copy(dst, s.staging)
	return nil
}

// Capture records what f enqueues as a graph.
func (s *stream) Capture(f func() error) (kernels.Graph, error) {
	s.capturing = true
	defer func() { s.capturing = false }()
	g, err := s.ctx.Capture(s.handle, f)
	if err != nil {
		return nil, err
	}
	x, err := s.ctx.GraphInstantiate(g)
	if e := s.ctx.GraphDestroy(g); err == nil && e != nil {
		err = e
	}
	if err == nil {
		err = s.ctx.GraphUpload(x, s.handle)
	}
	if err != nil {
		return nil, err
	}
	return &capturedGraph{s, x}, nil
}

// capturedGraph is a graph ready to be launched.
type capturedGraph struct {
	stream *stream
	exec   driver.GraphExec
}

// Launch enqueues the graph in its stream.
func (g *capturedGraph) Launch() error { return g.stream.ctx.GraphLaunch(g.exec, g.stream.handle) }

// Close gives it back.
func (g *capturedGraph) Close() error { return g.stream.ctx.GraphExecDestroy(g.exec) }
