package comparison

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// matrixSides has a row for each of several: latency, accuracy, memory, and whether it is on the front.
type matrixSides struct {
	in      pane.Input
	several *Several
	marked  pane.Marked
	table   ui.Table
}

func newMatrixSides(look *ui.Look, s *Several, marked pane.Marked) *matrixSides {
	v := &matrixSides{in: pane.NewInput(look, 0), several: s, marked: marked}
	number := func(title string, width, priority int, value func(*report.MatrixSide) float64, write func(*report.MatrixSide) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight,
			Cell: func(r int) ui.Cell {
				if math.IsNaN(value(v.side(r))) {
					return ui.Cell{Text: "·", Style: ui.Muted}
				}
				return ui.Cell{Text: write(v.side(r))}
			},
			Order: func(a, b int) int { return cmp.Compare(value(v.side(a)), value(v.side(b))) }}
	}
	style := func(r int) ui.Style { return pane.PrecisionStyle(string(v.side(r).Config.Precision)) }
	v.table.Columns = []ui.Column{
		{Width: 1, Cell: func(r int) ui.Cell { return ui.Cell{Text: letter(r), Style: ui.Bold} }},
		{Title: "name", Width: 12, Flex: 2, Name: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: v.side(r).Name + v.marked(v.side(r).Name)} },
			Order: func(a, b int) int { return cmp.Compare(v.side(a).Name, v.side(b).Name) }},
		{Title: "configuration", Width: 10, Flex: 1, Name: true, Priority: 5, Cell: func(r int) ui.Cell { return ui.Cell{Text: v.side(r).Label, Style: style(r)} },
			Order: func(a, b int) int { return cmp.Compare(v.side(a).Label, v.side(b).Label) }},
		{Width: 6, Flex: 2, Priority: 3, Cell: func(r int) ui.Cell {
			return ui.Cell{Bar: &ui.Bar{Value: float64(v.took(r)), Max: v.slowest(), Style: style(r)}}
		}},
		{Title: "median", Width: 9, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(v.took(r))} }, Order: func(a, b int) int { return cmp.Compare(v.took(a), v.took(b)) }},
		number("speed", 7, 0, func(s *report.MatrixSide) float64 {
			if s.Speed == nil {
				return math.NaN()
			}
			return s.Speed.Ratio
		}, speedOf),
		number("top-1", 6, 2, func(s *report.MatrixSide) float64 { return known(s.Top1) }, func(s *report.MatrixSide) string { return words.Percent(*s.Top1) }),
		number("SQNR dB", 7, 1, func(s *report.MatrixSide) float64 { return known(s.SQNR) }, func(s *report.MatrixSide) string { return words.Decibels(*s.SQNR) }),
		number("memory", 9, 4, func(s *report.MatrixSide) float64 { return words.OrNaN(float64(s.Weights + s.Arena)) }, func(s *report.MatrixSide) string { return ui.Bytes(int64(s.Weights + s.Arena)) }),
		{Title: "front", Width: 5, Cell: func(r int) ui.Cell {
			if v.side(r).Front {
				return ui.Cell{Text: string(v.in.Look.Glyphs.Record), Style: ui.Good}
			}
			return ui.Cell{}
		}},
	}
	v.table.Label = func(r int) string { return v.side(r).Name + " " + v.side(r).Label }
	return v
}

// speedOf writes how many times as fast as the first a side is, or that the difference is noise; marked where it is of other rounds.
func speedOf(s *report.MatrixSide) string {
	text := words.Ratio(*s.Speed)
	if s.Speed.Noise() {
		text = "noise"
	}
	if !s.Speed.SideBySide {
		text += "*"
	}
	return text
}

func (v *matrixSides) side(r int) *report.MatrixSide { return &v.several.matrix.Sides[r] }

// took is what one takes on one scale with the others of its session: in rounds with them, where it was measured so.
func (v *matrixSides) took(r int) time.Duration { return v.several.matrix.Pareto.Points[r].Took }

func (v *matrixSides) slowest() float64 {
	var most time.Duration
	for i := range v.several.matrix.Sides {
		most = max(most, v.took(i))
	}
	return float64(most)
}

