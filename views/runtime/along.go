package runtime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// alongAxis is which axis a curve is along, or the two that a grid is over, and which latency is allowed there.
type alongAxis struct {
	symbol string        // empty: the widest
	grid   int           // over a pair of axes, from 1 on; 0: along the one
	limit  time.Duration // 0: any
	sweep  *report.Sweep // what is known there, with what keeps the limit; without points where nothing is
}

// choose brings what is known up to date.
func (x *alongAxis) choose(r *report.Runtime) {
	x.sweep = &report.Sweep{}
	switch a := x.axis(r); {
	case a != nil:
		x.sweep = a.Along()
	case x.over(r):
		if g := r.GridOf(x.pair(r)); g != nil {
			*x.sweep = *g
		}
	}
	x.sweep.Points, x.sweep.LatencyLimit = slices.Clone(x.sweep.Points), x.limit
	x.sweep.Choose()
}

// over reports whether it is over two axes.
func (x *alongAxis) over(r *report.Runtime) bool {
	return x.grid > 0 && r != nil && x.grid <= len(r.Pairs())
}

// pair is that of the axes it is over.
func (x *alongAxis) pair(r *report.Runtime) [2]int { return r.Pairs()[x.grid-1] }

// axis returns the axis that is chosen, or where that has no range the widest; nil where none has, and over two of them.
func (x *alongAxis) axis(r *report.Runtime) *report.RuntimeAxis {
	if r == nil || x.over(r) {
		return nil
	}
	i := r.Widest(func(a *report.RuntimeAxis) bool { return a.Symbol == x.symbol })
	if i < 0 {
		i = r.Widest(func(*report.RuntimeAxis) bool { return true })
	}
	if i < 0 {
		return nil
	}
	return &r.Axes[i]
}

// names are those of the axis, or of the two.
func (x *alongAxis) names(r *report.Runtime) string {
	if a := x.axis(r); a != nil {
		return a.Symbol
	}
	pair := x.pair(r)
	return r.Axes[pair[0]].Symbol + " × " + r.Axes[pair[1]].Symbol
}

// ranged returns the axes that have a range, and which of them is chosen; -1 where two are.
func (x *alongAxis) ranged(r *report.Runtime) (list []*report.RuntimeAxis, at int) {
	for i := range r.Axes {
		if a := &r.Axes[i]; a.Min < a.Max && a.Follows == nil {
			list = append(list, a)
		}
	}
	return list, slices.Index(list, x.axis(r))
}

// next goes on to the next axis, behind the last of several to pairs of them, the widest two first, and behind these to the first axis.
func (x *alongAxis) next(r *report.Runtime) tea.Cmd {
	if r == nil {
		return nil
	}
	list, at := x.ranged(r)
	if len(list) < 2 {
		return pane.Say(ui.Plain, "no other axis has a range")
	}
	switch {
	case x.over(r):
		if x.grid++; x.grid > len(r.Pairs()) {
			x.grid, x.symbol = 0, list[0].Symbol
		}
	case at+1 == len(list):
		x.grid = 1
	default:
		x.grid, x.symbol = 0, list[at+1].Symbol
	}
	return nil
}

// place says which of several axes is shown.
func (x *alongAxis) place(r *report.Runtime) string {
	if n := len(r.Pairs()); x.over(r) && n > 1 {
		return fmt.Sprintf("pair %d of %d, ", x.grid, n)
	}
	list, at := x.ranged(r)
	if len(list) < 2 || at < 0 {
		return ""
	}
	return fmt.Sprintf("axis %d of %d, ", at+1, len(list))
}

// rest says where the other axes are; "" where there are none.
func (x *alongAxis) rest(r *report.Runtime) string {
	var varied []int
	if x.over(r) {
		pair := x.pair(r)
		varied = pair[:]
	} else if a := x.axis(r); a != nil {
		varied = []int{slices.IndexFunc(r.Axes, func(o report.RuntimeAxis) bool { return o.Symbol == a.Symbol })}
	}
	if text := report.RestText(r.Rest(varied...)); text != "" {
		return ", at " + text
	}
	return ""
}

