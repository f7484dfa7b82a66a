package work

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/trtui/trtui/core/graph"
)

// loop is one parallel loop at a time, whose calls workers share. claim holds the loop's number in its upper and the next call in
// its lower 32 bits, so that a late worker cannot take a call of a loop that it has not seen; f and n are read only by one who
// holds a call.
type loop struct {
	busy  sync.Mutex // held while a loop runs
	f     func(int)
	n     uint32
	claim atomic.Uint64
	limit atomic.Uint64 // claim's value when all calls are taken
	done  atomic.Int64
	fault atomic.Pointer[error]
}

// begin offers calls 0 to n-1 of f to whoever asks. busy is held.
func (l *loop) begin(n int, f func(int)) {
	l.f, l.n = f, uint32(n)
	l.done.Store(0)
	first := (l.claim.Load()>>32 + 1) << 32
	l.claim.Store(first | math.MaxUint32) // no call can be taken while the limit changes
	l.limit.Store(first + uint64(n))
	l.claim.Store(first)
}

// open reports whether there are calls that nobody has taken.
func (l *loop) open() bool { return l.claim.Load() < l.limit.Load() }

// call takes one call of the present loop and makes it; false if there is none.
func (l *loop) call() bool {
	for {
		c := l.claim.Load()
		if c >= l.limit.Load() {
			return false
		}
		if l.claim.CompareAndSwap(c, c+1) {
			l.guarded(int(uint32(c)))
			return true
		}
	}
}

func (l *loop) guarded(i int) {
	defer func() {
		if e := recover(); e != nil {
			err := graph.NewFault(e)
			l.fault.CompareAndSwap(nil, &err)
		}
		l.done.Add(1)
	}()
	l.f(i)
}

// finish makes the calls that are left and waits for those of others; whoever waits may do something else meanwhile, which
// reports whether there was anything to do. A panic in a call is raised again.
func (l *loop) finish(meanwhile func() bool) {
	for l.call() {
	}
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
