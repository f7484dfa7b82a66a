package runtime

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// pointAt is a click on a point of a picture.
type pointAt int

// drawGrid draws a sweep over two axes where there is room for that, above the table of its points if there is room for both, and returns
// how many lines it took; cursor is the point under the cursor.
func drawGrid(c *ui.Canvas, s *report.Sweep, cursor int) (lines int) {
	const most, table = 3, 3 // lines of a cell, and those of a table that tells something
	if len(s.Points) == 0 {
		return 0
	}
	t := gridOf(s, cursor)
	if !t.Fits(c.W, c.H) {
		return 0
	}
	lines = t.Rows + 1
	for k := most; k > 1; k-- {
		if tall := 1 + k*t.Rows; tall+1 <= 2*c.H/3 {
			lines = tall
			break
		}
	}
	t.Draw(c.Sub(ui.Rect{W: c.W, H: lines}))
	legend := "median ms, * " + s.Marked()
	if s.LatencyLimit > 0 {
		legend += ", ( ) over the limit"
	}
	c.FitClauses(1, lines, c.W-2, ui.Muted, legend+", "+s.Axes[1].Name+" across")
	if c.H < lines+1+table {
		return c.H
	}
	return lines + 1
}

// gridOf is the latency over two axes, on a logarithmic scale: what is not within the limit has no colour.
func gridOf(s *report.Sweep, cursor int) ui.HeatTable {
	rows, columns := s.Axes[0].Values, s.Axes[1].Values
	at := func(r, k int) int {
		return slices.IndexFunc(s.Points, func(p report.SweepPoint) bool { return p.Values[0] == rows[r] && p.Values[1] == columns[k] })
	}
	low, high := math.Inf(1), 0.0
	for _, p := range s.Points {
		low, high = min(low, float64(p.Latency.Median)), max(high, float64(p.Latency.Median))
	}
	t := ui.HeatTable{Corner: s.Axes[0].Name, Row: func(i int) string { return fmt.Sprint(rows[i]) }, Column: func(i int) string { return fmt.Sprint(columns[i]) }}
	t.Rows, t.Columns, t.Max = len(rows), len(columns), 1
	t.Value = func(r, k int) float64 {
		i := at(r, k)
		if i < 0 || !s.Points[i].Within {
			return math.NaN()
		}
		return math.Log(float64(s.Points[i].Latency.Median)/low) / max(math.Log(high/low), 1e-9)
	}
	t.Text = func(r, k int) (text ui.HeatText) {
		i := at(r, k)
		if i < 0 {
			return text
		}
		p := &s.Points[i]
		text.Text = ui.Number(p.Latency.Median.Seconds() * 1e3)
		switch {
		case p.Best:
			text = ui.HeatText{Text: "*" + text.Text, Short: "*", Style: ui.Good | ui.Bold}
		case !p.Within:
			text = ui.HeatText{Text: "(" + text.Text + ")", Short: "()", Style: ui.Muted}
		}
		if i == cursor {
			text.Style |= ui.Reverse | ui.Bold
			text.Short = cmp.Or(text.Short, "=")
		}
		return text
	}
	t.Click = func(r, k int) tea.Msg {
		if i := at(r, k); i >= 0 {
			return pointAt(i)
		}
		return nil
	}
	return t
}
