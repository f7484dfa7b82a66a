package ui

import (
	"cmp"
	"math"
	"slices"

	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
)

// Ceiling is a limit of a [Roofline]: of what is done in a second, or of the bytes that are moved for it.
type Ceiling struct {
	Name string
	Rate float64 // operations or bytes a second
	On   bool    // it holds for the point of the cursor
}

// RooflinePoint is a point of a [Roofline].
type RooflinePoint struct {
	X     float64 // operations a byte; 0 for what only moves bytes, which is drawn at the left edge
	Y     float64 // operations a second, or bytes where X is 0
	Style Style
}

// Roofline draws points under ceilings on logarithmic axes: what is reached over operations a byte. Ceilings of memory rise with the
// operations that are done on a byte, and end where arithmetic's begin.
type Roofline struct {
	Roofs  []Ceiling // of arithmetic
	Slopes []Ceiling // of memory, the highest first
	Points []RooflinePoint
	Cursor int // -1: none
	XUnit  string
	YUnit  string
}

// rooflineSpan is the limits of the axes, as decimal logarithms.
type rooflineSpan struct{ x0, x1, y0, y1 float64 }

// The least extents of a plot that shows anything.
const (
	leastRooflineWidth  = 30
	leastRooflineHeight = 4
)

// mostRooflineSpan is how many times its least value the largest one of an axis is at most.
const mostRooflineSpan = 1e4

// Draw draws the plot over all of c.
func (r Roofline) Draw(c *Canvas) {
	s, ok := r.span()
	if !ok || c.W < leastRooflineWidth || c.H < leastRooflineHeight {
		return
	}
	labels := []string{r.rate(s.y1), r.rate((s.y0 + s.y1) / 2), r.rate(s.y0)}
	gutter := 0
	for _, l := range labels {
		gutter = max(gutter, Width(l))
	}
	gutter++
	plot := c.Sub(Rect{gutter + 1, 0, c.W - gutter - 1, c.H - 1})
	Chart{}.drawAxes(c, plot, gutter, 0, labels)
	c.Fit(gutter+1, c.H-1, plot.W/3, Muted, Number(math.Pow(10, s.x0)))
	c.FitRight(gutter+1+plot.W/2, c.H-1, plot.W-plot.W/2, Muted, Number(math.Pow(10, s.x1))+" "+r.XUnit)
	middle := Number(math.Pow(10, (s.x0+s.x1)/2))
	c.Text(gutter+1+(plot.W-Width(middle))/2, c.H-1, Muted, middle)
	for _, on := range []bool{false, true} {
		r.drawCeilings(plot, s, on)
	}
	r.drawPoints(plot, s, false)
	r.drawNames(plot, s)
	r.drawPoints(plot, s, true)
}

func (r Roofline) rate(log float64) string { return Quantity(math.Pow(10, log), r.YUnit) }

// top is the highest roof.
func (r Roofline) top() (top float64) {
	for _, k := range r.Roofs {
		top = max(top, k.Rate)
	}
	return top
}

// span finds limits with room for all ceilings and points.
func (r Roofline) span() (s rooflineSpan, ok bool) {
	top := r.top()
	if len(r.Roofs) == 0 || len(r.Slopes) == 0 || !above0(top) {
		return s, false
	}
	lowest := slices.MinFunc(r.Slopes, func(a, b Ceiling) int { return cmp.Compare(a.Rate, b.Rate) }).Rate
	if !above0(lowest) {
		return s, false
	}
	x0, x1, y0, y1 := 0.1, 2*top/lowest, top/1000, 2*top
	for _, p := range r.Points {
		if above0(p.X) && above0(p.Y) {
			x0, x1 = min(x0, p.X/2), max(x1, 2*p.X)
			y0, y1 = min(y0, p.Y/2), max(y1, 2*p.Y)
		}
	}
	x0, y0 = max(x0, x1/mostRooflineSpan), max(y0, y1/mostRooflineSpan) // what is further away is drawn at the edge
	return rooflineSpan{math.Log10(x0), math.Log10(x1), math.Log10(y0), math.Log10(y1)}, true
}

func above0(v float64) bool { return v > 0 && finite(v) }

// cell returns the place of a point, at the edge where it is beyond it.
func (s rooflineSpan) cell(plot *Canvas, x, y float64) (int, int) {
	return min(max(int((x-s.x0)/(s.x1-s.x0)*float64(plot.W)), 0), plot.W-1), min(max(int((s.y1-y)/(s.y1-s.y0)*float64(plot.H)), 0), plot.H-1)
}

