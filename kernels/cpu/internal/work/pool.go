package work

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/trtui/trtui/core/graph"
)

// Pool is a fixed set of workers that share the calls of one parallel loop at a time. Kernels are as short as ten
// microseconds, so a worker that has nothing to do first spins for about as long as the next loop takes to come, and
// only then sleeps.
type Pool struct {
	Threads int
	busy    sync.Mutex // held while a loop runs

	// The present loop. claim holds the loop's number in its upper and the next call in its lower 32 bits, so that a
	// late worker cannot take a call of a loop that it has not seen; f and n are read only by one who holds a call.
	f     func(int)
	n     uint32
	claim atomic.Uint64
	limit atomic.Uint64 // claim's value when all calls are taken
	done  atomic.Int64
	fault atomic.Pointer[error]

	asleep atomic.Int32
	wake   chan struct{}
	closed atomic.Bool
}

// spins is how often a worker looks for a new loop before it sleeps: some 50 microseconds.
const spins = 20000

func NewPool(threads int) *Pool {
	p := &Pool{Threads: threads, wake: make(chan struct{}, threads)}
	for range threads - 1 {
		go p.work()
	}
	return p
}

// Close ends the workers; no loop may run.
func (p *Pool) Close() {
	p.closed.Store(true)
	for range p.Threads - 1 {
		select {
		case p.wake <- struct{}{}:
		default: // there are tokens enough for the sleepers already
		}
	}
}

// Run calls f(0) to f(n-1) and returns when all have returned. A loop inside a loop, and one that comes while another
// stream's runs, is done by the caller alone. A panic in f is raised again here, as a *graph.Fault, when every call has
// returned.
func (p *Pool) Run(n int, f func(int)) {
	if n <= 1 || p.Threads <= 1 || !p.busy.TryLock() {
		for i := range n {
			f(i)
		}
		return
	}
	defer p.busy.Unlock()
	p.f, p.n = f, uint32(n)
	p.done.Store(0)
	begin := (p.claim.Load()>>32 + 1) << 32
	p.claim.Store(begin | math.MaxUint32) // no call can be taken while the limit changes
	p.limit.Store(begin + uint64(n))
	p.claim.Store(begin)
	for k := p.asleep.Load(); k > 0; k-- {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	for p.call() {
	}
	for i := 0; p.done.Load() != int64(n); i++ {
		if i > spins {
			runtime.Gosched()
		}
	}
	p.f = nil
	if e := p.fault.Swap(nil); e != nil {
		panic(*e)
	}
}

// call takes one call of the present loop and makes it; false if there is none.
func (p *Pool) call() bool {
	for {
		c := p.claim.Load()
		if c >= p.limit.Load() {
			return false
		}
		if p.claim.CompareAndSwap(c, c+1) {
			p.guarded(int(uint32(c)))
			return true
		}
	}
}

func (p *Pool) guarded(i int) {
	defer func() {
		if e := recover(); e != nil {
			err := graph.NewFault(e)
			p.fault.CompareAndSwap(nil, &err)
		}
		p.done.Add(1)
	}()
	p.f(i)
}

func (p *Pool) work() {
	for idle := 0; ; idle++ {
		if p.call() {
			idle = 0
			continue
		}
		if p.closed.Load() {
			return
		}
		if idle < spins {
			continue
		}
		p.asleep.Add(1)
		if p.claim.Load() >= p.limit.Load() {
			<-p.wake
		}
		p.asleep.Add(-1)
		idle = 0
	}
}
