package work

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/trtui/trtui/core/graph"
)

// loop is one parallel loop at a time, whose calls workers share. Each has a share of calls that follow each other and goes on with
// those of others, so that what it reads of the loop before is mostly what it has written itself. f and n are read only by one who
// holds a call.
type loop struct {
	busy   sync.Mutex // held while a loop runs
	f      func(int)
	n      uint32
	shares []claims
	done   atomic.Int64
	fault  atomic.Pointer[error]

	number    atomic.Uint64 // of the present loop
	exhausted atomic.Uint64 // of one whose calls are all taken
}

// claims is a worker's share, in a cache line of its own. next holds the loop's number in its upper and the next call in its lower 32
// bits, so that a late worker cannot take a call of a loop that it has not seen.
type claims struct {
	next  atomic.Uint64
	limit atomic.Uint64 // next's value when all calls are taken
	_     [48]byte
}

// begin offers calls 0 to n-1 of f to whoever asks. busy is held.
func (l *loop) begin(n int, f func(int)) {
	l.f, l.n = f, uint32(n)
	l.done.Store(0)
	number := l.number.Load() + 1
	for i := range l.shares {
		s, first := &l.shares[i], number<<32
		s.next.Store(first | math.MaxUint32) // no call can be taken while the limit changes
		s.limit.Store(first + uint64((i+1)*n/len(l.shares)))
		s.next.Store(first + uint64(i*n/len(l.shares)))
	}
	l.number.Store(number)
}

// open reports whether there are calls that nobody has taken.
func (l *loop) open() bool {
	number := l.number.Load()
	if number == l.exhausted.Load() {
		return false
	}
	for i := range l.shares {
		if s := &l.shares[i]; s.next.Load() < s.limit.Load() {
			return true
		}
	}
	l.exhausted.Store(number)
	return false
}

// calls makes calls of the present loop, of a worker's own share first, until there are none; false if there were none.
func (l *loop) calls(worker int) bool {
	made := int64(0)
	for l.open() {
		for i := range l.shares {
			s := &l.shares[(worker+i)%len(l.shares)]
			for c := s.next.Load(); c < s.limit.Load(); c = s.next.Load() {
				if s.next.CompareAndSwap(c, c+1) {
					l.guarded(int(uint32(c)))
					made++
				}
			}
		}
	}
	if made > 0 {
		l.done.Add(made) // at once: all workers share the counter
	}
	return made > 0
}

// guarded makes a call and keeps its panic.
func (l *loop) guarded(i int) {
	defer func() {
		if e := recover(); e != nil {
			err := graph.NewFault(e)
			l.fault.CompareAndSwap(nil, &err)
		}
	}()
	l.f(i)
}

// finish makes the calls that are left, as one of the workers, and waits for those of others; whoever waits may do something else
// meanwhile, which reports whether there was anything to do. A panic in a call is raised again.
func (l *loop) finish(worker int, meanwhile func() bool) {
	l.calls(worker)
	for i := 0; l.done.Load() != int64(l.n); i++ {
		switch {
		case meanwhile != nil && meanwhile():
			i = 0
		case i > spins:
			runtime.Gosched()
		}
	}
	l.f = nil
	if e := l.fault.Swap(nil); e != nil {
		panic(*e)
	}
}
