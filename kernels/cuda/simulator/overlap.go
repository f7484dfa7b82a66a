package simulator

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// Work of several streams that uses the same memory, one piece of it writing, must be ordered: by the stream, by an event that
// one waits for, by a launch of the same graph before, or by the host, which waited for the one before it enqueued the other.
// What comes before what is known by vector clocks, over streams; the host has a clock of its own, since whatever goroutine
// waits, what any enqueues afterwards comes after.

// seen is how far each stream had come, by the serials of its tasks.
type seen map[*stream]uint64

func (a *seen) join(b seen) {
	for q, n := range b {
		a.reach(q, n)
	}
}

func (a *seen) reach(q *stream, n uint64) {
	if *a == nil {
		*a = seen{}
	}
	(*a)[q] = max((*a)[q], n)
}

// hostSpace is set in the addresses of the host's memory.
const hostSpace = 1 << 63

// trace is what a task did that is done, kept as long as something may come that is not ordered after it.
type trace struct {
	name          string
	stream        *stream
	serial        uint64
	reads, writes []ptxsim.Range // in order
}

// maxTraceRanges bounds the ranges of all traces: beyond, the oldest are forgotten.
const maxTraceRanges = 1 << 20

// locate gives t, which is about to be pushed, its place in the order of things.
func (s *Context) locate(t *task) {
	q := t.stream
	q.serial++
	t.serial = q.serial
	if s.Streams {
		q.seen.join(s.waited)
		t.seen = maps.Clone(q.seen)
	}
}

// saw notes that the host has waited for t, which may be nil.
func (s *Context) saw(t *task) {
	if t == nil || !s.Streams {
		return
	}
	s.waited.join(t.seen)
	s.waited.reach(t.stream, t.serial)
	s.forget()
}

// sawAll notes that the host has waited for everything.
func (s *Context) sawAll() {
	for _, o := range s.traces {
		s.waited.reach(o.stream, o.serial)
	}
	s.forget()
}

// forget drops the traces that all work to come is ordered after, and all clocks where that leaves none.
func (s *Context) forget() {
	s.traces = slices.DeleteFunc(s.traces, func(o *trace) bool {
		return s.waited[o.stream] >= o.serial && s.pending(func(t *task) bool { return t.stream != o.stream && t.seen[o.stream] < o.serial }) == nil
	})
	if len(s.traces) > 0 || len(s.busy) > 0 {
		return
	}
	s.waited, s.defaultStream.seen = nil, nil
	for _, h := range s.handles {
		if q, ok := h.(*stream); ok {
			q.seen = nil
		}
	}
}

// checkOverlap holds t, which has just run, against what is done and not ordered before it. The simulator is locked.
func (s *Context) checkOverlap(t *task) error {
	if !s.Streams {
		return nil
	}
	now := &trace{t.name(), t.stream, t.serial, slices.Concat(t.reads, t.stream.reads), slices.Concat(t.writes, t.stream.writes)}
	t.stream.reads, t.stream.writes = nil, nil
	if len(t.from) > 0 {
		now.reads = append(now.reads, hostRange(t.from))
	}
	if len(t.to) > 0 {
		now.writes = append(now.writes, hostRange(t.to))
	}
	if len(now.reads)+len(now.writes) == 0 {
		return nil
	}
	total := len(now.reads) + len(now.writes)
	for _, o := range s.traces {
		total += len(o.reads) + len(o.writes)
		if o.stream == t.stream || t.seen[o.stream] >= o.serial {
			continue
		}
		if err := now.against(o); err != nil {
			return err
		}
	}
	s.traces = append(s.traces, now)
	for ; total > maxTraceRanges && len(s.traces) > 1; s.traces = s.traces[1:] {
		total -= len(s.traces[0].reads) + len(s.traces[0].writes)
	}
	return nil
}

func hostRange(b []byte) ptxsim.Range {
	r := spanOf(b)
	return ptxsim.Range{From: r.From | hostSpace, To: r.To | hostSpace}
}

// against is the error of two pieces of work that nothing orders and that use the same memory.
func (now *trace) against(o *trace) error {
	for _, c := range []struct {
		mine, its []ptxsim.Range
		does, did string
	}{{now.writes, o.writes, "writes", "wrote"}, {now.writes, o.reads, "writes", "read"}, {now.reads, o.writes, "reads", "wrote"}} {
		if r, ok := common(c.mine, c.its); ok {
			where := "device memory"
			if r.From&hostSpace != 0 {
				where = "host memory"
			}
			return fmt.Errorf("race: it %s %d bytes of %s at %#x, which %s %s, with nothing that orders the two", c.does, r.To-r.From, where, r.From&^hostSpace, o.name, c.did)
		}
	}
	return nil
}

// common returns the first addresses that two ordered lists share.
func common(a, b []ptxsim.Range) (ptxsim.Range, bool) {
	for len(a) > 0 && len(b) > 0 {
		r := ptxsim.Range{From: max(a[0].From, b[0].From), To: min(a[0].To, b[0].To)}
		if r.From < r.To {
			return r, true
		}
		if a[0].To < b[0].To {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return ptxsim.Range{}, false
}
