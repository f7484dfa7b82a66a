package exchange

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// The measures of pictures, in pixels.
const (
	pictureWidth = 1060
	labelWidth   = 330
	valueWidth   = 130
	rowHeight    = 18
	mostRows     = 400 // of bars; what is beyond has a row that says so
)

// drawing collects the elements of an SVG.
type drawing struct {
	strings.Builder
}

// finish returns the picture.
func (d *drawing) finish(height float64, what string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" width="%d" viewBox="0 0 %d %.0f">%s</svg>`,
		html.EscapeString(what), pictureWidth, pictureWidth, height, d.String())
}

func (d *drawing) rect(x, y, w, h float64, class, tip string) {
	fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"><title>%s</title></rect>`, x, y, max(w, 0.5), max(h, 0.5), class, html.EscapeString(tip))
}

func (d *drawing) text(x, y float64, anchor, class, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(text))
}

// precisionClass is the colour of a number format.
func precisionClass(p string) string {
	switch p {
	case "f32", "fp32":
		return "f32"
	case "f16", "bf16", "fp16":
		return "f16"
	case "i8", "u8", "int8":
		return "i8"
	}
	return "other"
}

// cut shortens a name in its middle.
func cut(name string, most int) string {
	r := []rune(name)
	if len(r) <= most {
		return name
	}
	return string(r[:most/2-1]) + "…" + string(r[len(r)-most/2:])
}

// barRow is a row of bars.
type barRow struct {
	label, value, class string
	length              float64 // 0 to 1
}

// bars draws rows of bars.
func bars(rows []barRow, what string) string {
	var d drawing
	left := 0
	if len(rows) > mostRows {
		left = len(rows) - mostRows
		rows = rows[:mostRows]
	}
	y := 0.0
	for _, r := range rows {
		d.text(labelWidth-8, y+13, "end", "", cut(r.label, 46))
		d.rect(labelWidth, y+3, r.length*(pictureWidth-labelWidth-valueWidth), rowHeight-6, r.class, r.label+": "+r.value)
		d.text(labelWidth+r.length*(pictureWidth-labelWidth-valueWidth)+6, y+13, "start", "soft", r.value)
		y += rowHeight
	}
	if left > 0 {
		d.text(labelWidth, y+13, "start", "soft", fmt.Sprintf("and %d more, in the table", left))
		y += rowHeight
	}
	return d.finish(y, what)
}

func timingsPicture(t *report.Timings) picture {
	top := 1.0
	for _, l := range t.Layers {
		top = max(top, float64(l.Median))
	}
	var rows []barRow
	for _, l := range t.Layers {
		first, others := report.Principal(l.Name)
		rows = append(rows, barRow{first + others, fmt.Sprintf("%.1f µs, %.1f %%", micros(l.Median), 100*l.Share), precisionClass(l.Precision), float64(l.Median) / top})
	}
	note := "medians, in order of execution; colours are precisions: blue FP32, violet FP16, green INT8"
	if t.Estimated {
		note = "estimated, " + note
	}
	return picture{"Time of every layer", note, bars(rows, "times of layers")}
}

// fusionPicture draws the source layers on the left, the engine's on the right, and which is in which.
func fusionPicture(p *report.Passes) picture {
	var d drawing
	const right, most, top = 640.0, 400, 18
	places := map[string]int{}
	engine := p.Engine[:min(len(p.Engine), most)]
	source := p.Ledger[:min(len(p.Ledger), most)]
	scale := float64(len(source)) / float64(max(1, len(engine)))
	d.text(0, 12, "start", "soft", fmt.Sprintf("%d source layers", len(p.Ledger)))
	d.text(right, 12, "start", "soft", fmt.Sprintf("%d engine layers", len(p.Engine)))
	at := func(i int, stretch float64) float64 { return top + (float64(i)+0.5)*rowHeight*stretch }
	stretch := max(scale, 1)
	if scale > 1 { // the longer side has its rows close together
		stretch = scale
	}
	for i, l := range engine {
		places[l.Name] = i
		y := at(i, stretch)
		first, others := report.Principal(l.Name)
		d.rect(right, y-7, 8, 14, precisionClass(l.Precision), l.Name)
		d.text(right+14, y+4, "start", "", cut(first+others, 48)+"  "+l.Op+" "+l.Precision)
	}
	for i, e := range source {
		y := at(i, max(1/scale, 1))
		d.text(0, y+4, "start", map[bool]string{true: "soft"}[e.Into == ""], cut(e.Layer, 44)+"  "+e.Op)
		if j, ok := places[e.Into]; ok {
			to := at(j, stretch)
			fmt.Fprintf(&d, `<path class="edge" d="M%.0f %.1fC%.0f %.1f %.0f %.1f %.0f %.1f"/>`, right-200, y, right-100, y, right-100, to, right-4, to)
		} else {
			d.text(right-196, y+4, "start", "warn", e.Fate)
		}
	}
	height := max(at(len(source), max(1/scale, 1)), at(len(engine), stretch))
	note := fmt.Sprintf("%d kept, %d fused, %d folded, %d eliminated", p.Kept, p.Fused, p.Folded, p.Eliminated)
	if len(p.Engine) > most || len(p.Ledger) > most {
		note += fmt.Sprintf("; the first %d of each are drawn", most)
	}
	return picture{"Graph before and after fusion", note, d.finish(height, "source layers and the engine layers that compute them")}
}

