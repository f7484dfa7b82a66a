package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
)

// beside measures one model in several precisions in the same rounds, and sets their layers side by side.
func (b *benchFlags) beside(ctx context.Context, stdout, stderr io.Writer, path string, p run.Profiling) error {
	o := b.modelFlags
	if err := o.check(); err != nil {
		return err
	}
	precisions := strings.Split(b.precisions, ",")
	if len(precisions) < 2 {
		return usageError{errors.New("--precisions sets several side by side: give two or more, as in fp32,int8")}
	}
	return o.with(path, stderr, func(at *place, r *sessions.Runner) error {
		base, err := o.configFor(at.model)
		if err != nil {
			return err
		}
		configs, err := o.config.eachFor(at.model, o.data.shapes, precisions, []string{base.Calibrator})
		if err != nil {
			return err
		}
		c, err := sessions.Columns(ctx, r, configs, p)
		if err != nil {
			return err
		}
		if o.output.csv() {
			return writeCSV(stdout, exchange.ColumnsCSV, c)
		}
		if o.output.json() {
			return writeReport(stdout, r.Head(nil), c)
		}
		writeColumns(stdout, r.Head(&configs[0]), c)
		return nil
	})
}

// writeColumns prints a row for each set of layers: its time in each column, and how many times as fast as in the first it is.
func writeColumns(w io.Writer, head report.Head, c *report.Columns) {
	fmt.Fprintf(w, "%s, on %s (%s)\n", head.Model.Name, head.Device.Backend, head.Device.Device)
	if c.Estimated {
		fmt.Fprintln(w, "times are estimates, computed from what the simulator counted; nothing was measured")
	}
	if c.Shapes != "" {
		writeNote(w, "at %s", c.Shapes)
	}
	header := []string{"@layer"}
	for i, k := range c.Columns {
		header = append(header, ">"+k.Label+" µs")
		if i > 0 {
			header = append(header, ">x", "~")
		}
	}
	most := 1.0
	for _, r := range c.Rows {
		for _, cell := range r.Cells {
			if cell != nil {
				most = max(most, cell.Ratio)
			}
		}
	}
	most = min(most, 8)
	var rows [][]string
	for _, r := range c.Rows {
		row := []string{short(r.Name)}
		for i, cell := range r.Cells {
			text, times, drawn := "-", "", ""
			if cell != nil {
				text = us(cell.Median)
				if cell.Ratio > 0 {
					times, drawn = fmt.Sprintf("%.2f", cell.Ratio), bar(min(cell.Ratio, most)/most, 12)
				}
				if i > 0 && cell.Precision != "" {
					drawn = fmt.Sprintf("%-5s %s", cell.Precision, drawn)
				}
				if r.Fastest == c.Columns[i].Label {
					text = "*" + text
				}
			}
			if row = append(row, text); i > 0 {
				row = append(row, times, drawn)
			}
		}
		rows = append(rows, row)
	}
	for _, end := range []bool{false, true} {
		rows = append(rows, columnSums(c, end))
	}
	fmt.Fprintln(w)
	writeTable(w, header, rows)
	writeNote(w, "*: the fastest of the row, where that is more than noise")
	for _, k := range c.Columns {
		if k.Unchanged != "" {
			writeNote(w, "%s: %s", k.Label, k.Unchanged)
		}
	}
}

// columnSums is the row of the sums of layers, or that of whole inferences.
func columnSums(c *report.Columns, end bool) []string {
	row := []string{"sum of layers"}
	if end {
		row[0] = "end to end"
	}
	for i, k := range c.Columns {
		took, first := k.SumMedian, c.Columns[0].SumMedian
		if end {
			took, first = k.Latency.Median, c.Columns[0].Latency.Median
		}
		if row = append(row, us(took)); i == 0 {
			continue
		}
		times, says := "", ""
		if took > 0 {
			times = fmt.Sprintf("%.2f", float64(first)/float64(took))
		}
		if s := k.Speed; end && s != nil {
			if says = s.Beside(first, took).InRounds(); !s.Significant {
				says = strings.TrimSuffix(s.Undecided()+", "+says, ", ")
			}
		}
		row = append(row, times, says)
	}
	return row
}
