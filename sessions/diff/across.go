package diff

import (
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// Across sets the layers of several measurements side by side: a row has the least sets of all of them that compute the same source
// layers, as [Align] does of two. The columns have their names and configurations already. apart says that they are not of the same
// rounds.
func Across(columns []report.Column, times []*report.Timings, apart bool) *report.Columns {
	c := &report.Columns{Columns: columns, Apart: apart}
	var all []Step
	var owner []int // the column of a step
	var layers []*report.LayerTiming
	var cells [][][]*report.LayerTiming // by row and column
	for k, t := range times {
		c.Columns[k].Latency, c.Columns[k].SumMedian = t.EndToEnd, t.SumMedian
		c.Estimated = c.Estimated || t.Estimated
		for i, s := range StepsOf(t.Layers) {
			all, owner, layers = append(all, s), append(owner, k), append(layers, &t.Layers[i])
		}
	}
	// Steps of all columns are one side, in the order of the columns.
	for _, g := range Align(all, nil) {
		row, of := acrossRow(g, owner, layers, len(times))
		c.Rows, cells = append(c.Rows, row), append(cells, of)
	}
	markFastest(c, cells)
	return c
}

// acrossRow makes a row of a group of steps, and returns these by column.
func acrossRow(g Group, owner []int, layers []*report.LayerTiming, columns int) (row report.ColumnRow, of [][]*report.LayerTiming) {
	row = report.ColumnRow{Name: layers[g.A[0]].Name, From: g.From, Reformat: layers[g.A[0]].Reformat, Cells: make([]*report.ColumnCell, columns)}
	longest := make([]time.Duration, columns)
	of = make([][]*report.LayerTiming, columns)
	for _, i := range g.A {
		l, k := layers[i], owner[i]
		if row.Cells[k] == nil {
			row.Cells[k] = &report.ColumnCell{Precision: l.Precision, Tactic: l.Tactic}
			longest[k] = l.Median
		}
		of[k] = append(of[k], l)
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
	return row, of
}

// markFastest names the column in which each row takes least, where its rounds and those of the next can be told apart: the chance of
// each is held, among all rows, to the rate of false discoveries that two measurements are held to. Different occasions are apart as
// layers with the same kernels are, too. Estimates do not vary.
func markFastest(c *report.Columns, cells [][][]*report.LayerTiming) {
	tables, apart := uTables{}, map[[2]int]*occasions{}
	var p []float64
	var rows, best []int
	for r := range c.Rows {
		first, second := twoLeast(c.Rows[r].Cells)
		if second < 0 {
			continue
		}
		fast, slow := cells[r][first], cells[r][second]
		chance, ok := tables.mannWhitney(rounds(fast), rounds(slow))
		if e := evidenceOf(fast, slow); c.Apart && e != nil {
			pair := [2]int{first, second}
			if apart[pair] == nil {
				apart[pair] = between(c, cells, first, second)
			}
			chance = max(chance, apart[pair].chance(e))
		}
		if c.Estimated {
			chance, ok = 0, c.Rows[r].Cells[first].Median < c.Rows[r].Cells[second].Median
		}
		if ok {
			p, rows, best = append(p, chance), append(rows, r), append(best, first)
		}
	}
	for i, q := range falseDiscoveries(p) {
		if q <= Discoveries {
			c.Rows[rows[i]].Fastest = c.Columns[best[i]].Label
		}
	}
}

// between returns how layers with the same kernels differ from one column to another.
func between(c *report.Columns, cells [][][]*report.LayerTiming, a, b int) *occasions {
	var same []evidence
	for r := range c.Rows {
		x, y := c.Rows[r].Cells[a], c.Rows[r].Cells[b]
		if x == nil || y == nil || x.Tactic != y.Tactic || x.Precision != y.Precision || len(x.Layers) != len(y.Layers) {
			continue
		}
		if e := evidenceOf(cells[r][a], cells[r][b]); e != nil {
			same = append(same, *e)
		}
	}
	return newOccasions(same, true, false)
}

// twoLeast returns which cells take least and next to it; -1 where there are not as many.
func twoLeast(cells []*report.ColumnCell) (first, second int) {
	first, second = -1, -1
	for k, cell := range cells {
		switch {
		case cell == nil:
		case first < 0 || cell.Median < cells[first].Median:
			first, second = k, first
		case second < 0 || cell.Median < cells[second].Median:
			second = k
		}
	}
	return first, second
}
