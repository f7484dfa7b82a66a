package ui

import "math"

// Columns draws one column for each of many values with a cursor: the channels of a tensor. Where there are more values
// than cells a column is as high as the highest of its values; where there are fewer, columns are several cells wide.
type Columns struct {
	Values []float64
	Log    bool                 // logarithmic, four decades at most
	Line   float64              // a value marked by a line across: the median
	Cursor int                  // the value under the cursor, -1 for none
	Style  func(i int) Style    // of a column; nil: Series1
	Foot   []float64            // for each value a share in [0, 1], drawn below as a strip of heat; nil for none
	Label  func(float64) string // of values; nil: three digits
}

// Draw draws the columns over all of c, their scale at the left.
func (cs Columns) Draw(c *Canvas) {
	foot := 0
	if cs.Foot != nil {
		foot = 1
	}
	if len(cs.Values) == 0 || c.W < 12 || c.H < 3+foot {
		return
	}
	top := 0.0
	for _, v := range cs.Values {
		top = max(top, positive(v))
	}
	ticks := cs.ticks(top)
	gutter := Width(label(cs.Label, cs.Line))
	for _, v := range ticks {
		gutter = max(gutter, Width(label(cs.Label, v)))
	}
	gutter = min(gutter+1, c.W/3)
	plot := c.Sub(Rect{gutter + 1, 0, c.W - gutter - 2, c.H - 1 - foot})
	for y := range plot.H {
		c.Set(gutter, y, c.Glyphs().Wall, Faint)
	}
	line := plot.H - 1 - int(cs.part(cs.Line, top)*float64(plot.H))
	if cs.Line > 0 && line > 0 {
		c.FitRight(0, line, gutter, Muted, label(cs.Label, cs.Line))
		c.Fill(Rect{gutter + 1, line, plot.W, 1}, c.Glyphs().Dot, Faint)
	} else {
		line = -1
	}
	for i, y := range []int{0, (plot.H - 1) / 2, plot.H} {
		if y != line && (i != 1 || plot.H >= 5) {
			c.FitRight(0, y, gutter, Muted, label(cs.Label, ticks[i]))
		}
	}
	cs.drawColumns(plot, top)
	c.Fill(Rect{gutter + 1, plot.H, plot.W, 1}, c.Glyphs().Rule, Faint)
	if foot > 0 {
		cs.drawFoot(c.Sub(Rect{gutter + 1, plot.H + 1, plot.W, 1}))
	}
	cs.drawCursor(c, plot.W, gutter+1, plot.H)
}

// decades is how many a logarithmic scale has.
const decades = 4

// ticks returns the values at the top, in the middle and at the bottom of the scale.
func (cs Columns) ticks(top float64) [3]float64 {
	if cs.Log {
		return [3]float64{top, top * math.Pow(10, -decades/2), top * math.Pow(10, -decades)}
	}
	return [3]float64{top, top / 2, 0}
}

// part returns the height of v, from 0 to 1.
func (cs Columns) part(v, top float64) float64 {
	if !(v > 0) || !(top > 0) {
		return 0
	}
	if cs.Log {
		return min(max(1+math.Log10(v/top)/decades, 0), 1)
	}
	return min(v/top, 1)
}

// span returns the cells of value i on w cells.
func (cs Columns) span(i, w int) (from, to int) {
	n := len(cs.Values)
	from = i * w / n
	return from, max((i+1)*w/n, from+1)
}

func (cs Columns) drawColumns(c *Canvas, top float64) {
	g := c.Glyphs().Columns
	steps := len(g) - 1
	highest := make([]int, c.W) // value + 1 that is shown in a cell
	for i, v := range cs.Values {
		from, to := cs.span(i, c.W)
		if to-from > 2 {
			to-- // a gap between wide columns
		}
		for x := from; x < to; x++ {
			if k := highest[x]; k == 0 || v > cs.Values[k-1] {
				highest[x] = i + 1
			}
		}
	}
	for x, k := range highest {
		if k == 0 {
			continue
		}
		style := Series1
		if cs.Style != nil {
			style = cs.Style(k - 1)
		}
		v := cs.Values[k-1]
		eighths := int(math.Round(cs.part(v, top) * float64(c.H*steps)))
		if v > 0 && eighths == 0 {
			eighths = 1
		}
		for y := c.H - 1; y >= 0 && eighths > 0; y-- {
			c.Set(x, y, g[min(eighths, steps)], style)
			eighths -= steps
		}
	}
}

// drawFoot draws the strip of heat below the axis.
func (cs Columns) drawFoot(c *Canvas) {
	HeatMap{Rows: 1, Columns: min(len(cs.Foot), c.W), Max: 1, Value: func(_, x int) float64 {
		most, w := 0.0, min(len(cs.Foot), c.W)
		for i := x * len(cs.Foot) / w; i < max((x+1)*len(cs.Foot)/w, x*len(cs.Foot)/w+1); i++ {
			most = max(most, positive(cs.Foot[i]))
		}
		return most
	}}.Draw(c)
}

// drawCursor marks the value under the cursor on the axis and lays its ground over the column.
func (cs Columns) drawCursor(c *Canvas, w, x, axis int) {
	if cs.Cursor < 0 || cs.Cursor >= len(cs.Values) {
		return
	}
	from, to := cs.span(cs.Cursor, w)
	to = min(to, w)
	c.Over(Rect{x + from, 0, to - from, axis}, Cursor)
	c.Fill(Rect{x + from, axis, to - from, 1}, c.Glyphs().Up, Accent|Bold)
}
