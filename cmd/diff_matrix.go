package cmd

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// matrix prints three sides or more beside each other.
func (o *diffFlags) matrix(stdout io.Writer, sides []diff.Side) error {
	m, err := diff.Matrix(sides)
	if err != nil {
		return err
	}
	switch o.output.format {
	case "json":
		return writeReport(stdout, report.Head{}, m)
	case "markdown":
		writeMatrixMarkdown(stdout, m, o.all)
		return nil
	}
	writeMatrix(stdout, m, o.all)
	return nil
}

// matrixSide is a row of one side: its letter, its name, and what there is to choose by.
func matrixSide(m *report.Matrix, i int) []string {
	s := &m.Sides[i]
	speed := "-"
	if s.Speed != nil {
		speed = sideSpeed(*s.Speed)
	}
	front := ""
	if s.Front {
		front = "front"
	}
	arena, weights := takenText(&s.DiffSide)
	return []string{letter(i), s.Name, s.Model, s.Label, ms(s.Latency), inRounds(&m.Pareto.Points[i]), speed, known(s.SQNR, decibels), known(s.Top1, percent), front, arena, weights, fmt.Sprint(s.Steps), deviceText(s.Device)}
}

// sideSpeed says how many times as fast as the first a side is.
func sideSpeed(s report.Speed) string {
	text := fmt.Sprintf("%.2fx", s.Ratio)
	if s.Noise() {
		text = "noise"
	}
	if !s.SideBySide {
		text += "*"
	}
	return text
}

var matrixHeader = []string{"", "name", "model", "configuration", ">median ms", ">in rounds", ">speed", ">SQNR dB", ">top-1 %", "", "~>arena", "~>weights", "~>steps", "~device"}

// anyApart reports whether a side was not measured in rounds with the first.
func anyApart(m *report.Matrix) bool {
	return slices.ContainsFunc(m.Sides, func(s report.MatrixSide) bool { return s.Speed != nil && !s.Speed.SideBySide })
}

// frontText says which sides are worth having.
func frontText(m *report.Matrix) string {
	measure, _ := diff.MeasureOf(m.Pareto.Measure, nil)
	var names []string
	for i, s := range m.Sides {
		if s.Front {
			names = append(names, letter(i))
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf("front: %s; no other is faster and as %s by %s", strings.Join(names, ", "), measure.Good, measure.Title)
	if m.Pareto.Rule == "" {
		return text
	}
	fastest := "none"
	if i := m.Pareto.Fastest(); i >= 0 {
		fastest = letter(i)
	}
	return text + "\nfastest " + m.Pareto.Rule + ": " + fastest
}

// movers returns the rows whose times differ most between sides, the widest first, and how many are left out: those that differ by less
// than 1 % of the layers' time of the first side, unless all are asked for.
func movers(m *report.Matrix, all bool) (rows []report.ColumnRow, others int) {
	least := time.Duration(float64(m.Columns.Columns[0].SumMedian) / 100)
	for _, r := range m.Columns.Rows {
		if all || r.Spread() >= least || r.Fastest != "" {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b report.ColumnRow) int { return cmp.Compare(b.Spread(), a.Spread()) })
	return rows, len(m.Columns.Rows) - len(rows)
}

// moverCells are a row's times by side, how far they are apart, and the letter of the fastest.
func moverCells(m *report.Matrix, r *report.ColumnRow) (cells []string) {
	for _, c := range r.Cells {
		if c == nil {
			cells = append(cells, "-")
			continue
		}
		cells = append(cells, us(c.Median)+" "+c.Precision)
	}
	fastest := ""
	if i := slices.IndexFunc(m.Sides, func(s report.MatrixSide) bool { return r.Fastest != "" && s.Name == r.Fastest }); i >= 0 {
		fastest = letter(i)
	}
	return append(cells, us(r.Spread()), fastest)
}

func moverHeader(m *report.Matrix) (list []string) {
	for i := range m.Sides {
		list = append(list, ">"+letter(i)+" µs")
	}
	return append(list, ">spread µs", "fastest")
}

// writeMatrix prints a matrix as text.
func writeMatrix(w io.Writer, m *report.Matrix, all bool) {
	var rows [][]string
	for i := range m.Sides {
		rows = append(rows, matrixSide(m, i))
	}
	writeTable(w, matrixHeader, rows)
	fmt.Fprintln(w)
	for _, n := range m.Notes {
		writeNote(w, "note: %s", n)
	}
	if anyApart(m) {
		writeNote(w, "* not measured side by side: what changed on the machine meanwhile is in it")
	}
	for line := range strings.SplitSeq(frontText(m), "\n") {
		writeNote(w, "%s", line)
	}
	list, others := movers(m, all)
	if len(list) > 0 {
		fmt.Fprintln(w)
		most := list[0].Spread()
		rows = nil
		for i := range list {
			row := append([]string{short(list[i].Name), bar(float64(list[i].Spread())/float64(max(most, 1)), 16)}, moverCells(m, &list[i])...)
			rows = append(rows, row)
		}
		writeTable(w, append([]string{"@layer", "~"}, moverHeader(m)...), rows)
	}
	if others > 0 {
		writeNote(w, "\n%s hardly differ; --all lists them", othersText(len(list), others))
	}
}

// writeMatrixMarkdown prints a matrix for a pull request.
func writeMatrixMarkdown(w io.Writer, m *report.Matrix, all bool) {
	header := make([]string, len(matrixHeader))
	for i, h := range matrixHeader {
		header[i] = strings.TrimPrefix(h, "~")
	}
	writeMarkdown(w, header, func(row func(...string)) {
		for i := range m.Sides {
			cells := matrixSide(m, i)
			for k := range cells {
				cells[k] = ui.VisibleName(cells[k])
			}
			row(cells...)
		}
	})
	fmt.Fprintln(w)
	for _, n := range m.Notes {
		fmt.Fprintf(w, "- %s\n", ui.VisibleName(n))
	}
	if anyApart(m) {
		fmt.Fprintln(w, "- \\* not measured side by side")
	}
	for line := range strings.SplitSeq(frontText(m), "\n") {
		if line != "" {
			fmt.Fprintf(w, "- %s\n", line)
		}
	}
	list, others := movers(m, all)
	if len(list) > 0 {
		fmt.Fprintln(w)
		writeMarkdown(w, append([]string{"layer"}, moverHeader(m)...), func(row func(...string)) {
			for i := range list {
				row(append([]string{short(list[i].Name)}, moverCells(m, &list[i])...)...)
			}
		})
	}
	if others > 0 {
		fmt.Fprintf(w, "\n%s hardly differ.\n", othersText(len(list), others))
	}
}