// drawCeilings draws those that hold for the point of the cursor, or the others.
func (r Roofline) drawCeilings(plot *Canvas, s rooflineSpan, on bool) {
	grid := graph.NewBrailleGrid(plot.W, plot.H, s.x0, s.x1, s.y0, s.y1)
	line := func(x, y, toX, toY float64) { Line2D{X: []float64{x, toX}, Y: []float64{y, toY}}.dots(grid, s.y1) }
	highest := math.Log10(r.top())
	for _, k := range r.Slopes {
		if b := math.Log10(k.Rate); k.On == on && above0(k.Rate) {
			if from, to := max(s.x0, s.y0-b), min(s.x1, highest-b); from < to {
				line(from, from+b, to, to+b)
			}
		}
	}
	for _, k := range r.Roofs {
		if y := math.Log10(k.Rate); k.On == on && above0(k.Rate) && y > s.y0 {
			if from := max(s.x0, y-math.Log10(r.Slopes[0].Rate)); from < s.x1 {
				line(from, y, s.x1, y)
			}
		}
	}
	style, ascii := Faint, plot.Glyphs().Dot
	if on {
		style, ascii = Accent, plot.Glyphs().Rule
	}
	drawDots(plot, grid, style, ascii)
}

// drawNames writes the roofs' names at the right, above them, where points are least, and the slopes' where they begin: clear of points
// where there is room for that beside them, and else over them.
func (r Roofline) drawNames(plot *Canvas, s rooflineSpan) {
	taken := map[int]bool{}
	style := func(k Ceiling) Style {
		if k.On {
			return Bold
		}
		return Muted
	}
	free := func(y int) int {
		for ; taken[y] && y < plot.H; y++ {
		}
		taken[y] = true
		return y
	}
	roofs := slices.SortedStableFunc(slices.Values(r.Roofs), func(a, b Ceiling) int { return cmp.Compare(b.Rate, a.Rate) })
	for _, k := range roofs {
		if above0(k.Rate) {
			_, y := s.cell(plot, s.x1, math.Log10(k.Rate))
			y, text := free(max(y-1, 0)), Truncate(k.Name+" "+Quantity(k.Rate, r.YUnit), plot.W-plot.W/2, plot.Glyphs().Ellipsis)
			plot.Text(r.clearOf(plot, s, plot.W-Width(text), y, Width(text), -1), y, style(k), text)
		}
	}
	clear(taken)
	for _, k := range r.Slopes {
		if above0(k.Rate) {
			from := max(s.x0, s.y0-math.Log10(k.Rate))
			x, y := s.cell(plot, from, from+math.Log10(k.Rate))
			y, text := free(y), Truncate(k.Name+" "+Quantity(k.Rate, "B/s"), max(plot.W/2-x-2, 0), plot.Glyphs().Ellipsis)
			plot.Text(r.clearOf(plot, s, x+1, y, Width(text), 1), y, style(k), text)
		}
	}
}

// clearOf returns the first of the cells from x on, by so many at a time, from which on a text is clear of all points, or else of the
// cursor's; x where there is none.
func (r Roofline) clearOf(plot *Canvas, s rooflineSpan, x, y, width, by int) int {
	for _, all := range []bool{true, false} {
		taken := map[int]bool{}
		for i, p := range r.Points {
			if at, row, ok := s.place(plot, p); ok && row == y && (all || i == r.Cursor) {
				taken[at] = true
			}
		}
		for at := x; at >= 0 && at+width <= plot.W && max(at-x, x-at) <= plot.W/4; at += by {
			crossed := false
			for i := range width {
				crossed = crossed || taken[at+i]
			}
			if !crossed {
				return at
			}
		}
	}
	return x
}

// place returns the cell of a point; ok is false for one that cannot be drawn.
func (s rooflineSpan) place(plot *Canvas, p RooflinePoint) (x, y int, ok bool) {
	if !above0(p.Y) {
		return 0, 0, false
	}
	log := math.Log10(p.Y)
	if above0(p.X) {
		x, y = s.cell(plot, math.Log10(p.X), log)
	} else {
		x, y = s.cell(plot, s.x0, log+s.x0)
	}
	return x, y, true
}

// drawPoints draws the cursor's point, or all others.
func (r Roofline) drawPoints(plot *Canvas, s rooflineSpan, cursor bool) {
	for i, p := range r.Points {
		x, y, ok := s.place(plot, p)
		if !ok || (i == r.Cursor) != cursor {
			continue
		}
		glyph, style := 'o', p.Style
		if cursor {
			glyph, style = plot.Glyphs().Record, style|Bold|Reverse
		}
		plot.Set(x, y, glyph, style)
	}
}
