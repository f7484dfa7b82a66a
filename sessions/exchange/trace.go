package exchange

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Trace writes the median inference as an event trace of Chrome, which Perfetto opens: a track of steps one behind the other, one for each
// lane of those that run side by side, one of the copies around them, and as a counter the bytes of the arena that are live. Times are microseconds.
func Trace(s *report.Snapshot) ([]byte, error) {
	t := s.Timings
	if t == nil || len(t.Layers) == 0 {
		return nil, errors.New("a trace is of times of layers, and there are none")
	}
	name := "trtui"
	if s.Model != nil {
		name += " " + s.Model.Name
	}
	const pid, steps, whole = 1, 1, 2
	events := []object{
		{{"ph", "M"}, {"pid", pid}, {"name", "process_name"}, {"args", object{{"name", name + " on " + s.Device.Backend}}}},
		{{"ph", "M"}, {"pid", pid}, {"tid", steps}, {"name", "thread_name"}, {"args", object{{"name", "steps"}}}},
	}
	slice := func(tid int, name, cat string, at, took time.Duration, args object) {
		events = append(events, object{{"ph", "X"}, {"pid", pid}, {"tid", tid}, {"name", name}, {"cat", cat}, {"ts", traceTime(at)}, {"dur", traceTime(took)}, {"args", args}})
	}
	begin := time.Duration(0)
	if i := t.Inference; i != nil && !i.InPlace {
		begin = i.H2D
		events = append(events, object{{"ph", "M"}, {"pid", pid}, {"tid", whole}, {"name", "thread_name"}, {"args", object{{"name", "inference"}}}})
		slice(whole, "H2D", "copy", 0, i.H2D, object{{"bytes", i.InputBytes}})
		slice(whole, "compute", "inference", i.H2D, i.Compute, nil)
		slice(whole, "D2H", "copy", i.H2D+i.Compute, i.D2H, object{{"bytes", i.OutputBytes}})
	}
	at := begin
	beside := newLaneTimes(t.Forks)
	for lane := range beside.lanes {
		events = append(events, object{{"ph", "M"}, {"pid", pid}, {"tid", whole + 1 + lane}, {"name", "thread_name"}, {"args", object{{"name", fmt.Sprintf("lane %d", lane+1)}}}})
	}
	for i, l := range t.Layers {
		tid, took := steps, l.Median
		at = beside.enter(l.Fork, at)
		if m := s.Memory; m != nil && len(m.Live) == len(t.Layers) {
			events = append(events, object{{"ph", "C"}, {"pid", pid}, {"name", "arena"}, {"ts", traceTime(at)}, {"args", object{{"live bytes", m.Live[i]}}}})
		}
		begins := at
		if l.Fork > 0 && l.Fork <= len(t.Forks) {
			tid = whole + l.Lane
			begins, took = beside.next(l.Name)
		}
		slice(tid, l.Name, l.Precision, begins, took, object{{"op", l.Op}, {"precision", l.Precision}, {"tactic", l.Tactic}, {"samples", l.Count},
			{"mean_us", micros(l.Mean)}, {"p99_us", micros(l.P99)}, {"flops", l.FLOPs}, {"bytes", l.Bytes}})
		if tid == steps {
			at += took
		}
	}
	at = beside.enter(0, at)
	if s.Memory != nil && len(s.Memory.Live) == len(t.Layers) {
		events = append(events, object{{"ph", "C"}, {"pid", pid}, {"name", "arena"}, {"ts", traceTime(at)}, {"args", object{{"live bytes", 0}}}})
	}
	return marshal(object{{"displayTimeUnit", "ns"}, {"traceEvents", events}})
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// traceTime returns microseconds that are the same whole nanoseconds whether a reader rounds or truncates them: Perfetto did either, and
// drops a slice that begins a nanosecond before the one ahead of it ends.
func traceTime(d time.Duration) float64 {
	v := micros(d)
	if time.Duration(v*1e3) < d {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v
}

// laneTimes says when the steps of forks begin, as if each lane began with its fork.
type laneTimes struct {
	forks []report.Fork
	lanes int           // of the fork that has most
	fork  int           // the present one, from 1 on; 0: none
	begin time.Duration // of the present one
}

func newLaneTimes(forks []report.Fork) *laneTimes {
	l := &laneTimes{forks: forks}
	for _, f := range forks {
		l.lanes = max(l.lanes, len(f.Lanes))
	}
	return l
}

// enter goes on to a fork, or behind the last one, and returns when that begins.
func (l *laneTimes) enter(fork int, at time.Duration) time.Duration {
	if fork > len(l.forks) || fork == l.fork {
		return at
	}
	if l.fork > 0 {
		f := &l.forks[l.fork-1]
		at = l.begin + f.Beside
		for _, lane := range f.Lanes { // whose steps may take longer as they were measured: what follows is not to begin in one
			end := l.begin
			for _, s := range lane {
				end += s.Median
			}
			at = max(at, end)
		}
	}
	l.fork, l.begin = fork, at
	return at
}

// next returns when a step of the present fork begins, and how long it takes.
func (l *laneTimes) next(step string) (begins, took time.Duration) {
	for _, lane := range l.forks[l.fork-1].Lanes {
		begins = l.begin
		for _, s := range lane {
			if s.Step == step {
				return begins, s.Median
			}
			begins += s.Median
		}
	}
	return l.begin, 0
}
