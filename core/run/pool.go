package run

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/trtui/trtui/core/graph"
)

// The errors of pools.
var (
	ErrFull   = errors.New("as many inferences wait as the pool keeps; wait for one of them, or give the pool a longer queue")
	ErrClosed = errors.New("it is closed")
)

// Pool gives jobs, such as inferences, to a number of workers, each of which has what one job at a time needs, such as an
// execution context. The next job is the one of the highest priority, and of these the one that came first: one of low priority
// waits for as long as there are others. It is safe for concurrent use.
type Pool struct {
	lock    sync.Mutex
	wake    *sync.Cond // something is queued, or the pool closed
	queue   jobs
	depth   int
	count   uint64 // jobs that came
	closed  bool
	workers sync.WaitGroup
}

// Job is what a worker of a pool is to do.
type Job struct {
	Priority int // higher ones come first
	// Do is called with the worker's number, from 0, and the job's context, unless that has ended before.
	Do func(ctx context.Context, worker int) error
	// Done is called with Do's error, or with that of a job which never began, after [Ticket.Done] is closed; nil: not.
	Done func(error)
}

// Ticket is a job that was submitted.
type Ticket struct {
	job   Job
	ctx   context.Context
	stop  func() bool // stops waiting for ctx
	order uint64
	place int // in the queue; -1: it is not in there
	done  chan struct{}
	err   error
}

// NewPool starts so many workers; as many jobs as depth may wait beside those that run.
func NewPool(workers, depth int) *Pool {
	p := &Pool{depth: depth}
	p.wake = sync.NewCond(&p.lock)
	for i := range workers {
		p.workers.Go(func() { p.work(i) })
	}
	return p
}

// Submit queues a job and returns. A job whose ctx ends while it waits never begins, and has ctx's error. The error is ErrFull or
// ErrClosed.
func (p *Pool) Submit(ctx context.Context, j Job) (*Ticket, error) {
	t := &Ticket{job: j, ctx: ctx, done: make(chan struct{})}
	p.lock.Lock()
	defer p.lock.Unlock()
	switch {
	case p.closed:
		return nil, ErrClosed
	case len(p.queue) >= p.depth:
		return nil, ErrFull
	}
	t.order = p.count
	p.count++
	t.stop = context.AfterFunc(ctx, func() { p.withdraw(t, ctx.Err()) })
	heap.Push(&p.queue, t)
	p.wake.Signal()
	return t, nil
}

// withdraw ends a job that waits.
func (p *Pool) withdraw(t *Ticket, err error) {
	p.lock.Lock()
	waits := t.place >= 0
	if waits {
		heap.Remove(&p.queue, t.place)
	}
	p.lock.Unlock()
	if waits {
		t.end(err)
	}
}

// Waiting returns how many jobs wait.
func (p *Pool) Waiting() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.queue)
}

// Close ends the jobs that wait with ErrClosed, and waits for those that run. A job must not call it.
func (p *Pool) Close() {
	p.lock.Lock()
	p.closed = true
	waiting := p.queue
	p.queue = nil
	for _, t := range waiting {
		t.place = -1
	}
	p.wake.Broadcast()
	p.lock.Unlock()
	for _, t := range waiting {
		t.end(ErrClosed)
	}
	p.workers.Wait()
}

func (p *Pool) work(worker int) {
	for t := p.next(); t != nil; t = p.next() {
		t.end(t.do(worker))
	}
}

// next waits for a job; nil once the pool is closed.
func (p *Pool) next() *Ticket {
	p.lock.Lock()
	defer p.lock.Unlock()
	for len(p.queue) == 0 {
		if p.closed {
			return nil
		}
		p.wake.Wait()
	}
	return heap.Pop(&p.queue).(*Ticket)
}

// do runs the job; a panic is its error.
func (t *Ticket) do(worker int) (err error) {
	defer graph.CatchFault(&err)
	if err := t.ctx.Err(); err != nil {
		return err
	}
	return t.job.Do(t.ctx, worker)
}

// end tells that the job has ended.
func (t *Ticket) end(err error) {
	t.stop()
	t.err = err
	close(t.done)
	if t.job.Done == nil {
		return
	}
	t.job.Done(err)
}

// Done is closed when the job has ended.
func (t *Ticket) Done() <-chan struct{} { return t.done }

// Wait waits for the end of the job and returns its error.
func (t *Ticket) Wait() error {
	<-t.done
	return t.err
}

// CheckPool returns an error for numbers of workers and of jobs that wait which no pool has.
func CheckPool(workers, depth int) error {
	const most = 4096
	if workers < 1 || workers > most {
		return fmt.Errorf("a pool of %d; give a number from 1 to %d", workers, most)
	}
	if depth < 1 || depth > 1<<20 {
		return fmt.Errorf("a queue of %d; give a number from 1 to %d", depth, 1<<20)
	}
	return nil
}

// jobs is a heap of tickets whose first is the next.
type jobs []*Ticket

func (q jobs) Len() int { return len(q) }

func (q jobs) Less(i, j int) bool {
	if a, b := q[i].job.Priority, q[j].job.Priority; a != b {
		return a > b
	}
	return q[i].order < q[j].order
}

func (q jobs) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *jobs) Push(x any) {
	t := x.(*Ticket)
	t.place = len(*q)
	*q = append(*q, t)
}

func (q *jobs) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.place = -1
	return t
}
