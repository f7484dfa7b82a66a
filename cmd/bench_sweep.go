package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
)

// Bounds of a sweep, and how long each of its points is measured where nothing else is said.
const (
	maxPoints       = 1024
	sweepDuration   = 200 * time.Millisecond
	sweepIterations = 10
	sweepWarmUp     = 50 * time.Millisecond
)

// parseSweep reads axes, as in "batch=1..64,seq=16..512:16,width=320": from one extent to another by doubling, or in steps, or a
// single one.
func parseSweep(text string) ([]report.SweepAxis, error) {
	var axes []report.SweepAxis
	points := 1
	for item := range strings.SplitSeq(text, ",") {
		name, values, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--sweep %q: want AXIS=LOW..HIGH or AXIS=LOW..HIGH:STEP, comma separated", item)
		}
		if slices.ContainsFunc(axes, func(a report.SweepAxis) bool { return a.Name == name }) {
			return nil, fmt.Errorf("--sweep: axis %s is there twice", name)
		}
		low, high, step, err := sweepRange(values)
		if err != nil {
			return nil, fmt.Errorf("--sweep %q: %w", item, err)
		}
		a := report.SweepAxis{Name: name, Values: report.Extents(low, high, step, maxPoints+1)}
		if points *= len(a.Values); points > maxPoints {
			return nil, fmt.Errorf("--sweep %q: more than %d points; choose larger steps", text, maxPoints)
		}
		axes = append(axes, a)
	}
	return axes, nil
}

// sweepRange reads "LOW..HIGH", "LOW..HIGH:STEP" or "N"; a step of 0 doubles.
func sweepRange(text string) (low, high, step int, err error) {
	number := func(word string) int {
		n, e := strconv.Atoi(word)
		if (e != nil || n < 1 || n > config.MaxExtent) && err == nil {
			err = fmt.Errorf("%q is not an extent of 1 to %d", word, config.MaxExtent)
		}
		return n
	}
	ends, by, stepped := strings.Cut(text, ":")
	first, last, ranged := strings.Cut(ends, "..")
	low = number(first)
	if high = low; ranged {
		high = number(last)
	}
	if stepped {
		step = number(by)
	}
	if err == nil && high < low {
		err = fmt.Errorf("%d is less than %d", high, low)
	}
	return low, high, step, err
}

// sweep measures a model over ranges of its extents.
func (b *benchFlags) sweep(ctx context.Context, stdout, stderr io.Writer, path string, p run.Profiling) error {
	o := b.modelFlags
	return o.with(path, stderr, func(at *place, r *sessions.Runner) error {
		cfg, err := o.configFor(at.model)
		if err != nil {
			return err
		}
		s, err := r.Sweep(ctx, cfg, sessions.Sweep{Axes: o.config.sweep, Limit: b.limit}, p)
		if err != nil {
			return err
		}
		head := r.Head(&cfg)
		if o.output.csv() {
			return writeCSV(stdout, exchange.SweepCSV, s)
		}
		if o.output.json() {
			return writeReport(stdout, head, s)
		}
		writeSweep(stdout, head, s)
		return nil
	})
}

// writeSweep prints a sweep as bars of throughput, a row for each point, and over two axes as a grid, too.
func writeSweep(w io.Writer, head report.Head, s *report.Sweep) {
	fmt.Fprintf(w, "%s, %s, on %s (%s)\n", head.Model.Name, head.Config.Precision, head.Device.Backend, head.Device.Device)
	var header []string
	for _, a := range s.Axes {
		header = append(header, ">"+a.Name)
	}
	several := slices.ContainsFunc(s.Points, func(p report.SweepPoint) bool { return p.Profile > 0 })
	if several {
		header = append(header, ">profile")
	}
	header = append(header, ">median ms", ">p99", ">items/s", "~", ">size", "")
	most := 0.0
	for _, p := range s.Points {
		most = max(most, p.Throughput)
	}
	var rows [][]string
	for _, p := range s.Points {
		var row []string
		for _, v := range p.Values {
			row = append(row, strconv.Itoa(v))
		}
		if several {
			row = append(row, strconv.Itoa(p.Profile))
		}
		mark := ""
		switch {
		case p.Best:
			mark = s.Marked()
		case p.Alike:
			mark = "not told from the best"
		case !p.Within:
			mark = "over the limit"
		}
		if p.Latency.Unstable() && !s.Estimated {
			mark = strings.TrimPrefix(mark+fmt.Sprintf(", unstable: CV %.1f %%", 100*p.Latency.CV), ", ")
		}
		rows = append(rows, append(row, ms(p.Latency.Median), ms(p.Latency.P99), fmt.Sprintf("%.1f", p.Throughput), bar(p.Throughput/max(most, 1e-9), 30), bytesText(p.MemoryBytes), mark))
	}
	writeTable(w, header, rows)
	held := 0
	for _, p := range s.Points {
		held = max(held, p.HeldBytes/max(1, p.Contexts))
	}
	if slices.ContainsFunc(s.Points, func(p report.SweepPoint) bool { return p.Threads > 0 }) {
		fmt.Fprintf(w, "contexts run at the same time, each on its share of %s; items/s are those of all over the time that they took\n", count(head.Device.Threads, "thread"))
	} else {
		fmt.Fprintln(w, "items/s are those of the median latency, which is what a limit is of")
	}
	fmt.Fprintf(w, "one context holds %s for activations, inputs and outputs\n", bytesText(held))
	if rest := report.RestText(s.Rest); rest != "" {
		fmt.Fprintf(w, "the other axes: %s\n", rest)
	}
	if s.Estimated {
		fmt.Fprintln(w, "times are estimates, computed from what the simulator counted; nothing was measured")
	}
	writeGrid(w, s)
	fmt.Fprintln(w, bestText(s))
}

