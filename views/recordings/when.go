package recordings

import (
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// RecordedState says in what state a recorded snapshot was, where that is not a finished one.
func RecordedState(s *report.Snapshot) (string, ui.Style) {
	switch {
	case s.Err != "":
		return s.Err, ui.Bad
	case s.Settled():
		return "", ui.Plain
	case s.Busy != nil && s.Busy.Item != "":
		return "mid-build: " + s.Busy.Phase + " " + s.Busy.Item, ui.Warn
	case s.Busy != nil:
		return "mid-build: " + s.Busy.Phase, ui.Warn
	}
	return "not all reports are available", ui.Warn
}

// drawWhen draws when the states of a recording were, in two lines: an axis from its start to its last state with a column
// wherever there is a state, high where one has all reports, and below it a mark at the state that is shown.
func drawWhen(c *ui.Canvas, steps []report.Step, at report.Moment) {
	var total time.Duration
	for _, s := range steps {
		total = max(total, s.After)
	}
	first, last := report.Clock(0), report.Clock(total)
	x := ui.Width(first) + 2
	w := c.W - x - ui.Width(last) - 2
	if w < 8 || c.H < 2 {
		return
	}
	g := c.Glyphs()
	c.Text(1, 0, ui.Muted, first)
	c.Text(x+w+1, 0, ui.Muted, last)
	c.Fill(ui.Rect{X: x, Y: 0, W: w, H: 1}, g.Empty, ui.Faint)
	column := func(d time.Duration) int {
		if total == 0 {
			return x
		}
		return x + int(float64(min(d, total))/float64(total)*float64(w-1))
	}
	for _, settled := range []bool{false, true} { // those with all reports cover the others
		mark, style := whenMark(g, settled)
		for _, s := range steps {
			if s.Settled == settled {
				c.Set(column(s.After), 0, mark, style)
			}
		}
	}
	c.Set(column(at.After), 1, g.Up, ui.Accent|ui.Bold)
}

// whenMark returns the column of a state that has all reports, or of one that has not.
func whenMark(g *ui.Glyphs, settled bool) (rune, ui.Style) {
	if settled {
		return g.Columns[len(g.Columns)-1], ui.Good
	}
	return g.Columns[len(g.Columns)/2], ui.Warn
}
