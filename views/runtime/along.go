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

// alongAxis is which axis a curve is along, and which latency is allowed there.
type alongAxis struct {
	symbol string        // empty: the widest
	limit  time.Duration // 0: any
}

// pointAt is a click on a point of the picture.
type pointAt int

// axis returns the axis that is chosen, or where that has no range the widest; nil where none has.
func (x *alongAxis) axis(r *report.Runtime) *report.RuntimeAxis {
	if r == nil {
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

// ranged returns the axes that have a range, and which of them is chosen.
func (x *alongAxis) ranged(r *report.Runtime) (list []*report.RuntimeAxis, at int) {
	for i := range r.Axes {
		if a := &r.Axes[i]; a.Min < a.Max {
			list = append(list, a)
		}
	}
	return list, slices.Index(list, x.axis(r))
}

func (x *alongAxis) nextAxis(r *report.Runtime) tea.Cmd {
	if r == nil {
		return nil
	}
	list, at := x.ranged(r)
	if len(list) < 2 {
		return pane.Say(ui.Plain, "no other axis has a range")
	}
	x.symbol = list[(at+1)%len(list)].Symbol
	return nil
}

// place says which of several axes is shown.
func (x *alongAxis) place(r *report.Runtime) string {
	list, at := x.ranged(r)
	if len(list) < 2 {
		return ""
	}
	return fmt.Sprintf("axis %d of %d, ", at+1, len(list))
}

// nextLimit allows the next longer latency of 1, 2, 5, 10, ... that some points of the curve keep and others do not, or any.
func (x *alongAxis) nextLimit(r *report.Runtime) tea.Cmd {
	a := x.axis(r)
	if a == nil || len(a.Curve) == 0 {
		return nil
	}
	byMedian := func(a, b report.SweepPoint) int { return cmp.Compare(a.Latency.Median, b.Latency.Median) }
	low, high := slices.MinFunc(a.Curve, byMedian).Latency.Median, slices.MaxFunc(a.Curve, byMedian).Latency.Median
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

// best returns the point to choose within the limit, -1 where there is none.
func (x *alongAxis) best(a *report.RuntimeAxis) int {
	of := *a
	of.Curve = slices.Clone(a.Curve)
	return of.Choose(x.limit)
}

// mark is what is said of the point to choose.
func (x *alongAxis) mark(a *report.RuntimeAxis, row int) string {
	switch {
	case row != x.best(a):
		return ""
	case a.Batch:
		return " best"
	}
	return " largest"
}

// draw draws the latency over the extent, and what beside adds to it, where there is room above the table, and returns what is left for that.
func (x *alongAxis) draw(c *ui.Canvas, r *report.Runtime, table *ui.Table, beside func(*report.RuntimeAxis, *ui.Scatter)) *ui.Canvas {
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
	best := x.best(a)
	scale := scaleOf(a)
	s := ui.Scatter{Cursor: row, Click: func(i int) tea.Msg { return pointAt(i) },
		XLabel: func(v float64) string { return fmt.Sprintf("%.0f", scale.back(v)) }, YLabel: func(v float64) string { return words.Duration(scale.back(v)) }}
	if x.limit > 0 {
		limit := scale.of(float64(x.limit))
		s.Line = &limit
	}
	for i, p := range a.Curve {
		style := ui.Series1
		switch {
		case i == best:
			style = ui.Good
		case x.limit > 0 && p.Latency.Median > x.limit:
			style = ui.Bad
		}
		s.Points = append(s.Points, ui.ScatterPoint{X: scale.of(float64(p.Values[0])), Y: scale.of(float64(p.Latency.Median)), Front: true, Style: style})
	}
	return s
}
