package ui

import (
	"math"

	"github.com/NimbleMarkets/ntcharts/v2/canvas"
	"github.com/NimbleMarkets/ntcharts/v2/canvas/graph"
)

// Line2D is a series of a chart.
type Line2D struct {
	Name   string
	X, Y   []float64
	Style  Style
	Points bool // points only, not joined
}

// Chart draws series in braille dots over axes with labels: latency over time,
// accuracy over latency. Every point costs time: give it a few thousand at most.
type Chart struct {
	Lines  []Line2D
	XLabel func(float64) string // nil: three digits
	YLabel func(float64) string
	Zero   bool    // the y axis starts at zero
	Top    float64 // the y axis ends there, and what is above it is drawn as a mark at its end; 0: at the largest value
}

// Draw draws the chart over all of c. Values that are not finite are left out.
func (ch Chart) Draw(c *Canvas) {
	x0, x1, y0, y1, ok := ch.limits()
	if !ok || c.W < 8 || c.H < 3 {
		return
	}
	labels := []string{label(ch.YLabel, y1), label(ch.YLabel, (y0+y1)/2), label(ch.YLabel, y0)}
	gutter := 0
	for _, l := range labels {
		gutter = max(gutter, Width(l))
	}
	gutter = min(gutter+1, c.W/3)
	top := 0
	if len(ch.Lines) > 1 {
		top = 1
		ch.drawLegend(c, gutter)
	}
	plot := c.Sub(Rect{gutter + 1, top, c.W - gutter - 1, c.H - 1 - top})
	ch.drawAxes(c, plot, gutter, top, labels)
	c.Fit(gutter+1, c.H-1, plot.W/2, Muted, label(ch.XLabel, x0))
	if x1 > x0 {
		c.FitRight(gutter+1+plot.W/2, c.H-1, plot.W-plot.W/2, Muted, label(ch.XLabel, x1))
	} else { // there is no axis between a value and itself
		x1 = x0 + 1
	}
	for _, line := range ch.Lines {
		grid := graph.NewBrailleGrid(plot.W, plot.H, x0, x1, y0, y1)
		line.dots(grid, y1)
		drawDots(plot, grid, line.Style, '*')
		ch.drawAbove(plot, line, x0, x1)
	}
}

// drawAxes draws the y axis with labels at top, middle and bottom.
func (ch Chart) drawAxes(c, plot *Canvas, gutter, top int, labels []string) {
	for y := range plot.H {
		c.Set(gutter, top+y, c.Glyphs().Wall, Faint)
	}
	for i, y := range []int{0, (plot.H - 1) / 2, plot.H - 1} {
		if i == 1 && plot.H < 5 {
			continue
		}
		c.FitRight(0, top+y, gutter-1, Muted, labels[i])
	}
}

func (ch Chart) drawLegend(c *Canvas, x int) {
	for _, line := range ch.Lines {
		c.Set(x+1, 0, c.Glyphs().Record, line.Style)
		x = c.Text(x+3, 0, Muted, line.Name) + 1
	}
}

// drawAbove marks at the upper edge where a line has values above the axis.
func (ch Chart) drawAbove(plot *Canvas, line Line2D, x0, x1 float64) {
	for i := range min(len(line.X), len(line.Y)) {
		if ch.Top > 0 && finite(line.X[i]) && finite(line.Y[i]) && line.Y[i] > ch.Top {
			plot.Set(int((line.X[i]-x0)/(x1-x0)*float64(plot.W-1)+0.5), 0, plot.Glyphs().Up, Warn)
		}
	}
}

// dots sets the dots of the line on grid, of values above top at the top.
func (l Line2D) dots(grid *graph.BrailleGrid, top float64) {
	var last canvas.Point
	joined := false
	for i := range min(len(l.X), len(l.Y)) {
		if !finite(l.X[i]) || !finite(l.Y[i]) {
			joined = false
			continue
		}
		p := grid.GridPoint(canvas.Float64Point{X: l.X[i], Y: min(l.Y[i], top)})
		if joined && !l.Points {
			for _, q := range graph.GetLinePoints(last, p) {
				grid.Set(q)
			}
		}
		grid.Set(p)
		last, joined = p, true
	}
}

// limits returns the range of the finite points, of y never empty.
func (ch Chart) limits() (x0, x1, y0, y1 float64, ok bool) {
	x0, y0 = math.Inf(1), math.Inf(1)
	x1, y1 = math.Inf(-1), math.Inf(-1)
	for _, l := range ch.Lines {
		for i := range min(len(l.X), len(l.Y)) {
			if !finite(l.X[i]) || !finite(l.Y[i]) {
				continue
			}
			ok = true
			x0, x1 = min(x0, l.X[i]), max(x1, l.X[i])
			y0, y1 = min(y0, l.Y[i]), max(y1, l.Y[i])
		}
	}
	if ch.Zero {
		y0 = min(y0, 0)
	}
	if ch.Top > y0 {
		y1 = min(y1, ch.Top)
	}
	if y1 <= y0 {
		y1 = y0 + max(math.Abs(y0)/10, 1e-9)
	}
	return x0, x1, y0, y1, ok && finite(x1-x0) && finite(y1-y0)
}

// finite reports whether v is a number that a chart can place.
func finite(v float64) bool { return !math.IsNaN(v) && math.Abs(v) < 1e100 }

func label(f func(float64) string, v float64) string {
	if f == nil {
		return Number(v)
	}
	return f(v)
}

// drawDots draws a grid over c, in one style. The canvas and the View of ntcharts hold and style every cell by itself, which
// costs megabytes and milliseconds for a pane.
func drawDots(c *Canvas, grid *graph.BrailleGrid, s Style, ascii rune) {
	const none = 0x2800
	for y, row := range grid.BraillePatterns() {
		for x, r := range row {
			switch {
			case r == none:
				continue
			case c.Glyphs().ASCII:
				r = ascii
			}
			c.Set(x, y, r, s)
		}
	}
}
