package ui

import (
	"cmp"
	"fmt"
	"slices"
)

// Block is a rectangle of a [Map]: what occupies addresses From to To (exclusive)
// during the steps First to Last (inclusive).
type Block struct {
	Name        string
	First, Last int
	From, To    int64
	Series      int // colour and texture
}

// A Map shows which addresses are occupied over steps: the reuse of an arena.
// Steps run to the right, addresses upwards. Blocks smaller than a cell are drawn
// as one cell, above larger ones, so that none is lost.
type Map struct {
	Blocks   []Block
	Steps    int
	Size     int64 // highest address shown
	Selected int   // block drawn as selected, -1 for none
	Cursor   int   // step under the cursor, -1 for none
}

// Draw draws the map over all of c, with addresses at the left and steps below.
func (m Map) Draw(c *Canvas) {
	const gutter = 10
	if c.W < gutter+4 || c.H < 3 || m.Steps <= 0 || m.Size <= 0 {
		return
	}
	plot := c.Sub(Rect{gutter, 0, c.W - gutter - 1, c.H - 1})
	g := c.Glyphs()
	for y := range plot.H {
		c.Set(gutter-1, y, g.Wall, Faint)
	}
	for _, y := range []int{0, plot.H / 2} {
		c.FitRight(0, y, gutter-2, Muted, Bytes(m.Size*int64(plot.H-y)/int64(plot.H)))
	}
	c.FitRight(0, plot.H-1, gutter-2, Muted, "0")
	order := make([]int, len(m.Blocks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Blocks[b].area(), m.Blocks[a].area()) })
	for _, i := range order {
		m.drawBlock(plot, i)
	}
	m.drawCursor(c, plot, gutter)
}

func (b Block) area() float64 { return float64(b.Last-b.First+1) * float64(b.To-b.From) }

// cells returns where the block lies on a plot of w x h cells.
func (m Map) cells(b Block, w, h int) Rect {
	x0, x1 := spread(int64(b.First), int64(b.Last)+1, int64(m.Steps), w)
	y0, y1 := spread(b.From, b.To, m.Size, h)
	return Rect{x0, h - y1, x1 - x0, y1 - y0}
}

// spread maps [from, to) of total to at least one of n cells.
func spread(from, to, total int64, n int) (int, int) {
	scale := float64(n) / float64(total)
	a := min(max(int(float64(from)*scale+0.5), 0), n-1)
	return a, min(max(int(float64(to)*scale+0.5), a+1), n)
}

func (m Map) drawBlock(c *Canvas, i int) {
	b := m.Blocks[i]
	r := m.cells(b, c.W, c.H)
	series := Series(b.Series)
	g := c.Glyphs()
	style, fill, text := Ink|On(series), ' ', Ink|On(series)
	if c.Mono() || g.ASCII {
		style, fill, text = series, g.Fill(b.Series), series
	}
	if i == m.Selected {
		fill = g.Fill(3)
		text |= Bold | Underline
		if c.Mono() {
			style, fill = Reverse, ' '
			text = Reverse | Bold
		}
	}
	c.Fill(r, fill, style)
	if r.W >= 5 && b.Name != "" {
		name := c.Sub(Rect{r.X, r.Y + (r.H-1)/2, r.W, 1})
		x := max((r.W-Width(b.Name)-2)/2, 0)
		name.Fit(x, 0, r.W-x, text, " "+b.Name+" ")
	}
}

// drawCursor draws the column of the step under the cursor and its number below.
func (m Map) drawCursor(c, plot *Canvas, gutter int) {
	last := fmt.Sprint(m.Steps - 1)
	c.Text(gutter, c.H-1, Muted, "0")
	c.FitRight(gutter, c.H-1, plot.W, Muted, last)
	if m.Cursor < 0 || m.Cursor >= m.Steps {
		return
	}
	x, _ := spread(int64(m.Cursor), int64(m.Cursor)+1, int64(m.Steps), plot.W)
	for y := range plot.H {
		at := plot.cells[y*plot.stride+x]
		switch {
		case at.style>>ground&indexMask != 0:
			plot.Set(x, y, c.Glyphs().Mark, at.style|Bold)
		case at.glyph == ' ':
			plot.Set(x, y, c.Glyphs().Mark, Accent)
		default:
			plot.Over(Rect{x, y, 1, 1}, Reverse)
		}
	}
	text := fmt.Sprintf("%c%d", c.Glyphs().Up, m.Cursor)
	at := min(gutter+x, c.W-Width(text))
	c.Fill(Rect{at - 1, c.H - 1, Width(text) + 2, 1}, ' ', Plain)
	c.Text(at, c.H-1, Accent|Bold, text)
}
