package work

import (
	"sync/atomic"
)

// Pool is a fixed set of workers that share the calls of one parallel loop at a time. Kernels are as short as ten
// microseconds, so a worker that has nothing to do first spins for about as long as the next loop takes to come, and
// only then sleeps.
//
// Sequences of loops that do not depend on each other may run side by side, each begun by a worker of its own (Fork): a worker
// that has none takes calls of the others' loops, so that none is idle while there is work.
type Pool struct {
	Threads int
	main    loop
	lanes   [maxLanes]loop // the loops of sequences that run side by side
	forked  atomic.Int32   // how many of these there are

	asleep atomic.Int32
	wake   chan struct{}
	closed atomic.Bool
}

const (
	// spins is how often a worker looks for a new loop before it sleeps: some 50 microseconds.
	spins = 20000
	// maxLanes is how many sequences run side by side at most.
	maxLanes = 16
)

func NewPool(threads int) *Pool {
	p := &Pool{Threads: threads, wake: make(chan struct{}, threads)}
	p.main.shares = make([]claims, threads)
	for i := range p.lanes {
		p.lanes[i].shares = make([]claims, threads)
	}
	for worker := 1; worker < threads; worker++ {
		go p.work(worker)
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
func (p *Pool) Run(n int, f func(int)) { p.share(&p.main, 0, n, f) }

// share is Run by one of the pool's loops, where the caller is one of the workers.
func (p *Pool) share(l *loop, worker, n int, f func(int)) {
	if n <= 1 || p.Threads <= 1 || !l.busy.TryLock() {
		alone(n, f)
		return
	}
	defer l.busy.Unlock()
	l.begin(n, f)
	p.rouse()
	l.finish(worker, nil)
}

// Fork calls f(0) to f(n-1), n being maxLanes at most, at the same time as far as there are workers, and returns when all have
// returned. What f runs as loops of its number is shared by workers that have nothing else to do. It does nothing, and returns
// false, where a loop runs already or there is nobody to share with.
func (p *Pool) Fork(n int, f func(lane int)) bool {
	if n <= 1 || p.Threads <= 1 || n > maxLanes || !p.main.busy.TryLock() {
		return false
	}
	defer p.main.busy.Unlock()
	p.forked.Store(int32(n))
	defer p.forked.Store(0)
	p.main.begin(n, f)
	p.rouse()
	p.main.finish(0, func() bool { return p.help(0) })
	return true
}

// rouse wakes the workers that sleep.
func (p *Pool) rouse() {
	for k := p.asleep.Load(); k > 0; k-- {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// help makes calls of sequences that other workers have begun; false if there are none.
func (p *Pool) help(worker int) bool {
	for i := range p.lanes[:p.forked.Load()] {
		if p.lanes[i].calls(worker) {
			return true
		}
	}
	return false
}

// open reports whether there are calls that nobody has taken.
func (p *Pool) open() bool {
	for i := range p.lanes[:p.forked.Load()] {
		if p.lanes[i].open() {
			return true
		}
	}
	return p.main.open()
}

func (p *Pool) work(worker int) {
	for idle := 0; ; idle++ {
		if p.main.calls(worker) || p.help(worker) {
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
		if !p.open() {
			<-p.wake
		}
		p.asleep.Add(-1)
		idle = 0
	}
}
