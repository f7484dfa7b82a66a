package trtui

import (
	"context"
	"fmt"
	"maps"

	"github.com/trtui/trtui/core/run"
)

// The errors of a [Pool] that takes no inference, to be tested for with errors.Is.
var (
	ErrFull   = run.ErrFull
	ErrClosed = run.ErrClosed
)

// PoolOptions say how a pool runs.
type PoolOptions struct {
	// Sessions is how many inferences run at the same time; 0 is one for each of the device's threads, or two on a device
	// that does not compute with threads of the host.
	Sessions int
	// Threads is how many threads each session has of its own; 0 is an even share of the device's, one at least.
	Threads int
	// Queue is how many inferences may wait for a session; 0 is 1024.
	Queue int
}

// Pool runs inferences of an engine that come from many goroutines on a few sessions, the most urgent first. On a GPU each
// session has a stream of its own; on the CPU a share of the threads. It is safe for concurrent use.
type Pool struct {
	pool     *run.Pool
	sessions []*Session
}

// NewPool opens the sessions; where the device has not the memory for all of them, the error is a [*NoRoom].
func (e *Engine) NewPool(o PoolOptions) (*Pool, error) {
	threads := e.backend.Info().Threads
	if o.Sessions == 0 {
		if o.Sessions = threads; threads == 0 {
			o.Sessions = 2
		}
	}
	if o.Queue == 0 {
		o.Queue = 1024
	}
	if err := run.CheckPool(o.Sessions, o.Queue); err != nil {
		return nil, err
	}
	if o.Threads == 0 {
		o.Threads = max(1, threads/o.Sessions)
	}
	p := &Pool{}
	for range o.Sessions {
		s, err := e.NewSession(SessionOptions{Threads: o.Threads})
		if err != nil {
			_ = p.close() // the first error tells all
			return nil, fmt.Errorf("session %d of %d: %w", len(p.sessions)+1, o.Sessions, err)
		}
		p.sessions = append(p.sessions, s)
	}
	p.pool = run.NewPool(o.Sessions, o.Queue)
	return p, nil
}

// Inference is what a pool is asked for beside the inputs.
type Inference struct {
	// Priority: an inference of a higher one begins before those of lower ones that wait; 0 is the usual one.
	Priority int
	// Into is memory for the outputs, as [Session.RunInto] takes it; nil is new memory.
	Into Outputs
	// Done, if not nil, is called on a goroutine of the pool when the inference has ended, with its outputs or its error. It is
	// to return soon, since a session waits for it, and may call Submit, but not Close.
	Done func(Outputs, error)
}

// Ticket is an inference that a pool has taken.
type Ticket struct {
	ticket  *run.Ticket
	outputs Outputs
}

// Submit queues an inference and returns. The caller must not touch the memory of the inputs, and of the outputs where it
// gives that, until it has ended. It ends with ctx, also while it waits. The error is [ErrFull] or [ErrClosed].
func (p *Pool) Submit(ctx context.Context, in Inputs, o Inference) (*Ticket, error) {
	t := &Ticket{}
	job := run.Job{Priority: o.Priority, Do: func(ctx context.Context, worker int) (err error) {
		if o.Into == nil {
			t.outputs, err = p.sessions[worker].Run(ctx, in)
			return err
		}
		t.outputs = maps.Clone(o.Into)
		return p.sessions[worker].RunInto(ctx, in, o.Into)
	}}
	if o.Done != nil {
		job.Done = func(err error) { o.Done(t.result(err)) }
	}
	ticket, err := p.pool.Submit(ctx, job)
	if err != nil {
		return nil, err
	}
	t.ticket = ticket
	return t, nil
}

// Run is Submit at the usual priority, and Wait.
func (p *Pool) Run(ctx context.Context, in Inputs) (Outputs, error) {
	t, err := p.Submit(ctx, in, Inference{})
	if err != nil {
		return nil, err
	}
	return t.Wait()
}

// Waiting returns how many inferences wait for a session.
func (p *Pool) Waiting() int { return p.pool.Waiting() }

// Done is closed when the inference has ended.
func (t *Ticket) Done() <-chan struct{} { return t.ticket.Done() }

// Wait waits for the end of the inference, and returns its outputs or its error.
func (t *Ticket) Wait() (Outputs, error) { return t.result(t.ticket.Wait()) }

func (t *Ticket) result(err error) (Outputs, error) {
	if err != nil {
		return nil, err
	}
	return t.outputs, nil
}

// Close ends the inferences that wait with [ErrClosed], waits for those that run, and closes the sessions.
func (p *Pool) Close() error {
	p.pool.Close()
	return p.close()
}

func (p *Pool) close() (err error) {
	for _, s := range p.sessions {
		if e := s.Close(); err == nil {
			err = e
		}
	}
	return err
}