// writeGrid prints the medians of a sweep over two axes, those of the first down and of the second across.
func writeGrid(w io.Writer, s *report.Sweep) {
	if len(s.Axes) != 2 || len(s.Axes[0].Values) < 2 || len(s.Axes[1].Values) < 2 {
		return
	}
	down, across := s.Axes[0], s.Axes[1]
	header := []string{">" + down.Name}
	for _, v := range across.Values {
		header = append(header, ">"+strconv.Itoa(v))
	}
	var rows [][]string
	for _, v := range down.Values {
		row := []string{strconv.Itoa(v)}
		for _, u := range across.Values {
			row = append(row, gridText(s.At(v, u)))
		}
		rows = append(rows, row)
	}
	legend := fmt.Sprintf("median ms, %s down and %s across", down.Name, across.Name)
	if slices.ContainsFunc(s.Points, func(p report.SweepPoint) bool { return p.Best }) {
		legend += "; * " + s.Marked()
	}
	if slices.ContainsFunc(s.Points, func(p report.SweepPoint) bool { return !p.Within }) {
		legend += "; in brackets: over the limit"
	}
	fmt.Fprintln(w, legend)
	writeTable(w, header, rows)
}

// gridText writes the median of a point.
func gridText(p *report.SweepPoint) string {
	switch {
	case p == nil:
		return ""
	case p.Best:
		return "*" + ms(p.Latency.Median)
	case !p.Within:
		return "(" + ms(p.Latency.Median) + ")"
	}
	return ms(p.Latency.Median)
}

// bestText says which point is to be chosen, or where there are several, of what they are.
func bestText(s *report.Sweep) string {
	var best []report.SweepPoint
	for _, p := range s.Points {
		if p.Best {
			best = append(best, p)
		}
	}
	within := ""
	if s.LatencyLimit > 0 {
		within = fmt.Sprintf(" within %s ms", ms(s.LatencyLimit))
	}
	switch {
	case s.LatencyLimit > 0 && len(best) == 0:
		return fmt.Sprintf("no point has a median latency of %s ms or less", ms(s.LatencyLimit))
	case len(best) == 0:
		return "no axis counts items: --latency-limit marks the largest extents that keep to a latency"
	case !s.Counts():
		return fmt.Sprintf("largest%s: %s, %s ms", within, pointText(s, best[0]), ms(best[0].Latency.Median))
	case len(best) == 1:
		text := fmt.Sprintf("best%s: %s, %.1f items/s", within, pointText(s, best[0]), best[0].Throughput)
		var alike []string
		for _, p := range s.Points {
			if p.Alike {
				alike = append(alike, pointText(s, p))
			}
		}
		if len(alike) > 0 {
			text += "; not told from noise: " + strings.Join(alike, "; ")
		}
		return text
	}
	return fmt.Sprintf("best%s: the most items/s at each size of item", within)
}

// pointText writes where a point is, as in "batch=8, seq=128".
func pointText(s *report.Sweep, p report.SweepPoint) string {
	var parts []string
	for k, a := range s.Axes {
		parts = append(parts, fmt.Sprintf("%s=%d", a.Name, p.Values[k]))
	}
	return strings.Join(parts, ", ")
}
