package accuracy

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// labelsView states how often the engine is right, and how often it agrees with FP32.
type labelsView struct {
	in   pane.Input
	hint func(pane.Fact) string
}

func (v *labelsView) Title() string { return "Predictions" }

func (v *labelsView) Keys() []ui.Key { return nil }

func (v *labelsView) Update(msg tea.Msg) tea.Cmd { v.in.Take(msg); return nil }

func (v *labelsView) Note() (string, ui.Style) {
	a := v.in.Snap.Accuracy
	if a == nil {
		return "", ui.Muted
	}
	if off := a.Labels.Offset; off != 0 {
		return strings.TrimSpace("labels off by one? " + v.hint(pane.LabelsOff{By: off})), ui.Warn
	}
	return v.in.Note(words.Plural(a.Items, "item"))
}

func (v *labelsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		a := v.in.Snap.Accuracy
		if a == nil {
			v.in.Wait(c, "predictions")
			return
		}
		name := strings.ToUpper(a.Precision)
		l := a.Labels
		var bars ui.Bars
		add := func(label string, share float64, s ui.Style) {
			if share >= 0 {
				bars = append(bars, ui.LabelledBar{Label: label, Value: fmt.Sprintf("%.2f%%", 100*share), Bar: ui.Bar{Value: share, Max: 1, Style: s}})
			}
		}
		beside := !a.Alone && a.Precision != string(config.FP32)
		if beside {
			add("top-1 FP32", l.FP32Top1, ui.F32)
		}
		add("top-1 "+name, l.Top1, pane.PrecisionStyle(a.Precision))
		add("agreement", l.Agreement, ui.Good)
		if beside {
			add("top-5 FP32", l.FP32Top5, ui.F32)
		}
		add("top-5 "+name, l.Top5, pane.PrecisionStyle(a.Precision))
		if d := l.Detection; d != nil {
			if beside {
				add("mAP FP32", d.FP32MAP, ui.F32)
			}
			add("mAP "+name, d.MAP, pane.PrecisionStyle(a.Precision))
			if beside {
				add("mAP50 FP32", d.FP32MAP50, ui.F32)
			}
			add("mAP50 "+name, d.MAP50, pane.PrecisionStyle(a.Precision))
		}
		bars.Draw(c)
		y := len(bars) + min(len(bars), 1)
		text, style := remark(v.in.Snap)
		lines := ui.Wrap(text, w-2)
		if y+len(lines) > h {
			y = len(bars)
		}
		for _, line := range lines {
			c.Fit(1, y, w-2, style, line)
			y++
		}
	})
}

// remark says what keeps the shares from telling all, or what tells instead; "" for nothing.
func remark(s *report.Snapshot) (string, ui.Style) {
	a := s.Accuracy
	if c := s.Guesses(); c != nil {
		return fmt.Sprintf("no better than a guess, which is right for up to %s of %d classes: is the data prepared as in training?", words.Percent(c.Bound), c.Classes), ui.Warn
	}
	switch l := a.Labels; {
	case l.Detection != nil:
		return boxes(a)
	case a.Task == report.TaskDetection:
		return "no boxes are there to be found", ui.Warn
	case a.Random && l.Unclassed == "":
		return "random input: accuracy is not meaningful, only agreement is", ui.Warn
	case l.Unclassed != "":
		return "no agreement of classes: " + l.Unclassed + ". The errors of the outputs tell.", ui.Warn
	case l.Tokens > 0:
		return perplexityText(a), ui.Plain
	case a.Alone:
		return report.WhyAlone, ui.Muted
	case l.BesideFP32 != nil && a.Precision != string(config.FP32):
		if l.BesideFP32.Apart() {
			return "top-1: " + l.BesideFP32.String(), ui.Warn
		}
		return "top-1: " + l.BesideFP32.String(), ui.Muted
	case l.Top1 < 0:
		return "the data has no labels", ui.Muted
	}
	return "", ui.Plain
}

// boxes says of what precision is, and whether FP32's can be told from it.
func boxes(a *report.Accuracy) (string, ui.Style) {
	d := a.Labels.Detection
	text, style := fmt.Sprintf("%s of %s", words.Plural(d.Boxes, "box"), words.Plural(d.Classes, "class")), ui.Muted
	if d.AgainstFP32Boxes {
		text, style = "the data has no boxes: those that FP32 is sure of stand for them", ui.Warn
	}
	if a.Alone {
		text += ". " + report.WhyAlone
	}
	if d.BesideFP32 != nil && a.Precision != string(config.FP32) {
		text += ". mAP: " + d.BesideFP32.String()
		if d.BesideFP32.Apart() {
			style = ui.Warn
		}
	}
	return text, style
}

// perplexityText says how likely a language model holds what follows in a text.
func perplexityText(a *report.Accuracy) string {
	l := &a.Labels
	text := fmt.Sprintf("perplexity %s of %s", words.Perplexity(l.Perplexity), words.Plural(l.Tokens, "next token"))
	if a.Alone {
		return text + ". " + report.WhyAlone
	}
	return text + fmt.Sprintf(" (FP32 %s)", words.Perplexity(l.FP32Perplexity))
}
