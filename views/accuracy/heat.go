package accuracy

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// heatView draws where in the output of the layer under the cursor the error sits: channels down, positions across.
type heatView struct{ of *errorsView }

// selected returns the layer under the cursor with the error that is drawn, and its map; nil where there is none.
func (v *heatView) selected() (*report.LayerError, *report.Errors, *report.ErrorMap) {
	a, r := v.of.in.Snap.Accuracy, v.of.table.Row()
	if a == nil || r < 0 || r >= len(a.Layers) {
		return nil, nil, nil
	}
	l := &a.Layers[r]
	if v.of.own {
		return l, &l.Local, l.LocalMap
	}
	return l, &l.Accumulated, l.AccumulatedMap
}

// Layer implements pointing.
func (v *heatView) Layer() (pane.LayerRef, bool) { return v.of.Layer() }

// Named implements ui.Named.
func (v *heatView) Named() string {
	if l, _, _ := v.selected(); l != nil {
		return words.TensorName(l.Tensor)
	}
	return ""
}

func (v *heatView) Title() string {
	if l, _, _ := v.selected(); l != nil {
		return "Error in " + words.TensorName(l.Tensor)
	}
	return "Error in the tensor"
}

func (v *heatView) Note() (string, ui.Style) {
	which := "accumulated error"
	if v.of.own {
		which = "own error"
	}
	if _, e, _ := v.selected(); e != nil {
		which += ", " + words.WithDecibels(e.SQNR)
	}
	return v.of.in.Note(which)
}

func (v *heatView) Keys() []ui.Key { return v.of.below() }

func (v *heatView) Update(tea.Msg) tea.Cmd { return nil }

func (v *heatView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		l, _, m := v.selected()
		switch a := v.of.in.Snap.Accuracy; {
		case l == nil && a != nil:
			c.Fit(1, 0, w-2, ui.Muted, "no layer under the cursor")
		case l == nil:
			v.of.in.Wait(c, "comparison with FP32")
		case m == nil || !whole(m):
			c.Fit(1, 0, w-2, ui.Muted, "not available for this layer: the recording predates this report")
		default:
			drawErrorMap(c, m)
		}
	})
}

// whole reports whether a map has all of its cells: what a recording says is not to be trusted.
func whole(m *report.ErrorMap) bool {
	return m.Rows > 0 && m.Columns > 0 && m.Rows <= len(m.RMS) && m.Columns <= len(m.RMS) && m.Rows*m.Columns == len(m.RMS) && m.Channels >= m.Rows && m.Positions >= m.Columns
}

// drawErrorMap draws the cells with the numbers of channels at the left, those of positions and the scale of heat below.
// A tensor with a single position, as classes have, has its channels across.
func drawErrorMap(c *ui.Canvas, m *report.ErrorMap) {
	top := float32(0)
	for _, v := range m.RMS {
		top = max(top, v)
	}
	c.FitClauses(1, 0, c.W-2, ui.Muted, errorText(m, top))
	if c.H < 3 || c.W < 24 {
		return
	}
	heat := ui.HeatMap{Rows: m.Rows, Columns: m.Columns, Value: func(r, k int) float64 { return float64(m.RMS[r*m.Columns+k]) }}
	across, last := "position", m.Positions-1
	gutter := ui.Width(fmt.Sprint(m.Channels-1)) + 4
	if m.Positions == 1 {
		heat = ui.HeatMap{Rows: 1, Columns: m.Rows, Value: func(_, k int) float64 { return float64(m.RMS[k]) }}
		across, last = "channel", m.Channels-1
		gutter = 1
	} else {
		c.FitRight(0, 1, gutter-1, ui.Muted, "ch 0")
		if c.H > 3 {
			c.FitRight(0, c.H-2, gutter-1, ui.Muted, fmt.Sprint("ch ", m.Channels-1))
		}
	}
	plot := ui.Rect{X: gutter, Y: 1, W: c.W - gutter - 1, H: c.H - 2}
	heat.Draw(c.Sub(plot))
	x := c.Text(gutter, c.H-1, ui.Muted, across+" 0")
	end := fmt.Sprint(last)
	c.FitRight(x, c.H-1, gutter+plot.W-x, ui.Muted, end)
	drawHeatScale(c, x+2, c.H-1, gutter+plot.W-ui.Width(end)-2-x, top)
}

// drawHeatScale draws the colours from nothing to the largest error, where there are so many cells.
func drawHeatScale(c *ui.Canvas, x, y, w int, top float32) {
	const cells = 6
	if ui.Width("rms 0 ")+cells+1+ui.Width(ui.Number(float64(top)))+1 > w {
		return
	}
	x = c.Text(x, y, ui.Muted, "rms 0 ")
	ui.HeatMap{Rows: 1, Columns: cells, Max: cells, Value: func(_, k int) float64 { return float64(k) + 0.5 }}.Draw(c.Sub(ui.Rect{X: x, Y: y, W: cells, H: 1}))
	c.Text(x+cells+1, y, ui.Muted, ui.Number(float64(top)))
}

// errorText names the cell with the largest error and the channel with the least ratio.
func errorText(m *report.ErrorMap, top float32) string {
	if top == 0 {
		return "identical everywhere"
	}
	c0, c1, p0, p1 := m.Worst()
	text := "largest: " + span("channel", c0, c1)
	if m.Positions > 1 {
		text += ", " + span("position", p0, p1)
	}
	text += fmt.Sprintf(", rms %s", ui.Number(float64(top)))
	worst := -1
	for i, db := range m.SQNR {
		if worst < 0 || db < m.SQNR[worst] {
			worst = i
		}
	}
	if worst < 0 || m.Group < 1 {
		return text
	}
	return text + fmt.Sprintf("; lowest SQNR: %s, %s", span("channel", worst*m.Group, min((worst+1)*m.Group, m.Channels)-1), words.WithDecibels(m.SQNR[worst]))
}

func span(what string, first, last int) string {
	if first >= last {
		return fmt.Sprintf("%s %d", what, first)
	}
	return fmt.Sprintf("%ss %d-%d", what, first, last)
}
