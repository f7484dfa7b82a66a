package work

import (
	"sync"
	"sync/atomic"

	"github.com/trtui/trtui/kernels"
)

// Parallel runs f(0) ... f(n-1), possibly at the same time, and returns when all have returned.
type Parallel func(n int, f func(i int))

// Job is a computation in numbered units. C is the state of one run: operands, and what all of its units share. A job is made
// once; several runs of it may go on at the same time, and running allocates nothing.
type Job[C any] struct {
	runs sync.Pool // *jobRun[C]
}

// jobRun is one run. Each worker has a share of units that follow each other, so that what it reads of the layer before is mostly
// what it has written itself and has in its caches. Units are taken one by one, and who has done a share goes on with the next
// worker's, so that a worker which the system holds up delays no other.
type jobRun[C any] struct {
	state  C
	shares []share
	take   func(worker int) // does units until there are none
	one    func(unit int)   // does a unit
}

// share is a worker's units, in a cache line of its own.
type share struct {
	next atomic.Int64
	end  int64
	_    [48]byte
}

// NewJob returns the job whose units do does.
func NewJob[C any](do func(run *C, unit, worker int)) *Job[C] {
	j := &Job[C]{}
	j.runs.New = func() any {
		r := &jobRun[C]{}
		r.one = func(unit int) { do(&r.state, unit, 0) }
		r.take = func(worker int) {
			for i := range r.shares {
				s := &r.shares[(worker+i)%len(r.shares)]
				for {
					unit := s.next.Add(1) - 1
					if unit >= s.end {
						break
					}
					do(&r.state, int(unit), worker)
				}
			}
		}
		return r
	}
	return j
}

// Run does units 0 to units-1 by so many workers at most, each with a number of its own, and returns when all are done.
func (j *Job[C]) Run(parallel Parallel, workers, units int, state C) {
	j.run(parallel, workers, units, workers, state)
}

// InOrder is Run with units handed out in order, as those of a Taper must be.
func (j *Job[C]) InOrder(parallel Parallel, workers, units int, state C) {
	j.run(parallel, workers, units, 1, state)
}

func (j *Job[C]) run(parallel Parallel, workers, units, shares int, state C) {
	workers = min(workers, units)
	if workers < 1 {
		return
	}
	r := j.runs.Get().(*jobRun[C])
	r.state = state
	r.split(min(shares, workers), units)
	parallel(workers, r.take)
	j.end(r)
}

// split divides the units into so many shares.
func (r *jobRun[C]) split(shares, units int) {
	if cap(r.shares) < shares {
		r.shares = make([]share, shares)
	}
	r.shares = r.shares[:shares]
	for i := range r.shares {
		r.shares[i].next.Store(int64(i * units / shares))
		r.shares[i].end = int64((i + 1) * units / shares)
	}
}

// Each does units 0 to units-1, which do not ask who does them; the pool gives each worker some that follow each other.
func (j *Job[C]) Each(parallel Parallel, units int, state C) {
	r := j.runs.Get().(*jobRun[C])
	r.state = state
	parallel(units, r.one)
	j.end(r)
}

// end keeps a run for the next, without what it was about.
func (j *Job[C]) end(r *jobRun[C]) {
	var none C
	r.state = none
	j.runs.Put(r)
}

// Launcher is a Kernel that is a function.
type Launcher func(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error

func (f Launcher) Launch(s kernels.Stream, in, out []kernels.Mem, workspace kernels.Mem) error {
	return f(s, in, out, workspace)
}
