package cpu

import (
	"sync"
	"sync/atomic"
)

// job is a computation in numbered units. C is the state of one run: operands, and what all of its units share. A job is made
// once; several runs of it may go on at the same time, and running allocates nothing.
type job[C any] struct {
	runs sync.Pool // *jobRun[C]
}

// jobRun is one run: workers take units one by one, so that a worker which the system holds up delays no other.
type jobRun[C any] struct {
	state C
	next  atomic.Int64
	units int64
	take  func(worker int) // does units until there are none
	one   func(unit int)   // does a unit
}

// newJob returns the job whose units do does.
func newJob[C any](do func(run *C, unit, worker int)) *job[C] {
	j := &job[C]{}
	j.runs.New = func() any {
		r := &jobRun[C]{}
		r.one = func(unit int) { do(&r.state, unit, 0) }
		r.take = func(worker int) {
			for {
				unit := r.next.Add(1) - 1
				if unit >= r.units {
					return
				}
				do(&r.state, int(unit), worker)
			}
		}
		return r
	}
	return j
}

// run does units 0 to units-1 by so many workers at most, each with a number of its own, and returns when all are done. Units
// are handed out in order.
func (j *job[C]) run(parallel Parallel, workers, units int, state C) {
	workers = min(workers, units)
	if workers < 1 {
		return
	}
	r := j.runs.Get().(*jobRun[C])
	r.state, r.units = state, int64(units)
	r.next.Store(0)
	parallel(workers, r.take)
	j.end(r)
}

// each does units 0 to units-1, which do not ask who does them.
func (j *job[C]) each(parallel Parallel, units int, state C) {
	r := j.runs.Get().(*jobRun[C])
	r.state = state
	parallel(units, r.one)
	j.end(r)
}

// end keeps a run for the next, without what it was about.
func (j *job[C]) end(r *jobRun[C]) {
	var none C
	r.state = none
	j.runs.Put(r)
}
