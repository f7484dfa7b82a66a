package advice

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// facts is a snapshot with what several rules ask of it.
type facts struct {
	*report.Snapshot
	steps     map[string]*report.LayerTiming // by name
	layers    map[string]*report.Layer       // of the engine
	makers    map[string]*report.Layer       // by the tensor that they make
	consumers map[string][]*report.Layer     // by the tensor that they read
	into      map[string]string              // the engine layer that a source layer became part of
	bytes     int64                          // moved by all steps
	flops     int64                          // of all steps
}

func newFacts(s *report.Snapshot) *facts {
	f := &facts{Snapshot: s, steps: map[string]*report.LayerTiming{}, layers: map[string]*report.Layer{},
		makers: map[string]*report.Layer{}, consumers: map[string][]*report.Layer{}, into: map[string]string{}}
	if s.Timings != nil {
		for i := range s.Timings.Layers {
			l := &s.Timings.Layers[i]
			f.steps[l.Name] = l
			f.bytes += l.Bytes
			f.flops += l.FLOPs
		}
	}
	if s.Passes != nil {
		for i := range s.Passes.Engine {
			l := &s.Passes.Engine[i]
			f.layers[l.Name] = l
			for _, t := range l.Outputs {
				f.makers[t.Name] = l
			}
			for _, name := range l.Inputs {
				f.consumers[name] = append(f.consumers[name], l)
			}
		}
		for _, e := range s.Passes.Ledger {
			if f.layers[e.Into] != nil {
				f.into[e.Layer] = e.Into
			}
		}
	}
	return f
}

// share returns the part of the layers' time that a step takes, and that time; 0 where it was not timed.
func (f *facts) share(name string) (float64, time.Duration) {
	if l := f.steps[name]; l != nil {
		return l.Share, l.Median
	}
	return 0, 0
}

// sumOf returns what the steps that are meant take together, how many they are, and the one that takes most.
func (f *facts) sumOf(meant func(*report.LayerTiming) bool) (sum report.LayerTiming, n int) {
	for i := range f.Timings.Layers {
		l := &f.Timings.Layers[i]
		if !meant(l) || l.Median == 0 {
			continue
		}
		n++
		if sum.Name == "" || l.Share > f.steps[sum.Name].Share {
			sum.Name = l.Name
		}
		sum.Median += l.Median
		sum.Share += l.Share
		sum.Bytes += l.Bytes
	}
	return sum, n
}

// isConversion reports whether layers of an op only change the type of numbers.
func isConversion(op string) bool {
	switch op {
	case "QuantizeLinear", "DequantizeLinear", "Cast":
		return true
	}
	return false
}

// short names a layer by its principal member.
func short(name string) string {
	first, more := report.Principal(name)
	return first + more
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// size writes bytes.
func size(n int64) string { return report.Bytes(n) }

// took writes a time.
func took(d time.Duration) string { return report.Duration(d) }

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func share(name string, v float64) report.Evidence {
	return report.Evidence{Name: name, Value: v, Unit: "share"}
}
func number(name string, v float64) report.Evidence { return report.Evidence{Name: name, Value: v} }
func times(name string, v float64) report.Evidence {
	return report.Evidence{Name: name, Value: v, Unit: "ratio"}
}
func bytes[T int | int64](name string, n T) report.Evidence {
	return report.Evidence{Name: name, Value: float64(n), Unit: "bytes"}
}
func duration(name string, d time.Duration) report.Evidence {
	return report.Evidence{Name: name, Value: d.Seconds() * 1e3, Unit: "ms"}
}
func decibels(name string, v float64) report.Evidence {
	return report.Evidence{Name: name, Value: v, Unit: "db"}
}
