package exchange

import (
	"errors"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Trace writes the median inference as an event trace of Chrome, which Perfetto opens: a track of steps one behind the other, one of the
// copies around them, and as a counter the bytes of the arena that are live. Times are microseconds.
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
		events = append(events, object{{"ph", "X"}, {"pid", pid}, {"tid", tid}, {"name", name}, {"cat", cat}, {"ts", micros(at)}, {"dur", micros(took)}, {"args", args}})
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
	for i, l := range t.Layers {
		if m := s.Memory; m != nil && len(m.Live) == len(t.Layers) {
			events = append(events, object{{"ph", "C"}, {"pid", pid}, {"name", "arena"}, {"ts", micros(at)}, {"args", object{{"live bytes", m.Live[i]}}}})
		}
		slice(steps, l.Name, l.Precision, at, l.Median, object{{"op", l.Op}, {"precision", l.Precision}, {"tactic", l.Tactic}, {"samples", l.Count},
			{"mean_us", micros(l.Mean)}, {"p99_us", micros(l.P99)}, {"flops", l.FLOPs}, {"bytes", l.Bytes}})
		at += l.Median
	}
	if s.Memory != nil && len(s.Memory.Live) == len(t.Layers) {
		events = append(events, object{{"ph", "C"}, {"pid", pid}, {"name", "arena"}, {"ts", micros(at)}, {"args", object{{"live bytes", 0}}}})
	}
	return marshal(object{{"displayTimeUnit", "ns"}, {"traceEvents", events}})
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }
