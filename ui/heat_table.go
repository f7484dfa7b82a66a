package ui

import tea "charm.land/bubbletea/v2"

// HeatTable is a heat map of a few values, with what its rows and columns are
// beside and above it and the values as text: latency over two axes of a shape.
type HeatTable struct {
	HeatMap
	Row, Column func(i int) string
	Corner      string // above the rows and before the columns: what these are
	Text        func(row, column int) HeatText
	Click       func(row, column int) tea.Msg // what a click on a cell is; nil: nothing
}

// HeatText is the text of a cell of a [HeatTable].
type HeatText struct {
	Text  string
	Short string // where the text of some cell does not fit
	Style Style
}

// gutter is the width of what is beside the rows.
func (t HeatTable) gutter() int {
	w := Width(t.Corner)
	for r := range t.Rows {
		w = max(w, Width(t.Row(r)))
	}
	return w + 2
}

// Fits reports whether so much room is enough for all rows, columns and what is beside and above them.
func (t HeatTable) Fits(w, h int) bool {
	widest := 0
	for k := range t.Columns {
		widest = max(widest, Width(t.Column(k)))
	}
	return t.Rows > 0 && t.Columns > 0 && h > t.Rows && w >= t.gutter()+t.Columns*(widest+1)
}

// Draw draws the table over all of c, or nothing where it does not fit. Text is at the lower right of its cell.
func (t HeatTable) Draw(c *Canvas) {
	if !t.Fits(c.W, c.H) {
		return
	}
	gutter := t.gutter()
	c.FitRight(0, 0, gutter-1, Muted, t.Corner)
	cells := c.Sub(Rect{X: gutter, Y: 1, W: c.W - gutter, H: c.H - 1})
	t.HeatMap.Draw(cells)
	short := false
	for r := range t.Rows {
		for k := range t.Columns {
			short = short || Width(t.Text(r, k).Text) >= place(cells, k, t.Columns, r, t.Rows).W
		}
	}
	for k := range t.Columns {
		at := place(cells, k, t.Columns, 0, t.Rows)
		c.FitRight(gutter+at.X, 0, at.W, Muted, t.Column(k))
		for r := range t.Rows {
			at := place(cells, k, t.Columns, r, t.Rows)
			if k == 0 {
				c.FitRight(0, 1+at.Y+at.H-1, gutter-1, Muted, t.Row(r))
			}
			cell := t.Text(r, k)
			if short {
				cell.Text = cell.Short
			}
			if w := Width(cell.Text) + 1; w > 1 && w <= at.W {
				cells.Fill(Rect{X: at.X + at.W - w, Y: at.Y + at.H - 1, W: w, H: 1}, ' ', Plain)
				cells.Text(at.X+at.W-w+1, at.Y+at.H-1, cell.Style, cell.Text)
			}
			if t.Click != nil {
				cells.Spot(at, t.Click(r, k))
			}
		}
	}
}
