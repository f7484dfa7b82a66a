package budget

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// metric is a figure that a budget can limit.
type metric struct {
	name   string
	unit   string // as in report.CheckRow
	least  bool   // more is better
	needs  report.Parts
	doc    string
	of     func(*Measured) (float64, bool)
	what   func(*Measured) string     // what was measured, where that is to be said; nil: its name says it
	rounds func(report.Round) float64 // of times: the figure of one round, in ns
}

// Measured is what is known of an engine.
type Measured struct {
	*report.Snapshot
	EngineBytes int    // of its file; 0: not known
	EngineFile  string // which file that is
}

// metrics returns all there are, in the order of documents.
func metrics() []metric {
	const times, score, overview = report.PartTimings, report.PartScore, report.PartOverview
	p50, p99 := func(r report.Round) float64 { return float64(r.Median) }, func(r report.Round) float64 { return float64(r.P99) }
	return []metric{
		{name: "latency_p50", unit: "ms", needs: times, doc: "median latency", rounds: p50,
			of: latency(func(l report.Latency) time.Duration { return l.Median })},
		{name: "latency_p99", unit: "ms", needs: times, doc: "99th percentile of the latency", rounds: p99,
			of: latency(func(l report.Latency) time.Duration { return l.P99 })},
		{name: "top1", unit: "share", least: true, needs: score, doc: "share of right answers", of: label(func(l report.LabelAccuracy) float64 { return l.Top1 })},
		{name: "top5", unit: "share", least: true, needs: score, doc: "share of answers right among five", of: label(func(l report.LabelAccuracy) float64 { return l.Top5 })},
		{name: "agreement", unit: "share", least: true, needs: score, doc: "share of answers that are FP32's", of: label(func(l report.LabelAccuracy) float64 { return l.Agreement })},
		{name: "map", unit: "share", least: true, needs: score, doc: "mean average precision of boxes", of: boxes(func(d *report.Detection) float64 { return d.MAP })},
		{name: "map50", unit: "share", least: true, needs: score, doc: "the same at an overlap of a half", of: boxes(func(d *report.Detection) float64 { return d.MAP50 })},
		{name: "perplexity", unit: "ratio", needs: score, doc: "perplexity of a text", of: perplexity},
		{name: "cosine", unit: "ratio", least: true, needs: score, doc: "least cosine of an output and FP32's", of: cosine},
		{name: "sqnr", unit: "db", least: true, needs: score, doc: "least signal-to-noise ratio of an output against FP32", of: sqnr},
		{name: "arena", unit: "bytes", needs: report.PartMemory, doc: "peak of activations", of: memory(func(m report.MemoryNumbers) int { return m.Peak })},
		{name: "workspace", unit: "bytes", needs: report.PartMemory, doc: "scratch memory", of: memory(func(m report.MemoryNumbers) int { return m.Workspace })},
		{name: "weights", unit: "bytes", needs: report.PartMemory, doc: "weights as they are loaded", of: memory(func(m report.MemoryNumbers) int { return m.Weights })},
		{name: "engine_file", unit: "bytes", doc: "size of the engine's file, or of the one that a build writes", of: func(m *Measured) (float64, bool) { return float64(m.EngineBytes), m.EngineBytes > 0 },
			what: func(m *Measured) string { return m.EngineFile }},
		{name: "engine_layers", needs: overview, doc: "layers after all passes", of: counts(func(c report.Counts) int { return c.Engine })},
		{name: "launches", needs: overview, doc: "steps that launch something", of: counts(func(c report.Counts) int { return c.Launches })},
		{name: "reformats", needs: overview, doc: "changes of layout between layers", of: counts(func(c report.Counts) int { return c.Reformats })},
	}
}

// rounds returns those of the measurement, nil where it had none.
func (m *Measured) rounds() []report.Round {
	if m == nil || m.Timings == nil {
		return nil
	}
	return m.Timings.Rounds
}

// Names returns what a budget can limit.
func Names() (names []string) {
	for _, m := range metrics() {
		names = append(names, m.name)
	}
	return names
}

