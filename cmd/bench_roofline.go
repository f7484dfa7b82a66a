package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/timings"
)

// rooflineOutput is the JSON of trtui bench --roofline.
type rooflineOutput struct {
	Latency  report.Latency
	Roofline *report.Roofline
	Bounds   []report.BoundTime
	Layers   []report.LayerTiming
}

// underRoofline measures the layers, or takes those of a recording, and where they stand under what the device reaches at most.
func (b *benchFlags) underRoofline(ctx context.Context, stdout, stderr io.Writer, path string, p run.Profiling) error {
	o := b.modelFlags
	o.peaks = true
	x := parseOperand(path)
	kind, err := kindOf([]string{x.path})
	if err != nil {
		return err
	}
	var snap *report.Snapshot
	if kind == recordedFile {
		snap, err = b.recordedRoofline(ctx, stderr, x)
	} else {
		snap, err = o.report(ctx, stderr, path, report.PartOverview|report.PartTimings, p)
	}
	if err != nil {
		return err
	}
	t := snap.Timings
	if o.output.csv() {
		return writeCSV(stdout, exchange.LayersCSV, t)
	}
	if o.output.json() {
		return writeReport(stdout, snap.Head(), rooflineOutput{t.EndToEnd, t.Roofline, t.ByBound(), t.Layers})
	}
	writeLatency(stdout, snap)
	fmt.Fprintln(stdout)
	if t.Roofline.Last() == nil {
		writeNote(stdout, "no roofline: %s", timings.RooflineNote(t.Roofline))
		return nil
	}
	writePeaks(stdout, t.Roofline)
	look := ui.NewLook(ui.Options{NoColor: true})
	for line := range strings.SplitSeq(ansi.Strip(look.Render(100, 24, timings.Roofline(t, t.Layers, -1).Draw)), "\n") {
		fmt.Fprintln(stdout, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(stdout)
	writeBounds(stdout, t)
	writeStands(stdout, t)
	if note := timings.RooflineNote(t.Roofline); note != "" {
		fmt.Fprintln(stdout)
		writeNote(stdout, "%s", note)
	}
	return nil
}

// writePeaks prints what the device reaches at most, with one thread and with all.
func writePeaks(w io.Writer, r *report.Roofline) {
	header := []string{"peak"}
	for _, p := range r.Peaks {
		header = append(header, ">"+count(p.Threads, "thread"))
	}
	header = append(header, ">holds", "~by")
	last := r.Last()
	var rows [][]string
	for i, k := range slices.Concat(last.Compute, last.Memory) {
		row := []string{k.Name}
		for _, p := range r.Peaks {
			unit := "op/s"
			if i >= len(last.Compute) {
				unit = "B/s"
			}
			each, _, _ := p.Bounds(k.Name)
			row = append(row, ui.Quantity(each.Rate, unit))
		}
		holds := ""
		if k.Holds > 0 {
			holds = ui.Bytes(k.Holds)
		}
		rows = append(rows, append(row, holds, k.By))
	}
	writeTable(w, header, rows)
	fmt.Fprintln(w)
}

// writeBounds prints how much of the time is spent under each ceiling.
func writeBounds(w io.Writer, t *report.Timings) {
	var rows [][]string
	for _, b := range t.ByBound() {
		rows = append(rows, []string{b.Bound, fmt.Sprint(b.Layers), us(b.Median), us(b.Floor), fmt.Sprintf("%.1f", 100*b.OfPeak), fmt.Sprintf("%.1f", 100*b.Share), bar(b.Share, 20)})
	}
	writeTable(w, []string{"bound by", ">layers", ">median µs", ">least µs", ">of peak %", ">share %", "~"}, rows)
	fmt.Fprintln(w)
}

// writeStands prints where each layer stands.
func writeStands(w io.Writer, t *report.Timings) {
	var rows [][]string
	for i := range t.Layers {
		l := &t.Layers[i]
		row := []string{short(l.Name), l.Precision, l.How(), us(l.Median), fmt.Sprintf("%.1f", 100*l.Share)}
		r := l.Roof
		if r == nil {
			rows = append(rows, append(row, "", "", "", "", ""))
			continue
		}
		reached := ui.Quantity(r.Reached*1e9, "op/s")
		if r.Operations == 0 {
			reached = ui.Quantity(float64(l.Bytes)/l.Median.Seconds(), "B/s")
		}
		mark := ""
		if r.Above() {
			mark = "!"
		}
		rows = append(rows, append(row, ui.Number(r.Intensity), reached, r.Bound, mark+fmt.Sprintf("%.1f", 100*r.OfPeak), bar(min(r.OfPeak, 1), 20)))
	}
	writeTable(w, []string{"@layer", "type", "~tactic", ">median µs", ">share %", ">op/B", ">reaches", "bound", ">of peak %", "~"}, rows)
}
