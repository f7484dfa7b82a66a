package work

import (
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
)

// stream runs every launch before it returns.
type stream struct {
	loop    Parallel // of the pool, made once
	forks   *forks   // nil for a stream of a fork
	close   func()   // ends workers of its own
	strings *numeric.StringTable
}

// NewStream returns a stream over a pool's workers.
func NewStream(p *Pool) kernels.Stream { return newStream(p, func() {}) }

// newStream returns a stream over a pool's workers, and those of its forks, which have its strings.
func newStream(p *Pool, end func()) kernels.Stream {
	table := &numeric.StringTable{}
	return &stream{p.Run, newForks(p, table), end, table}
}

// NewOwnStream returns a stream with so many workers of its own, the caller's goroutine among them, which end with it.
func NewOwnStream(threads int) kernels.Stream {
	p := NewPool(threads)
	return newStream(p, p.Close)
}

func (s *stream) Record() kernels.Mark { return time.Now() }

func (s *stream) Elapsed(a, b kernels.Mark) time.Duration { return b.(time.Time).Sub(a.(time.Time)) }

func (s *stream) Wait() error { return nil }

func (s *stream) Strings() *numeric.StringTable { return s.strings }

func (s *stream) Close() error {
	s.close()
	return nil
}

// forks are the streams of what a stream runs side by side, made once: running allocates nothing.
type forks struct {
	pool    *Pool
	streams [maxLanes]*stream
	run     func(lane int, s kernels.Stream) // of the present fork
	lane    func(lane int)
}

func newForks(p *Pool, strings *numeric.StringTable) *forks {
	f := &forks{pool: p}
	for i := range f.streams {
		l := &p.lanes[i]
		f.streams[i] = &stream{loop: func(n int, call func(int)) { p.share(l, i, n, call) }, close: func() {}, strings: strings}
	}
	f.lane = func(lane int) { f.run(lane, f.streams[lane]) }
	return f
}

// Lanes is how many sequences of launches the stream runs side by side at most; 1 where there is nobody to share with.
func (s *stream) Lanes() int {
	if s.forks == nil || s.forks.pool.Threads <= 1 {
		return 1
	}
	return maxLanes
}

// Fork calls run for lanes 0 to n-1, each with a stream of its own, side by side where the workers are free.
func (s *stream) Fork(n int, run func(lane int, s kernels.Stream)) {
	if f := s.forks; f != nil {
		f.run = run
		forked := f.pool.Fork(n, f.lane)
		f.run = nil
		if forked {
			return
		}
	}
	for i := range n {
		run(i, s)
	}
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
