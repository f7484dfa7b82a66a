package exchange

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Section is a part of what trtexec prints: lines under a heading. TREx reads their keys and values.
type Section struct {
	Heading string
	Lines   []string
}

// LogLine writes a line as trtexec does: when, how grave ("I", "W", "E"), what.
func LogLine(now time.Time, grave, text string) string {
	return fmt.Sprintf("[%s] [%s] %s", now.Format("01/02/2006-15:04:05"), grave, text)
}

// Queries lays the inferences of a measurement out in time, each with the copies that separate inferences took in the median: for the
// file of times.
func Queries(t *report.Timings) (list []QueryTime) {
	var split report.InferenceSplit
	if t.Inference != nil {
		split = *t.Inference
	}
	at := time.Duration(0)
	for _, d := range t.Runs {
		q := QueryTime{Start: at, Enqueue: split.Enqueue, H2D: split.H2D, Compute: d, D2H: split.D2H}
		q.Duration = q.H2D + q.Compute + q.D2H
		q.End = at + q.Duration
		at = q.End
		list = append(list, q)
	}
	return list
}

// milliText writes a time as trtexec does.
func milliText(d time.Duration) string {
	return fmt.Sprintf("%g ms", float64(d.Round(10*time.Nanosecond))/1e6)
}

// statistics writes times as trtexec does, with these percentiles.
func statistics(times []time.Duration, percentiles []float64) string {
	l, sorted := latencyOf(times), slices.Sorted(slices.Values(times))
	text := fmt.Sprintf("min = %s, max = %s, mean = %s, median = %s", milliText(l.Min), milliText(l.Max), milliText(l.Mean), milliText(l.Median))
	for _, p := range percentiles {
		text += fmt.Sprintf(", percentile(%g%%) = %s", p, milliText(percentile(sorted, p/100)))
	}
	return text
}

// UsualPercentiles are those that trtexec reports where none are asked for.
func UsualPercentiles() []float64 { return []float64{90, 95, 99} }

// PerformanceSummary is trtexec's section of that name, with these percentiles. Its latency is that of computing and of both copies.
func PerformanceSummary(t *report.Timings, percentiles []float64) Section {
	queries, walltime := Queries(t), time.Duration(0)
	of := func(part func(QueryTime) time.Duration) string {
		return statistics(durations(queries, part), percentiles)
	}
	if n := len(queries); n > 0 {
		walltime = max(t.Walltime, queries[n-1].End)
	}
	throughput := 0.0
	if walltime > 0 {
		throughput = float64(len(queries)) / walltime.Seconds()
	}
	s := Section{Heading: "Performance summary", Lines: []string{fmt.Sprintf("Throughput: %g qps", throughput), "Latency: " + of(func(q QueryTime) time.Duration { return q.Duration })}}
	for _, part := range []struct {
		name string
		of   func(QueryTime) time.Duration
	}{
		{"Enqueue Time", func(q QueryTime) time.Duration { return q.Enqueue }}, {"H2D Latency", func(q QueryTime) time.Duration { return q.H2D }},
		{"GPU Compute Time", func(q QueryTime) time.Duration { return q.Compute }}, {"D2H Latency", func(q QueryTime) time.Duration { return q.D2H }},
	} {
		s.Lines = append(s.Lines, part.name+": "+of(part.of))
	}
	compute := time.Duration(0)
	for _, q := range queries {
		compute += q.Compute
	}
	s.Lines = append(s.Lines, fmt.Sprintf("Total Host Walltime: %g s", walltime.Seconds()), fmt.Sprintf("Total GPU Compute Time: %g s", compute.Seconds()))
	return s
}

// TraceSection is what trtexec --avgRuns prints: the mean times of so many inferences after each other, and of what is left of them.
func TraceSection(t *report.Timings, runs int) Section {
	s := Section{Heading: "Trace details", Lines: []string{fmt.Sprintf("Trace averages of %d runs:", runs)}}
	for list := range slices.Chunk(Queries(t), runs) {
		mean := func(part func(QueryTime) time.Duration) string {
			return milliText(latencyOf(durations(list, part)).Mean)
		}
		s.Lines = append(s.Lines, fmt.Sprintf("Average on %d runs - GPU latency: %s - Host latency: %s (enqueue %s)", len(list),
			mean(func(q QueryTime) time.Duration { return q.Compute }), mean(func(q QueryTime) time.Duration { return q.Duration }), mean(func(q QueryTime) time.Duration { return q.Enqueue })))
	}
	return s
}

// ProfileSection is the table of trtexec --dumpProfile.
func ProfileSection(t *report.Timings) Section {
	runs, sum := 0, 0.0
	for _, l := range t.Layers {
		runs = max(runs, l.Count)
		sum += float64(l.Mean)
	}
	s := Section{Heading: fmt.Sprintf("Profile (%d iterations )", runs), Lines: []string{"   Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer"}}
	total := report.LayerTiming{Name: "Total"}
	row := func(name string, mean, median time.Duration) {
		ms := float64(mean) / 1e6
		s.Lines = append(s.Lines, fmt.Sprintf("%11.2f %12.4f %12.4f %9.1f   %s", ms*float64(runs), ms, float64(median)/1e6, 100*float64(mean)/max(sum, 1), strings.ReplaceAll(name, "\n", " ")))
	}
	for _, l := range t.Layers {
		row(l.Name, l.Mean, l.Median)
		total.Mean += l.Mean
		total.Median += l.Median
	}
	row(total.Name, total.Mean, total.Median)
	return s
}
