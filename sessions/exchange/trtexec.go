package exchange

import (
	"fmt"
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

// statistics writes a latency as trtexec does.
func statistics(l report.Latency) string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%g ms", float64(d.Round(10*time.Nanosecond))/1e6) }
	return fmt.Sprintf("min = %s, max = %s, mean = %s, median = %s, percentile(90%%) = %s, percentile(95%%) = %s, percentile(99%%) = %s",
		ms(l.Min), ms(l.Max), ms(l.Mean), ms(l.Median), ms(l.P90), ms(l.P95), ms(l.P99))
}

// PerformanceSummary is trtexec's section of that name. Its latency is that of computing and of both copies.
func PerformanceSummary(t *report.Timings) Section {
	queries := Queries(t)
	of := func(part func(QueryTime) time.Duration) report.Latency { return latencyOf(durations(queries, part)) }
	latency, walltime := of(func(q QueryTime) time.Duration { return q.Duration }), time.Duration(0)
	if n := len(queries); n > 0 {
		walltime = max(t.Walltime, queries[n-1].End)
	}
	throughput := 0.0
	if walltime > 0 {
		throughput = float64(len(queries)) / walltime.Seconds()
	}
	s := Section{Heading: "Performance summary", Lines: []string{fmt.Sprintf("Throughput: %g qps", throughput), "Latency: " + statistics(latency)}}
	for _, part := range []struct {
		name string
		of   func(QueryTime) time.Duration
	}{
		{"Enqueue Time", func(q QueryTime) time.Duration { return q.Enqueue }}, {"H2D Latency", func(q QueryTime) time.Duration { return q.H2D }},
		{"GPU Compute Time", func(q QueryTime) time.Duration { return q.Compute }}, {"D2H Latency", func(q QueryTime) time.Duration { return q.D2H }},
	} {
		s.Lines = append(s.Lines, part.name+": "+statistics(of(part.of)))
	}
	compute := time.Duration(0)
	for _, q := range queries {
		compute += q.Compute
	}
	s.Lines = append(s.Lines, fmt.Sprintf("Total Host Walltime: %g s", walltime.Seconds()), fmt.Sprintf("Total GPU Compute Time: %g s", compute.Seconds()))
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