// nextLimit allows the next longer latency of 1, 2, 5, 10, ... that some points keep and others do not, or any.
func (x *alongAxis) nextLimit() tea.Cmd {
	if len(x.sweep.Points) == 0 {
		return nil
	}
	byMedian := func(a, b report.SweepPoint) int { return cmp.Compare(a.Latency.Median, b.Latency.Median) }
	low, high := slices.MinFunc(x.sweep.Points, byMedian).Latency.Median, slices.MaxFunc(x.sweep.Points, byMedian).Latency.Median
	for unit := time.Duration(1); unit < high; unit *= 10 {
		for _, limit := range []time.Duration{unit, 2 * unit, 5 * unit} {
			if limit > x.limit && limit >= low && limit < high {
				x.limit = limit
				return nil
			}
		}
	}
	if x.limit == 0 {
		return pane.Say(ui.Plain, "all points take about as long")
	}
	x.limit = 0
	return nil
}

// mark is what is said of the points to choose.
func (x *alongAxis) mark(row int) string {
	switch p := &x.sweep.Points[row]; {
	case p.Best:
		return " " + x.sweep.Marked()
	case p.Alike: // within noise
		return " ~" + x.sweep.Marked()
	}
	return ""
}

// draw draws the latency over the extent, and what beside adds to it, where there is room above the table, and returns what is left for that.
func (x *alongAxis) draw(c *ui.Canvas, r *report.Runtime, table *ui.Table, beside func(*report.RuntimeAxis, *ui.Scatter)) *ui.Canvas {
	if x.over(r) {
		h := drawGrid(c, x.sweep, table.Row())
		return c.Sub(ui.Rect{Y: h, W: c.W, H: c.H - h})
	}
	const least = 7 // lines of a picture that tells something
	h := min(c.H-table.Rows-1, 2*c.H/3)
	if table.Rows < 2 || h < least {
		return c
	}
	a := x.axis(r)
	s := x.picture(a, table.Row())
	beside(a, &s)
	s.Draw(c.Sub(ui.Rect{X: 0, Y: 0, W: c.W, H: h}))
	return c.Sub(ui.Rect{X: 0, Y: h, W: c.W, H: c.H - h})
}

// scale is logarithmic where the ends of a range are so far apart that its lower half would be a corner of the picture.
type scale bool

func scaleOf(a *report.RuntimeAxis) scale { return scale(a.Max >= 16*max(1, a.Min)) }

func (s scale) of(v float64) float64 {
	if s {
		return math.Log2(max(v, 1))
	}
	return v
}

func (s scale) back(v float64) float64 {
	if s {
		return math.Exp2(v)
	}
	return v
}

// picture is the latency over the extent.
func (x *alongAxis) picture(a *report.RuntimeAxis, row int) ui.Scatter {
	scale := scaleOf(a)
	s := ui.Scatter{Whole: len(x.sweep.Points) > 1, Cursor: row, Click: func(i int) tea.Msg { return pointAt(i) },
		XLabel: func(v float64) string { return fmt.Sprintf("%.0f", scale.back(v)) }, YLabel: func(v float64) string { return words.Duration(scale.back(v)) }}
	if x.limit > 0 {
		limit := scale.of(float64(x.limit))
		s.Line = &limit
	}
	for _, p := range x.sweep.Points {
		style := ui.Series1
		switch {
		case p.Best:
			style = ui.Good
		case !p.Within:
			style = ui.Bad
		}
		s.Points = append(s.Points, ui.ScatterPoint{X: scale.of(float64(p.Values[0])), Y: scale.of(float64(p.Latency.Median)), Front: true, Style: style})
	}
	return s
}
