package timings

import (
	"fmt"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// Roofline returns layers under the ceilings of the device, the one at cursor marked; -1 for none.
func Roofline(t *report.Timings, layers []report.LayerTiming, cursor int) ui.Roofline {
	r := ui.Roofline{Cursor: -1, XUnit: "op/B", YUnit: "op/s"}
	p := t.Roofline.Last()
	if p == nil {
		return r
	}
	bound := ""
	for i := range layers {
		l := &layers[i]
		if l.Roof == nil || l.Median <= 0 {
			continue
		}
		if i == cursor {
			r.Cursor, bound = len(r.Points), l.Roof.Bound
		}
		point := ui.RooflinePoint{X: l.Roof.Intensity, Y: l.Roof.Reached * 1e9, Style: pane.PrecisionStyle(l.Precision)}
		if l.Roof.Operations == 0 {
			point.Y = float64(l.Bytes) / l.Median.Seconds()
		}
		r.Points = append(r.Points, point)
	}
	for _, k := range p.Ceilings() {
		r.Roofs = append(r.Roofs, ui.Ceiling{Name: k.Name, Rate: k.Rate, On: k.Is(bound)})
	}
	for _, k := range p.Memory {
		r.Slopes = append(r.Slopes, ui.Ceiling{Name: k.Name, Rate: k.Rate, On: k.Name == bound})
	}
	return r
}

// StandText says where a layer stands: what it reaches, the ceiling that holds there and the share of it.
func StandText(l *report.LayerTiming) string {
	r := l.Roof
	if r == nil {
		return "no ceiling is known for it"
	}
	text := fmt.Sprintf("%s of %s's ceiling: at least %s", words.Percent(r.OfPeak), r.Bound, ui.Duration(r.Floor))
	if r.Above() {
		text = fmt.Sprintf("%s of %s's ceiling, which was measured too low: %s", words.Percent(r.OfPeak), r.Bound, ui.Duration(r.Floor))
	}
	text += " of " + ui.Duration(l.Median)
	if r.Operations > 0 {
		text += fmt.Sprintf(", %s of %s", ui.Quantity(r.Reached*1e9, "op/s"), ui.Quantity(r.Ceiling*1e9, "op/s"))
		return text + fmt.Sprintf(", %s op/B", ui.Number(r.Intensity))
	}
	return text + fmt.Sprintf(", %s without arithmetic", ui.Quantity(float64(l.Bytes)/l.Median.Seconds(), "B/s"))
}

// RooflineNote says what is to be known of the ceilings: why there are none, or that they are in doubt. "" for nothing.
func RooflineNote(r *report.Roofline) string {
	switch {
	case r == nil:
		return "no ceilings were measured"
	case r.Last() == nil:
		return r.Unmeasured
	case len(r.Above) > 0:
		text := words.Plural(len(r.Above), "layer") + " above the ceiling, which other work on the machine lowered"
		if len(r.Disturbed) > 0 {
			text += " (" + strings.Join(r.Disturbed, ", ") + " in doubt)"
		}
		return text
	case len(r.Disturbed) > 0:
		return strings.Join(r.Disturbed, ", ") + " in doubt: measured while the machine did something else"
	}
	return ""
}

// shareOfPeak returns what a layer reaches of its ceiling; 0 where none is known.
func shareOfPeak(l *report.LayerTiming) float64 {
	if l.Roof == nil {
		return 0
	}
	return l.Roof.OfPeak
}

func boundOf(l *report.LayerTiming) string {
	if l.Roof == nil {
		return "·"
	}
	return l.Roof.Bound
}

// peakCell writes what a layer reaches of its ceiling; more than all of it is marked.
func peakCell(l *report.LayerTiming) ui.Cell {
	switch r := l.Roof; {
	case r == nil:
		return ui.Cell{Text: "·"}
	case r.Above():
		return ui.Cell{Text: "!" + words.Percent(r.OfPeak), Style: ui.Warn}
	default:
		return ui.Cell{Text: words.Percent(r.OfPeak)}
	}
}