// memoryPicture draws offsets over steps.
func memoryPicture(m *report.Memory) picture {
	var d drawing
	const height, left = 320.0, 70.0
	w := (pictureWidth - left) / float64(len(m.Steps))
	peak := float64(max(m.Peak, 1))
	for i, s := range m.Slots {
		if s.IO || s.Of != "" || s.Bytes <= 0 {
			continue
		}
		first, last := max(s.First, 0), min(s.Last, len(m.Steps)-1)
		h := height * float64(s.Bytes) / peak
		y := height - height*float64(s.Offset)/peak - h
		d.rect(left+float64(first)*w, y, float64(last-first+1)*w-1, h-1, fmt.Sprintf("s%d", i%4), fmt.Sprintf("%s %s: %d bytes at %d, steps %d to %d", s.Tensor, s.Desc, s.Bytes, s.Offset, s.First, s.Last))
	}
	fmt.Fprintf(&d, `<path class="axis" d="M%.0f 0V%.0fH%d"/>`, left, height, pictureWidth)
	d.text(left-6, 12, "end", "soft", size(m.Peak))
	d.text(left-6, height, "end", "soft", "0")
	d.text(left, height+16, "start", "soft", "step 0")
	d.text(pictureWidth, height+16, "end", "soft", fmt.Sprintf("step %d", len(m.Steps)-1))
	return picture{"Memory of activations", fmt.Sprintf("offsets over steps: %s at the peak, %s without reuse, %s at least", size(m.Peak), size(m.Naive), size(m.LowerBound)), d.finish(height+22, "memory over steps")}
}

func accuracyPicture(a *report.Accuracy) picture {
	var rows []barRow
	for _, l := range a.Layers {
		first, others := report.Principal(l.Name)
		class := precisionClass(l.Precision)
		if l.Accumulated.SQNR < a.Tolerance {
			class = "warn"
		}
		rows = append(rows, barRow{first + others, decibels(l.Accumulated.SQNR) + " dB", class, min(1, max(0, l.Accumulated.SQNR/80))})
	}
	return picture{"Accuracy of every layer", fmt.Sprintf("accumulated ratio of signal to quantisation noise against %s, full width 80 dB; orange: below %g dB", a.LayersAgainst(), a.Tolerance), bars(rows, "accuracy of layers")}
}

// calibrationPicture draws the histograms of the first tensors that are quantised, with the ranges that the calibrators find.
func calibrationPicture(c *report.Calibration, unsigned bool) picture {
	const most, height, columns = 12, 90.0, 3
	list := slices.Clone(c.Tensors)
	slices.SortStableFunc(list, func(a, b report.TensorCalibration) int {
		return map[bool]int{true: 0, false: 1}[a.Used] - map[bool]int{true: 0, false: 1}[b.Used]
	})
	list = list[:min(len(list), most)]
	var d drawing
	const wide = pictureWidth / columns
	for i, t := range list {
		x, y := float64(i%columns)*wide, float64(i/columns)*(height+34)
		d.text(x, y+12, "start", "", cut(t.Tensor, 44))
		top := 1.0
		for _, n := range t.Histogram.Counts {
			top = max(top, math.Log1p(float64(n)))
		}
		w := (wide - 20) / float64(max(1, len(t.Histogram.Counts)))
		fmt.Fprintf(&d, `<path class="s0" d="M%.0f %.0f`, x, y+18+height)
		for _, n := range t.Histogram.Counts {
			fmt.Fprintf(&d, "V%.1fh%.2f", y+18+height-height*math.Log1p(float64(n))/top, w)
		}
		fmt.Fprintf(&d, `V%.0fZ"/>`, y+18+height)
		span := float64(t.Histogram.High - t.Histogram.Low)
		for k, r := range t.By {
			if k < len(c.Calibrators) && c.Calibrators[k] == c.Active && span > 0 {
				low, high := -128.0, 127.0
				if unsigned {
					low, high = 0, 255
				}
				for _, v := range []float64{(low - float64(r.Zero)) * float64(r.Scale), (high - float64(r.Zero)) * float64(r.Scale)} {
					if at := (v - float64(t.Histogram.Low)) / span; at >= 0 && at <= 1 {
						fmt.Fprintf(&d, `<rect x="%.1f" y="%.1f" width="1.5" height="%.0f" class="warn"><title>%s</title></rect>`, x+at*(wide-20), y+18, height, html.EscapeString(fmt.Sprintf("%s: %g", c.Active, v)))
					}
				}
			}
		}
	}
	rows := float64((len(list) + columns - 1) / columns)
	return picture{"Calibration", fmt.Sprintf("values of the first %d of %d tensors, on a logarithmic scale; orange: what 8 bits reach by %s", len(list), len(c.Tensors), c.Active), d.finish(rows*(height+34), "histograms of tensors")}
}
