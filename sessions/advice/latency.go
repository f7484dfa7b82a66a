package advice

import (
	"fmt"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// unsteadyCV is the coefficient of variation over which trtexec calls a latency unstable.
const unsteadyCV = 0.025

// unsteady finds a latency that varies.
func unsteady(f *facts) []report.Finding {
	l := f.Timings.EndToEnd
	if f.Timings.Estimated || l.CV <= unsteadyCV || l.Count < 2 {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyMeasure,
		Text:     fmt.Sprintf("the latency varies by %s: median %s, 99th percentile %s, longest %s", percent(l.CV), took(l.Median), took(l.P99), took(l.Max)),
		Evidence: []report.Evidence{share("cv", l.CV), duration("median", l.Median), duration("p99", l.P99)}}}
}

// boundByWeights is the part of the moved bytes from which weights are what an inference waits for.
const boundByWeights = 0.75

// weightBound finds networks that spend their time reading weights, once for each item.
func weightBound(f *facts) []report.Finding {
	if f.bytes < 1<<20 || f.Timings.BatchItems > 1 || !openBatch(f.Model) {
		return nil
	}
	var weights int64
	largest, most := "", 0
	for i := range f.Passes.Engine {
		l := &f.Passes.Engine[i]
		weights += int64(l.Weights)
		if l.Weights > most {
			largest, most = l.Name, l.Weights
		}
	}
	part := float64(weights) / float64(f.bytes)
	if part < boundByWeights {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyBatch, Layer: largest, Bytes: weights,
		Text:     fmt.Sprintf("weights are %s of the %s that an item moves: a batch would read them once for all of its items", percent(min(part, 1)), size(f.bytes)),
		Evidence: []report.Evidence{share("weights", min(part, 1)), bytes("moved", f.bytes), bytes("weight_bytes", weights)}}}
}

// openBatch reports whether the first extent of the first input is open.
func openBatch(m *report.Model) bool {
	if len(m.Inputs) == 0 {
		return false
	}
	first, _, _ := strings.Cut(strings.Trim(m.Inputs[0].Dims, "[]"), ",")
	return strings.ContainsFunc(first, func(r rune) bool { return r < '0' || r > '9' })
}

// betweenLayers is the part of the latency from which what lies between layers is too much.
const betweenLayers = 0.2

// overhead finds latencies of which much is spent between layers.
func overhead(f *facts) []report.Finding {
	t := f.Timings
	if t.Estimated || t.Gap <= 0 || float64(t.Gap) < betweenLayers*float64(t.EndToEnd.Median) {
		return nil
	}
	part := float64(t.Gap) / float64(t.EndToEnd.Median)
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyBatch, Time: t.Gap,
		Text:     fmt.Sprintf("%s of the latency, %s, is between its %s: a larger batch would share that", percent(part), took(t.Gap), plural(len(t.Layers), "step")),
		Evidence: []report.Evidence{share("between", part), duration("gap", t.Gap), number("steps", float64(len(t.Layers)))}}}
}

// enqueueBound finds devices that wait for the host.
func enqueueBound(f *facts) []report.Finding {
	i := f.Timings.Inference
	if i == nil || i.InPlace || float64(i.Enqueue) <= report.EnqueueBound*float64(i.Compute) {
		return nil
	}
	return []report.Finding{{Severity: report.Warning, Remedy: report.RemedyBatch, Time: i.Enqueue,
		Text:     fmt.Sprintf("handing the work over takes %s, and the device computes for %s: more work an inference would keep it busy", took(i.Enqueue), took(i.Compute)),
		Evidence: []report.Evidence{duration("enqueue", i.Enqueue), duration("compute", i.Compute)}}}
}

// worthThreads is the latency from which work is worth sharing.
const worthThreads = time.Millisecond

// fewThreads finds processors of which most are left idle.
func fewThreads(f *facts) []report.Finding {
	d, median := f.Device, f.Timings.EndToEnd.Median
	if d.Threads == 0 || 2*d.Threads >= d.Processors || median < worthThreads {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyThreads,
		Text:     fmt.Sprintf("%s of %d processors compute; an inference takes %s", plural(d.Threads, "thread"), d.Processors, took(median)),
		Evidence: []report.Evidence{number("threads", float64(d.Threads)), number("processors", float64(d.Processors)), duration("median", median)}}}
}
