package ui

import "math"

// drawBar draws a bar of part (0 to 1) of w cells from (x, y) on, in eighths of a
// cell.
func drawBar(c *Canvas, x, y, w int, part float64, s Style) {
	g := c.Glyphs()
	if w <= 0 {
		return
	}
	if !(part > 0) { // also NaN
		part = 0
	}
	steps := len(g.Rows) - 1
	eighths := int(math.Round(min(part, 1) * float64(w*steps)))
	if part > 0 && eighths == 0 {
		eighths = 1
	}
	full := g.Rows[steps]
	for i := range w {
		switch n := eighths - i*steps; {
		case n >= steps:
			c.Set(x+i, y, full, s)
		case n > 0 && g.Rows[n] != ' ':
			c.Set(x+i, y, g.Rows[n], s)
		}
	}
}

// Bar is one horizontal bar with marks, scaled by Min and Max.
type Bar struct {
	Value float64
	Min   float64 // below zero for bars that go to both sides of zero
	Max   float64
	Log   bool // logarithmic; Min and Value must then be above zero to show
	Style Style
	Marks []BarMark
}

// BarMark is a value marked on a bar: median, p99.
type BarMark struct {
	Value float64
	Glyph rune // 0: the median's
	Style Style
}

// Draw draws the bar over the first line of c.
func (b Bar) Draw(c *Canvas) {
	if c.W <= 0 || c.H <= 0 {
		return
	}
	if b.Min < 0 && !b.Log {
		b.drawDiverging(c)
		return
	}
	drawBar(c, 0, 0, c.W, b.scale(b.Value), b.Style)
	b.drawMarks(c)
}

// scale returns where v lies between the ends of the bar, 0 to 1.
func (b Bar) scale(v float64) float64 {
	lo, hi := b.Min, b.Max
	if b.Log {
		if lo <= 0 {
			lo = hi / 1e4 // four decades
		}
		lo, hi, v = math.Log(lo), math.Log(hi), math.Log(v)
	}
	if part := (v - lo) / (hi - lo); part > 0 {
		return min(part, 1)
	}
	return 0
}

func (b Bar) drawMarks(c *Canvas) {
	for _, m := range b.Marks {
		part := b.scale(m.Value)
		if part <= 0 {
			continue
		}
		glyph := m.Glyph
		if glyph == 0 {
			glyph = c.Glyphs().Median
		}
		x := min(int(part*float64(c.W)), c.W-1)
		s := m.Style
		if at := c.cells[x].glyph; at != ' ' && !isFull(c, at) {
			continue // the end of the bar, which is where the value itself is
		}
		if i := x; i < c.W && isFull(c, c.cells[i].glyph) && !c.Mono() {
			s = Ink | On(c.cells[i].style) // a mark inside the bar is cut out of it
		}
		c.Set(x, 0, glyph, s)
	}
}

func isFull(c *Canvas, r rune) bool {
	rows := c.Glyphs().Rows
	return r == rows[len(rows)-1]
}

// drawDiverging draws from zero to the left or to the right. Cells are whole or
// half, since few fonts have eighths that grow from the right.
func (b Bar) drawDiverging(c *Canvas) {
	g := c.Glyphs()
	span := b.Max - b.Min
	if !(span > 0) || math.IsInf(span, 0) {
		return
	}
	zero := int(math.Round(-b.Min / span * float64(c.W-1)))
	end := zero
	if v := min(max(b.Value, b.Min), b.Max); !math.IsNaN(v) {
		end = int(math.Round((v - b.Min) / span * float64(c.W-1)))
	}
	full := g.Rows[len(g.Rows)-1]
	for x := min(zero, end); x <= max(zero, end); x++ {
		c.Set(x, 0, full, b.Style)
	}
	c.Set(zero, 0, g.Wall, Muted)
	if b.Value != 0 && end == zero { // too small to fill a cell, but not zero
		x := zero + 1
		if b.Value < 0 {
			x = zero - 1
		}
		c.Set(x, 0, g.Dot, b.Style)
	}
}
