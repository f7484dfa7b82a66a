package work

import (
	"time"

	"github.com/trtui/trtui/kernels"
)

// stream runs every launch before it returns.
type stream struct {
	loop  Parallel // of the pool, made once
	close func()   // ends workers of its own
}

// NewStream returns a stream over a pool's workers.
func NewStream(p *Pool) kernels.Stream { return &stream{p.Run, func() {}} }

// NewOwnStream returns a stream with so many workers of its own, the caller's goroutine among them, which end with it.
func NewOwnStream(threads int) kernels.Stream {
	p := NewPool(threads)
	return &stream{p.Run, p.Close}
}

func (s *stream) Record() kernels.Mark { return time.Now() }

func (s *stream) Elapsed(a, b kernels.Mark) time.Duration { return b.(time.Time).Sub(a.(time.Time)) }

func (s *stream) Wait() error { return nil }

func (s *stream) Close() error {
	s.close()
	return nil
}

// Loop returns the stream's loop: it calls f(0) to f(n-1), some of them at the same time.
func Loop(s kernels.Stream) Parallel { return s.(*stream).loop }

// smallWork is how many bytes to move or compute are not worth another worker: about two microseconds.
const smallWork = 32 << 10

// LoopOver is the stream's loop for work on so many bytes; little is done by the caller alone.
func LoopOver(s kernels.Stream, bytes int) Parallel {
	if bytes > smallWork {
		return Loop(s)
	}
	return alone
}

// alone is the loop of the caller by itself.
func alone(n int, f func(int)) {
	for i := range n {
		f(i)
	}
}
