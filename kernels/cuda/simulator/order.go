package simulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/kernels/cuda/driver"
)

// Order says when enqueued work is done. A driver promises no more than the order within a stream and what events and waits
// add: what needs more than that is right by luck, and every order but Eager takes the luck away.
type Order uint8

const (
	// Eager: before the call that enqueues it returns, so that what goes wrong is that call's error, and nothing is lost.
	Eager Order = iota
	// Late: when somebody waits for it, and of all work no more than the wait needs. A query that finds work does one piece
	// of it and says that it is not done.
	Late
	// Mixed: at moments drawn from Options.Seed, among all that streams and events allow.
	Mixed
)

// task is a node that was put into a stream.
type task struct {
	node
	call   string // that enqueued it
	stream *stream
	after  []*task // of other streams
	wait   *task   // among them: the record that it waits for
	runs   bool
	done   bool
	err    error         // of a call that waits for its own work; else the context's
	at     time.Duration // of its stream's clock, when it was done
	staged staged
	serial uint64 // in its stream, from 1
	seen   seen   // what it is ordered after
}

// name says what the task is, for a message.
func (t *task) name() string {
	what := t.call
	if t.what != "" {
		what += " " + t.what
	}
	return what + " in " + t.stream.name()
}

func (q *stream) name() string {
	if q.handle == 0 {
		return "the default stream"
	}
	return fmt.Sprintf("stream %#x", uintptr(q.handle))
}

// submit puts a node into a stream, and waits for it where that is the order.
func (s *Context) submit(call string, q *stream, n node) (*task, error) {
	t, err := s.push(call, q, n)
	if err != nil {
		return nil, err
	}
	if !s.eager(q) {
		s.stir()
		return t, s.gone(call)
	}
	if err := s.await(call, t); err != nil {
		return nil, err
	}
	return t, t.err
}

// push puts a node into a stream; the simulator is locked.
func (s *Context) push(call string, q *stream, n node) (*task, error) {
	if err := s.usable(call, n); err != nil {
		return nil, err
	}
	t := &task{node: n, call: call, stream: q}
	s.locate(t)
	if n.waits != nil {
		t.wait = n.waits.last
		s.follow(t, t.wait)
	}
	if n.records != nil {
		n.records.last = t
	}
	if s.Order != Eager {
		s.stage(t)
	}
	if len(q.pending) == 0 {
		s.busy = append(s.busy, q)
	}
	q.pending, q.last = append(q.pending, t), t
	return t, nil
}

// follow orders t, which was pushed last or is about to be, after other, which may be nil.
func (s *Context) follow(t, other *task) {
	if other == nil || other.stream == t.stream {
		return
	}
	if !other.done {
		t.after = append(t.after, other)
	}
	if s.Streams {
		for _, c := range []*seen{&t.seen, &t.stream.seen} {
			c.join(other.seen)
			c.reach(other.stream, other.serial)
		}
	}
}

// eager reports whether a call that enqueues work in q waits for it: a stream that is watched is one whose user wants to see
// the work proceed in the call.
func (s *Context) eager(q *stream) bool { return s.Order == Eager || q.ctx != nil }

// first is the task that has to run first for t to run; nil where it runs already. A task waits only for some that were
// enqueued before it, so that there is one: no wait can hang.
func (t *task) first() *task {
	for {
		h := t.stream.pending[0]
		i := slices.IndexFunc(h.after, func(o *task) bool { return !o.done })
		switch {
		case h.runs:
			return nil
		case i < 0:
			return h
		}
		t = h.after[i]
	}
}

// draw chooses one of the tasks that may run; nil if all of them do already.
func (s *Context) draw() *task {
	var can []*task
	for _, q := range s.busy {
		h := q.pending[0]
		if !h.runs && !slices.ContainsFunc(h.after, func(o *task) bool { return !o.done }) {
			can = append(can, h)
		}
	}
	if len(can) == 0 {
		return nil
	}
	return can[s.random.IntN(len(can))]
}

// stir lets some work be done where the order is mixed; the simulator is locked.
func (s *Context) stir() {
	if s.Order != Mixed {
		return
	}
	for range s.random.IntN(4) {
		if t := s.draw(); t != nil && s.lost == nil {
			s.step(t)
		}
	}
}

// await does work until t is done, or the context lost; the simulator is locked, but not while a task runs. t may be nil.
func (s *Context) await(call string, t *task) error {
	for t != nil && !t.done && s.lost == nil && !s.closed {
		x := (*task)(nil)
		if s.Order == Mixed {
			x = s.draw()
		} else {
			x = t.first()
		}
		if x == nil {
			s.changed.Wait() // for another goroutine, in which it runs
			continue
		}
		s.step(x)
	}
	return s.gone(call)
}

// wait is await for the host, which knows then that t is done.
func (s *Context) wait(call string, t *task) error {
	err := s.await(call, t)
	if err == nil {
		s.saw(t)
	}
	return err
}

// drain waits for all work that is enqueued now.
func (s *Context) drain(call string) error {
	for _, q := range slices.Clone(s.busy) {
		if err := s.await(call, q.last); err != nil {
			return err
		}
	}
	s.sawAll()
	return s.gone(call)
}

// step runs t, the first of its stream.
func (s *Context) step(t *task) {
	t.runs = true
	q := t.stream
	s.mu.Unlock()
	err := t.intact()
	if err == nil && t.run != nil {
		err = t.run(q)
	}
	s.mu.Lock()
	if err == nil {
		err = s.checkOverlap(t)
	}
	if t.wait != nil {
		q.clock = max(q.clock, t.wait.at)
	}
	t.done, t.runs, t.at = true, false, q.clock
	t.after, t.wait = nil, nil
	if q.pending = q.pending[1:]; len(q.pending) == 0 {
		q.pending = nil
		s.busy = slices.DeleteFunc(s.busy, func(o *stream) bool { return o == q })
	}
	if err != nil && s.eager(q) {
		t.err = err
	} else if err != nil {
		s.lose(&failure{result: resultOf(err), cause: fmt.Errorf("%s: %w", t.name(), err)})
	}
	s.changed.Broadcast()
}

// complete reports whether t, which may be nil, is done. Where it is not, one piece of work is: whoever asks again and again
// sees it done at last.
func (s *Context) complete(call string, t *task) (bool, error) {
	s.stir()
	if t == nil || t.done {
		s.saw(t)
		err := s.gone(call)
		return err == nil, err
	}
	if x := t.first(); x != nil {
		s.step(x)
	}
	return false, s.gone(call)
}

// pending returns the first task that is not done and for which f holds, or nil.
func (s *Context) pending(f func(*task) bool) *task {
	for _, q := range s.busy {
		for _, t := range q.pending {
			if f(t) {
				return t
			}
		}
	}
	return nil
}

// gone is the error of a call on a context that is closed or lost, or nil.
func (s *Context) gone(call string) error {
	if s.closed {
		return &driver.Error{Call: call, Result: driver.InvalidContext}
	}
	if s.lost != nil {
		return s.lost.of(call)
	}
	return nil
}
