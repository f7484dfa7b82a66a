package diff

import (
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Across sets the layers of several measurements side by side: a row has the least sets of all of them that compute the same source
// layers, as [Align] does of two. The columns have their names and configurations already.
func Across(columns []report.Column, times []*report.Timings) *report.Columns {
	c := &report.Columns{Columns: columns}
	var all []Step
	var owner []int // the column of a step
	var layers []*report.LayerTiming
	for k, t := range times {
		c.Columns[k].Latency, c.Columns[k].SumMedian = t.EndToEnd, t.SumMedian
		c.Estimated = c.Estimated || t.Estimated
		for i, s := range StepsOf(t.Layers) {
			all, owner, layers = append(all, s), append(owner, k), append(layers, &t.Layers[i])
		}
	}
	// Steps of all columns are one side, in the order of the columns.
	for _, g := range Align(all, nil) {
		c.Rows = append(c.Rows, acrossRow(g, owner, layers, len(times)))
	}
	return c
}

// acrossRow makes a row of a group of steps.
func acrossRow(g Group, owner []int, layers []*report.LayerTiming, columns int) report.ColumnRow {
	row := report.ColumnRow{Name: layers[g.A[0]].Name, From: g.From, Reformat: layers[g.A[0]].Reformat, Cells: make([]*report.ColumnCell, columns)}
	longest := make([]time.Duration, columns)
	for _, i := range g.A {
		l, k := layers[i], owner[i]
		if row.Cells[k] == nil {
			row.Cells[k] = &report.ColumnCell{Precision: l.Precision, Tactic: l.Tactic}
			longest[k] = l.Median
		}
		cell := row.Cells[k]
		cell.Layers, cell.Median, cell.Share = append(cell.Layers, l.Name), cell.Median+l.Median, cell.Share+l.Share
		if cell.Precision != l.Precision {
			cell.Precision = "mixed"
		}
		if l.Median > longest[k] {
			cell.Tactic, longest[k] = l.Tactic, l.Median
		}
	}
	if first := row.Cells[0]; first != nil {
		for _, cell := range row.Cells[1:] {
			if cell != nil && cell.Median > 0 {
				cell.Ratio = float64(first.Median) / float64(cell.Median)
			}
		}
	}
	return row
}
