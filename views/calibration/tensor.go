package calibration

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// rangesView shows all that each calibrator makes of the tensor under the cursor.
type rangesView struct {
	of    *tensorsView
	table ui.Table
}

func newRangesView(t *tensorsView) *rangesView {
	v := &rangesView{of: t}
	columns := []ui.Column{{Title: "calibrator", Name: true, Width: 16, Flex: 2, Cell: func(r int) ui.Cell {
		name := t.report.Name(r)
		if name == t.report.Active {
			return ui.Cell{Text: name, Style: thresholdStyle(r) | ui.Bold | ui.Underline}
		}
		return ui.Cell{Text: name, Style: thresholdStyle(r)}
	}}, {Width: 6, Flex: 3, Priority: 3, Cell: func(r int) ui.Cell {
		all, top := t.tensor().Results(), 0.0
		for _, by := range all {
			top = max(top, by.SQNR)
		}
		return ui.Cell{Bar: &ui.Bar{Value: all[r].SQNR, Max: top, Style: thresholdStyle(r)}}
	}}}
	for i := range measures {
		m := &measures[i]
		columns = append(columns, ui.Column{Title: m.name, Width: []int{7, 7, 11, 10, 7, 7, 8}[i], Priority: []int{0, 0, 1, 3, 0, 0, 2}[i], Align: ui.AlignRight, Cell: func(r int) ui.Cell {
			return t.cell(m, t.tensor(), r)
		}})
	}
	v.table.Columns = append(columns, ui.Column{Title: "zero", Width: 5, Priority: 4, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
		return ui.Cell{Text: fmt.Sprint(t.tensor().Results()[r].Zero)}
	}})
	return v
}

// Named implements ui.Named.
func (v *rangesView) Named() string {
	if t := v.of.tensor(); t != nil {
		return t.Tensor
	}
	return ""
}

func (v *rangesView) Title() string {
	if t := v.of.tensor(); t != nil {
		return "Ranges of " + t.Tensor
	}
	return "Ranges"
}

func (v *rangesView) Note() (string, ui.Style) { return v.of.in.Note("bars: SQNR") }

func (v *rangesView) Keys() []ui.Key {
	return append(v.of.shared(), ui.K("enter", "use", "use the calibrator under the cursor, or for all tensors the ranges that the model brings"))
}

func (v *rangesView) Update(msg tea.Msg) tea.Cmd {
	t := v.of.tensor()
	if t == nil {
		return nil
	}
	v.table.Rows = len(t.Results())
	v.table.Refresh()
	if pane.IsKey(msg, "enter") {
		if r := v.table.Row(); r >= 0 {
			if r == len(t.By) {
				return v.of.desk.Change(v.of.useOwn)
			}
			return v.of.desk.Change(func(c *config.Config) { c.Calibrator = v.of.report.Calibrators[r] })
		}
	}
	if k, ok := msg.(tea.KeyPressMsg); ok && !pane.Has(ui.MotionKeys(), k.String()) || !v.table.Update(msg) {
		return v.of.press(msg)
	}
	return nil
}

func (v *rangesView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		t := v.of.tensor()
		if t == nil {
			v.of.in.Wait(c, "ranges")
			return
		}
		v.table.Rows = len(t.Results())
		v.table.Refresh()
		v.table.Draw(c)
	})
}

func thresholdStyle(i int) ui.Style { return ui.Series(i + 1) }

// histogramView draws the values of the tensor under the cursor with the thresholds of every calibrator.
type histogramView struct{ of *tensorsView }

// Named implements ui.Named.
func (v *histogramView) Named() string {
	if t := v.of.tensor(); t != nil {
		return t.Tensor
	}
	return ""
}

func (v *histogramView) Title() string {
	if t := v.of.tensor(); t != nil {
		return "Values of " + t.Tensor
	}
	return "Values"
}

func (v *histogramView) Note() (string, ui.Style) {
	t := v.of.tensor()
	if t == nil {
		return "", ui.Muted
	}
	scale := "linear counts"
	if v.of.log {
		scale = "log counts"
	}
	return v.of.in.Note(fmt.Sprintf("%s of %s values", scale, ui.Number(float64(t.Count))))
}

func (v *histogramView) Keys() []ui.Key { return v.of.shared() }

func (v *histogramView) Update(msg tea.Msg) tea.Cmd { return v.of.press(msg) }

func (v *histogramView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		t := v.of.tensor()
		if t == nil {
			v.of.in.Wait(c, "histograms")
			return
		}
		text := fmt.Sprintf("min %s  max %s  mean %s  std %s  zeros %s", ui.Number(float64(t.Min)), ui.Number(float64(t.Max)),
			ui.Number(t.Mean), ui.Number(t.Std), words.Percent(t.Zeros))
		c.FitClauses(1, 0, w-2, ui.Muted, text)
		h := ui.Histogram{Lo: float64(t.Histogram.Low), Hi: float64(t.Histogram.High), Log: v.of.log, Style: ui.Series1}
		for _, n := range t.Histogram.Counts {
			h.Counts = append(h.Counts, float64(n))
		}
		for i, by := range t.Results() {
			low, high := by.Ends()
			h.Thresholds = append(h.Thresholds, ui.Threshold{Name: v.of.report.Name(i), At: []float64{low, high}, Style: thresholdStyle(i)})
		}
		foot := 0
		if r := t.Reach; r != nil && len(r.Outliers) > 0 && c.H > 7 {
			foot = 2
			text, style := ReachText(r)
			c.FitClauses(1, c.H-2, c.W-2, style, text)
			key := ""
			if v.of.desk.Lacks(pane.NeedsQuantization) == "" {
				key = c.Keys("{Calibration E}")
			}
			c.FitClauses(1, c.H-1, c.W-2, ui.Bold, CureText(r.Cure, key))
		}
		h.Draw(c.Sub(ui.Rect{Y: 1, W: c.W, H: c.H - 1 - foot}))
	})
}

// ReachText says which channels set a range, and what that costs the others.
func ReachText(r *report.ChannelReach) (string, ui.Style) {
	if len(r.Outliers) == 0 {
		return fmt.Sprintf("channels: the furthest reaches %s; none costs the others a bit", ui.Number(float64(r.Amax))), ui.Muted
	}
	name := fmt.Sprintf("channel %d reaches", r.Outliers[0])
	if n := len(r.Outliers); n > 1 {
		name = fmt.Sprintf("%d channels, first %d, reach", n, r.Outliers[0])
	}
	return fmt.Sprintf("%s %s, the others %s: they lose %.1f bits; scale %s, they need %s", name, ui.Number(float64(r.Amax)), ui.Number(float64(r.Rest)),
		r.Bits, ui.Number(float64(r.Scale)), ui.Number(float64(r.Needed))), ui.Bad
}

// CureText says how channels are equalised, and by which key; "" where none does.
func CureText(c *report.Cure, key string) string {
	switch {
	case c == nil:
		return ""
	case c.Done:
		return "its channels are equalised already"
	case c.Equalization == "" && len(c.Raise) > 0:
		return "raise " + words.ShortNames(c.Raise) + " to have it read as a float; it cannot be equalised: " + c.Why
	case c.Equalization == "":
		return "it cannot be equalised: " + c.Why
	}
	with := words.ShortNames(c.With)
	text := fmt.Sprintf("equalise by %s with %s", c.Equalization, with)
	if key != "" {
		text = key + " equalises by " + c.Equalization + " with " + with
	}
	if c.Gain > 0 {
		text += fmt.Sprintf(": %+.1f dB expected", c.Gain)
	}
	return text
}
