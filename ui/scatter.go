package ui

import (
	"cmp"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
)

// ScatterPoint is a point of a [Scatter].
type ScatterPoint struct {
	X, Y   float64
	Front  bool // joined with the others of the front, and filled
	Beside bool // joined with others that are beside the front
	Style  Style
}

// Scatter draws points over axes with labels, those of a front joined: accuracy over latency.
type Scatter struct {
	Points []ScatterPoint
	Cursor int // -1: none
	XLabel func(float64) string
	YLabel func(float64) string
	Click  func(i int) tea.Msg // what a click on a point is; nil: nothing
	Line   *float64            // a value of y that is marked across; nil: none
	Cut    *float64            // a value of x that is marked from top to bottom; nil: none
	Most   float64             // the largest y that there can be; 0: any
	Whole  bool                // x goes from the first point to the last, beyond which there is nothing
}

// widened leaves room at both ends of an axis, a part of its length, but none below zero where nothing is.
func widened(low, high, part float64) (float64, float64) {
	room := (high - low) / part
	if low >= 0 {
		return max(low-room, 0), high + room
	}
	return low - room, high + room
}

// apart returns labels with none where several are the same: what is so near has no scale.
func apart(labels []string) []string {
	list := slices.Clone(labels)
	for i, l := range labels {
		if slices.Contains(labels[:i], l) || slices.Contains(labels[i+1:], l) {
			list[i] = ""
		}
	}
	return list
}

// Draw draws the plot over all of c. Points that are not finite are left out; where several fall on a cell, the cursor's and then
// those of the front are seen.
func (s Scatter) Draw(c *Canvas) {
	ch := Chart{XLabel: s.XLabel, YLabel: s.YLabel}
	var front, beside, all Line2D
	for _, p := range s.Points {
		all.X, all.Y = append(all.X, p.X), append(all.Y, p.Y)
	}
	ch.Lines = []Line2D{all}
	x0, x1, y0, y1, ok := ch.limits()
	if !ok || c.W < 20 || c.H < 4 {
		return
	}
	if lowest, highest := slices.Min(all.Y), slices.Max(all.Y); lowest == highest {
		y0, y1 = lowest-max(math.Abs(lowest)/100, 1e-9), lowest+max(math.Abs(lowest)/100, 1e-9)
	}
	if lowest, highest := slices.Min(all.X), slices.Max(all.X); lowest == highest {
		x0, x1 = lowest-max(math.Abs(lowest)/10, 1e-9), lowest+max(math.Abs(lowest)/10, 1e-9)
	}
	if !s.Whole {
		x0, x1 = widened(x0, x1, 20)
	}
	y0, y1 = widened(y0, y1, 12)
	if s.Most > y0 {
		y1 = min(y1, s.Most)
	}
	labels := apart([]string{label(s.YLabel, y1), label(s.YLabel, (y0+y1)/2), label(s.YLabel, y0)})
	gutter := 0
	for _, l := range labels {
		gutter = max(gutter, Width(l))
	}
	gutter = min(gutter+1, c.W/3)
	plot := c.Sub(Rect{gutter + 1, 0, c.W - gutter - 1, c.H - 1})
	ch.drawAxes(c, plot, gutter, 0, labels)
	c.Fit(gutter+1, c.H-1, plot.W/2, Muted, label(s.XLabel, x0))
	c.FitRight(gutter+1+plot.W/2, c.H-1, plot.W-plot.W/2, Muted, label(s.XLabel, x1))
	cell := func(x, y float64) (int, int) {
		return min(max(int((x-x0)/(x1-x0)*float64(plot.W)), 0), plot.W-1), min(max(int((y1-y)/(y1-y0)*float64(plot.H)), 0), plot.H-1)
	}
	if s.Line != nil && *s.Line > y0 && *s.Line < y1 {
		_, y := cell(x0, *s.Line)
		c.Fill(Rect{gutter + 1, y, plot.W, 1}, c.Glyphs().Dot, Faint)
	}
	if s.Cut != nil && *s.Cut > x0 && *s.Cut < x1 {
		x, _ := cell(*s.Cut, y0)
		plot.Fill(Rect{x, 0, 1, plot.H}, c.Glyphs().Wall, Faint)
	}
	sorted := slices.SortedStableFunc(slices.Values(s.Points), func(a, b ScatterPoint) int { return cmp.Compare(a.X, b.X) })
	for _, p := range sorted {
		if p.Front && finite(p.X) && finite(p.Y) {
			front.X, front.Y = append(front.X, p.X), append(front.Y, p.Y)
		}
		if p.Beside && finite(p.X) && finite(p.Y) {
			beside.X, beside.Y = append(beside.X, p.X), append(beside.Y, p.Y)
		}
	}
	grid := graph.NewBrailleGrid(plot.W, plot.H, x0, x1, y0, y1)
	if len(front.X) > 1 {
		front.dots(grid, y1)
	}
	if len(beside.X) > 1 {
		beside.dots(grid, y1)
	}
	if max(len(front.X), len(beside.X)) > 1 {
		drawDots(plot, grid, Faint, c.Glyphs().Dot)
	}
	for _, layer := range []func(i int) bool{
		func(i int) bool { return !s.Points[i].Front }, func(i int) bool { return s.Points[i].Front }, func(i int) bool { return i == s.Cursor },
	} {
		for i, p := range s.Points {
			if !layer(i) || !finite(p.X) || !finite(p.Y) {
				continue
			}
			glyph, style := 'o', p.Style
			if p.Front {
				glyph = c.Glyphs().Record
			}
			if i == s.Cursor {
				style |= Bold | Reverse
			}
			x, y := cell(p.X, p.Y)
			plot.Set(x, y, glyph, style)
			if s.Click != nil {
				plot.Spot(Rect{x - 1, y, 3, 1}, s.Click(i))
			}
		}
	}
}
