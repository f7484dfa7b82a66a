package calibration

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// channelsView draws the largest weight of every output channel of the layer under the cursor, and below each what one
// scale for all costs it.
type channelsView struct{ of *weightsView }

// Named implements ui.Named.
func (v *channelsView) Named() string {
	if l := v.of.layer(); l != nil {
		return words.ShortName(l.Layer)
	}
	return ""
}

func (v *channelsView) Title() string {
	if l := v.of.layer(); l != nil {
		return "Channels of " + words.ShortName(l.Layer)
	}
	return "Channels"
}

func (v *channelsView) Note() (string, ui.Style) {
	text := "by number"
	if v.of.sorted {
		text = "largest first"
	}
	if v.of.log {
		text += ", log scale"
	}
	return v.of.in.Note(fmt.Sprintf("%d %s", len(v.of.order), text))
}

func (v *channelsView) Keys() []ui.Key { return v.of.shared() }

func (v *channelsView) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	switch k.String() {
	case "left", "h", "up", "k":
		v.of.channel--
	case "right", "l", "down", "j":
		v.of.channel++
	case "pgup", "ctrl+u":
		v.of.channel -= 16
	case "pgdown", "ctrl+d":
		v.of.channel += 16
	case "g", "home":
		v.of.channel = 0
	case "G", "end":
		v.of.channel = len(v.of.order)
	default:
		v.of.press(msg)
	}
	v.of.channel = max(min(v.of.channel, len(v.of.order)-1), 0)
	return nil
}

func (v *channelsView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		l := v.of.layer()
		if l == nil || len(v.of.order) == 0 || len(v.of.order) != len(l.Amax) {
			v.of.in.Wait(c, "weights")
			return
		}
		c.FitClauses(1, 0, w-2, ui.Plain, channelText(l, v.of.order[v.of.channel]))
		median := medianOf(l.Amax)
		far := map[int]bool{}
		for _, ch := range l.Outliers {
			far[ch/max(l.Group, 1)] = true
		}
		cols := ui.Columns{Cursor: v.of.channel, Log: v.of.log, Line: float64(median), Style: func(i int) ui.Style {
			switch {
			case far[v.of.order[i]]:
				return ui.Bad
			case l.Amax[v.of.order[i]] < median/100:
				return ui.Warn
			}
			return ui.Series1
		}}
		for _, ch := range v.of.order {
			cols.Values = append(cols.Values, float64(l.Amax[ch]))
			cols.Foot = append(cols.Foot, channelLoss(l, ch)/(2*twoBits))
		}
		cols.Draw(c.Sub(ui.Rect{Y: 1, W: w, H: h - 2}))
		c.Fit(1, h-1, w-2, ui.Muted, "amax; dots: median; strip: bits that one scale loses, up to 4")
	})
}

// channelLoss returns what one scale for all channels costs one of them, in dB.
func channelLoss(l *report.WeightCalibration, c int) float64 {
	return max(min(l.SQNR[c], words.ExactSQNR)-l.Shared[c], 0)
}

// channelText says all about one channel, or a group of them.
func channelText(l *report.WeightCalibration, c int) string {
	name := fmt.Sprintf("channel %d", c)
	if l.Group > 1 {
		name = fmt.Sprintf("channels %d to %d", c*l.Group, min((c+1)*l.Group, l.Channels)-1)
	}
	return fmt.Sprintf("%s: amax %s, scale %s, %s; per tensor %s", name,
		ui.Number(float64(l.Amax[c])), ui.Number(float64(l.Amax[c])/127), words.WithDecibels(l.SQNR[c]), words.WithDecibels(l.Shared[c]))
}

func medianOf(values []float32) float32 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// weightFactsView sums up the weights of the layer under the cursor.
type weightFactsView struct{ of *weightsView }

// Named implements ui.Named.
func (v *weightFactsView) Named() string {
	if l := v.of.layer(); l != nil {
		return words.ShortName(l.Layer)
	}
	return ""
}

func (v *weightFactsView) Title() string {
	if l := v.of.layer(); l != nil {
		return "Weights of " + words.ShortName(l.Layer)
	}
	return "Weights"
}

func (v *weightFactsView) Note() (string, ui.Style) { return v.of.in.Note("") }

func (v *weightFactsView) Keys() []ui.Key { return v.of.shared() }

func (v *weightFactsView) Update(msg tea.Msg) tea.Cmd {
	v.of.press(msg)
	return nil
}

func (v *weightFactsView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		l := v.of.layer()
		if l == nil || len(l.Amax) == 0 {
			v.of.in.Wait(c, "weights")
			return
		}
		weightFacts(l).Draw(c)
	})
}

func weightFacts(l *report.WeightCalibration) ui.Facts {
	loss := weightLoss(l)
	facts := ui.Facts{
		{Name: "spread", Value: fmt.Sprintf("%.2fx", l.Spread), Style: spreadStyle(l.Spread), Note: "largest amax over the median"},
		{Name: "per channel", Value: words.WithDecibels(l.PerChannel), Note: words.Plural(l.Channels, "scale")},
		{Name: "per tensor", Value: words.WithDecibels(l.PerTensor), Note: fmt.Sprintf("%.1f dB less, %.1f bits", loss, loss/oneBit), Style: lossStyle(loss)},
		{Name: "nearly dead", Value: deadText(l), Note: "amax under 1% of the median"},
		{Name: "in use", Value: "not INT8"},
		{Name: "outliers", Value: listText(len(l.Outliers), l.Outliers), Note: "at least twice as far as all others", Style: outlierStyle(l)},
		{Name: "amax", Value: ui.Number(float64(slices.Min(l.Amax))) + " to " + ui.Number(float64(slices.Max(l.Amax)))},
		{Name: "tensor", Value: strings.Trim(fmt.Sprint(l.Dims), "[]"), Note: l.Tensor},
	}
	switch {
	case l.Given:
		facts[4].Value = "the model's own integers"
	case l.Used:
		facts[4].Value, facts[4].Style = "i8", ui.Good
		facts[4].Note = "one scale per channel"
	}
	return facts
}

// deadText lists the nearly dead channels, the first few.
func deadText(l *report.WeightCalibration) string {
	return listText(l.DeadCount, l.Dead)
}

// listText lists so many channels, the first few.
func listText(count int, channels []int) string {
	if count == 0 {
		return "none"
	}
	const most = 6
	var names []string
	for _, c := range channels[:min(most, len(channels))] {
		names = append(names, fmt.Sprint(c))
	}
	text := fmt.Sprintf("%d: %s", count, strings.Join(names, ", "))
	if count > most {
		text += ", ..."
	}
	return text
}

func outlierStyle(l *report.WeightCalibration) ui.Style {
	if len(l.Outliers) > 0 {
		return ui.Warn
	}
	return ui.Plain
}