// named returns a metric by its name, nil if there is none.
func named(name string) *metric {
	for _, m := range metrics() {
		if m.name == name {
			return &m
		}
	}
	return nil
}

func latency(of func(report.Latency) time.Duration) func(*Measured) (float64, bool) {
	return func(m *Measured) (float64, bool) {
		if m.Timings == nil || m.Timings.EndToEnd.Count == 0 {
			return 0, false
		}
		return float64(of(m.Timings.EndToEnd)) / float64(time.Millisecond), true
	}
}

func label(of func(report.LabelAccuracy) float64) func(*Measured) (float64, bool) {
	return func(m *Measured) (float64, bool) {
		if m.Accuracy == nil || of(m.Accuracy.Labels) < 0 {
			return 0, false
		}
		return of(m.Accuracy.Labels), true
	}
}

func boxes(of func(*report.Detection) float64) func(*Measured) (float64, bool) {
	return func(m *Measured) (float64, bool) {
		if m.Accuracy == nil || m.Accuracy.Labels.Detection == nil {
			return 0, false
		}
		return of(m.Accuracy.Labels.Detection), true
	}
}

func perplexity(m *Measured) (float64, bool) {
	if m.Accuracy == nil || m.Accuracy.Labels.Perplexity == nil {
		return 0, false
	}
	return *m.Accuracy.Labels.Perplexity, true
}

func cosine(m *Measured) (float64, bool) {
	return leastOfOutputs(m, func(o *report.OutputError) float64 { return o.Cosine })
}

func sqnr(m *Measured) (float64, bool) {
	return leastOfOutputs(m, func(o *report.OutputError) float64 { return o.SQNR })
}

// leastOfOutputs is not known where an output cannot be compared on any item: it may be the worst.
func leastOfOutputs(m *Measured, of func(*report.OutputError) float64) (float64, bool) {
	if m.Accuracy == nil || len(m.Accuracy.Outputs) == 0 {
		return 0, false
	}
	for _, u := range m.Accuracy.Unlike {
		if u.Items == u.OfItems {
			return 0, false
		}
	}
	least := math.Inf(1)
	for i := range m.Accuracy.Outputs {
		least = min(least, of(&m.Accuracy.Outputs[i]))
	}
	return least, true
}

func memory(of func(report.MemoryNumbers) int) func(*Measured) (float64, bool) {
	return func(m *Measured) (float64, bool) {
		if m.Memory == nil {
			return 0, false
		}
		return float64(of(m.Memory.MemoryNumbers)), true
	}
}

func counts(of func(report.Counts) int) func(*Measured) (float64, bool) {
	return func(m *Measured) (float64, bool) {
		if m.Overview == nil || m.Overview.Steps == 0 {
			return 0, false
		}
		return float64(of(m.Overview.Counts)), true
	}
}

// Format writes a figure with its unit, as limits are written.
func Format(v float64, unit string) string {
	switch unit {
	case "ms":
		return fmt.Sprintf("%.4g ms", v)
	case "share":
		return fmt.Sprintf("%.4g %%", 100*v)
	case "db":
		if v >= report.MaxDB {
			return "exact"
		}
		return fmt.Sprintf("%.1f dB", v)
	case "ratio":
		return fmt.Sprintf("%.6g", v)
	case "bytes":
		return bytesText(v)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

func bytesText(v float64) string {
	switch {
	case v >= 1<<20:
		return fmt.Sprintf("%.2f MiB", v/(1<<20))
	case v >= 1<<10:
		return fmt.Sprintf("%.1f KiB", v/(1<<10))
	}
	return fmt.Sprintf("%.0f B", v)
}

// OfRounds is what the rounds of a measurement tell that may go on.
func OfRounds(rounds []report.Round) *Measured {
	return &Measured{Snapshot: &report.Snapshot{Timings: &report.Timings{EndToEnd: report.Latency{Count: 1}, Rounds: rounds}}}
}