// Mark is a [pane.Marker]: what is under the cursor.
func (v *matrixSides) Mark() (pane.Mark, bool) {
	if r := v.table.Row(); v.several.matrix != nil && r >= 0 {
		m := v.several.marks[r]
		m.Name = v.side(r).Name
		return m, true
	}
	return pane.Mark{}, false
}

func (v *matrixSides) Title() string { return "Side by side" }

func (v *matrixSides) Note() (string, ui.Style) {
	m := v.several.matrix
	if m == nil {
		return "", ui.Muted
	}
	measure, _ := diff.MeasureOf(m.Pareto.Measure, nil)
	text := fmt.Sprintf("front: none is faster and as %s by %s, speed beside A", measure.Good, measure.Title)
	if slices.ContainsFunc(m.Sides, func(s report.MatrixSide) bool { return s.Speed != nil && !s.Speed.SideBySide }) {
		text += ", * not measured side by side"
	}
	if slices.ContainsFunc(m.Pareto.Points, func(p report.ParetoPoint) bool { return p.BesideOthers() }) {
		text += ", times as in rounds side by side"
	}
	return text, ui.Muted
}

func (v *matrixSides) Keys() []ui.Key { return v.table.Keys() }

func (v *matrixSides) Update(msg tea.Msg) tea.Cmd {
	switch {
	case v.several.take(msg):
		v.table.Rows = 0
		if m := v.several.matrix; m != nil {
			v.table.Rows = len(m.Sides)
		}
		v.table.Refresh()
	case v.in.Take(msg):
	default:
		v.table.Refresh() // names grow where they are marked
		v.table.Update(msg)
	}
	return nil
}

func (v *matrixSides) Render(w, h int) string {
	v.table.Empty = v.several.waiting()
	return v.in.Look.Render(w, h, v.table.Draw)
}

// matrixPlot plots several by latency and what there is to choose by.
type matrixPlot struct {
	in      pane.Input
	several *Several
	of      *matrixSides
}

func (v *matrixPlot) Title() string {
	if m := v.several.matrix; m != nil {
		measure, _ := diff.MeasureOf(m.Pareto.Measure, nil)
		return "Latency and " + measure.Title
	}
	return "Latency"
}

func (v *matrixPlot) Keys() []ui.Key { return nil }

func (v *matrixPlot) Update(msg tea.Msg) tea.Cmd {
	v.in.Take(msg)
	return nil
}

func (v *matrixPlot) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		m := v.several.matrix
		if m == nil {
			c.Fit(1, 0, w-2, ui.Muted, v.several.waiting())
			return
		}
		v.plot(m).Draw(c)
	})
}

// plot are the points that have the measure. What is exact has no place on a scale, and stands above the others.
func (v *matrixPlot) plot(m *report.Matrix) ui.Scatter {
	measure, _ := diff.MeasureOf(m.Pareto.Measure, nil)
	plot := ui.Scatter{Cursor: -1, XLabel: words.Duration, YLabel: measure.Write}
	if measure.Name == "top1" || measure.Name == "agreement" {
		plot.Most = 1
	}
	top := math.Inf(-1)
	exact := func(y float64) bool { return measure.Name == "sqnr" && y >= report.MaxDB }
	for i := range m.Pareto.Points {
		if y, ok := measure.Of(&m.Pareto.Points[i].Point); ok && !exact(y) {
			top = max(top, y)
		}
	}
	if math.IsInf(top, -1) {
		top = 0
	}
	for i := range m.Pareto.Points {
		p := &m.Pareto.Points[i]
		y, ok := measure.Of(&p.Point)
		if !ok {
			continue
		}
		if exact(y) {
			y = top + 10
		}
		if i == v.of.table.Row() {
			plot.Cursor = len(plot.Points)
		}
		plot.Points = append(plot.Points, ui.ScatterPoint{X: float64(p.Took), Y: y, Front: p.Front, Style: pane.PrecisionStyle(string(p.Config.Precision))})
	}
	return plot
}
