package accuracy

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/calibration"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// causeView shows what the own error of the layer under the cursor is made of, how far the channels of its output reach, and what helps.
type causeView struct{ of *errorsView }

func (v *causeView) layer() *report.LayerError {
	a, r := v.of.in.Snap.Accuracy, v.of.table.Row()
	if a == nil || r < 0 || r >= len(a.Layers) {
		return nil
	}
	return &a.Layers[r]
}

// Named implements ui.Named.
func (v *causeView) Named() string {
	if l := v.layer(); l != nil {
		return words.ShortName(l.Name)
	}
	return ""
}

func (v *causeView) Title() string {
	if l := v.layer(); l != nil {
		return "Own error of " + words.ShortName(l.Name)
	}
	return "Own error"
}

func (v *causeView) Note() (string, ui.Style) {
	l := v.layer()
	if l == nil || l.Cause == nil {
		return v.of.in.Note("")
	}
	return v.of.in.Note(words.WithDecibels(l.Local.SQNR))
}

func (v *causeView) Keys() []ui.Key { return v.of.below() }

func (v *causeView) Update(tea.Msg) tea.Cmd { return nil }

func (v *causeView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		l := v.layer()
		switch {
		case l == nil && v.of.in.Snap.Accuracy != nil:
			c.Fit(1, 0, w-2, ui.Muted, "no layer under the cursor")
		case l == nil:
			v.of.in.Wait(c, "comparison with FP32")
		default:
			v.draw(c, l)
		}
	})
}

func (v *causeView) draw(c *ui.Canvas, l *report.LayerError) {
	style := v.of.graded(l.Cause.Adds)
	c.FitClauses(1, 0, c.W-2, style, addsText(l))
	if l.Local.SQNR >= words.ExactSQNR {
		return
	}
	why := l.Cause
	parts := []ui.Part{
		{Name: "inputs stored", Value: why.Inputs, Style: ui.Series1},
		{Name: "computing", Value: why.Computing, Style: ui.Series2},
		{Name: "output rounded", Value: why.Output * (1 - why.Clipped), Style: ui.Series3},
		{Name: "output clipped", Value: why.Output * why.Clipped, Style: ui.Bad},
	}
	if why.Corrected >= 0.005 {
		parts = append(parts, ui.Part{Name: "bias corrected", Value: why.Corrected, Style: ui.Series4})
	}
	shares := ui.Proportions{Parts: parts}
	const others = 3 // lines: above it, of the channels, and between them
	lines := max(min(shares.Lines(c.W), c.H-others), min(2, c.H-1))
	shares.Draw(c.Sub(ui.Rect{Y: 1, W: c.W, H: lines}))
	y := 1 + lines
	if c.H > 7 {
		c.FitClauses(1, y, c.W-2, ui.Muted, biasText(&l.Local))
		y++
	}
	r := why.Reach
	if r == nil || len(r.High) == 0 || len(r.Low) != len(r.High) || r.Group < 1 {
		return
	}
	text, style := calibration.ReachText(r)
	last := c.H - 1
	c.FitClauses(1, last, c.W-2, style, text)
	if len(r.Outliers) > 0 && last-1 > y-1 {
		last--
		key := ""
		if v.of.desk.Lacks(pane.NeedsQuantization) == "" {
			key = c.Keys("{Accuracy E}")
		}
		text := calibration.CureText(r.Cure, key)
		if names := raised(v.of.in.Snap, v.of.table.Row()); names != nil && v.of.desk.Lacks(pane.NeedsChoice) == "" {
			text = c.Keys("{Accuracy A}") + " raises " + words.ShortNames(names) + " to have it read as a float" + raisedGain(v.of.in.Snap, names) + "; it cannot be equalised: " + r.Cure.Why
		}
		c.FitClauses(1, last, c.W-2, ui.Bold, text)
	}
	if last-y >= 3 {
		reachColumns(r, -1).Draw(c.Sub(ui.Rect{Y: y, W: c.W, H: last - y}))
	}
}

// addsText says what a layer adds, and where that shows.
func addsText(l *report.LayerError) string {
	switch {
	case l.Cause.Adds >= words.ExactSQNR:
		return "adds no error"
	case l.Cause.AddsAt != "":
		return "were all others exact, this layer would leave " + words.WithDecibels(l.Cause.Adds) + "; seen at " + words.ShortName(l.Cause.AddsAt)
	}
	return "were all others exact, this layer would leave " + words.WithDecibels(l.Cause.Adds)
}

// biasText tells the mean of an error.
func biasText(e *report.Errors) string {
	return fmt.Sprintf("bias %+.3g; %s of the error is a shift of channels' means", e.Bias, words.Percent(e.BiasShare))
}

// reachColumns draws how far channels reach, those beyond the others marked, with a line at what the others reach.
func reachColumns(r *report.ChannelReach, cursor int) ui.Columns {
	far := map[int]bool{}
	for _, ch := range r.Outliers {
		far[ch/r.Group] = true
	}
	cols := ui.Columns{Log: r.Bits > 3, Line: float64(r.Rest), Cursor: cursor, Style: func(i int) ui.Style {
		if far[i] {
			return ui.Bad
		}
		return ui.Series1
	}}
	for i := range r.High {
		cols.Values = append(cols.Values, float64(max(r.High[i], -r.Low[i])))
	}
	return cols
}
