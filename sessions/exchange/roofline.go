package exchange

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"

	"github.com/trtui/trtui/sessions/report"
)

// rooflinePicture draws the layers that compute under the ceilings of their device, on logarithmic axes; ok is false where none are
// known.
func rooflinePicture(t *report.Timings) (p picture, ok bool) {
	peaks := t.Roofline.Last()
	if peaks == nil {
		return picture{}, false
	}
	x0, x1, y0, y1 := math.Inf(1), 0.0, math.Inf(1), 0.0
	for i := range t.Layers {
		if r := t.Layers[i].Roof; r != nil && r.Operations > 0 && r.Reached > 0 {
			x0, x1, y0 = min(x0, r.Intensity), max(x1, r.Intensity), min(y0, r.Reached*1e9)
		}
	}
	for _, k := range peaks.Compute {
		y1 = max(y1, k.Rate)
	}
	if x1 == 0 || !(y1 > 0) || !(x0 > 0) {
		return picture{}, false
	}
	s := logScale{x0: math.Log10(x0 / 2), x1: math.Log10(x1 * 2), y0: math.Log10(min(y0, y1) / 2), y1: math.Log10(y1 * 2)}
	var d drawing
	fmt.Fprintf(&d, `<path class="axis" d="M%.0f 0V%.0fH%d"/>`, rooflineLeft, rooflineHeight, pictureWidth)
	for e := math.Ceil(s.y0); e <= s.y1; e++ {
		_, y := s.at(s.x0, e)
		d.text(rooflineLeft-6, y+4, "end", "soft", rate(math.Pow(10, e), "op/s"))
	}
	for e := math.Ceil(s.x0); e <= s.x1; e++ {
		x, _ := s.at(e, s.y0)
		d.text(x, rooflineHeight+16, "middle", "soft", strconv.FormatFloat(math.Pow(10, e), 'g', 3, 64))
	}
	d.text(pictureWidth, rooflineHeight+32, "end", "soft", "operations for each byte")
	below := 0.0                                   // the name before
	for _, k := range fastestFirst(peaks.Memory) { // up to the highest arithmetic
		knee := math.Log10(y1 / k.Rate)
		below = d.ceiling(s, s.x0, math.Log10(k.Rate)+s.x0, min(knee, s.x1), math.Log10(k.Rate)+min(knee, s.x1), k.Name+" "+rate(k.Rate, "B/s"), "start", below)
	}
	below = 0
	for _, k := range fastestFirst(peaks.Ceilings()) {
		below = d.ceiling(s, s.x0, math.Log10(k.Rate), s.x1, math.Log10(k.Rate), k.Name+" "+rate(k.Rate, "op/s"), "end", below)
	}
	n := 0
	for i := range t.Layers {
		l := &t.Layers[i]
		if l.Roof == nil || l.Roof.Operations == 0 || l.Roof.Reached <= 0 {
			continue
		}
		n++
		x, y := s.at(math.Log10(l.Roof.Intensity), math.Log10(l.Roof.Reached*1e9))
		d.rect(x-4, y-4, 8, 8, precisionClass(l.Precision), fmt.Sprintf("%s: %.1f µs, %s, %.1f %% of %s's ceiling", l.Name, micros(l.Median), rate(l.Roof.Reached*1e9, "op/s"), 100*l.Roof.OfPeak, l.Roof.Bound))
	}
	note := fmt.Sprintf("what %d layers that compute reach, under what the device reaches with %d threads", n, peaks.Threads)
	if len(t.Roofline.Disturbed) > 0 {
		note += "; some ceilings were measured while the machine did something else"
	}
	return picture{"Roofline", note, d.finish(rooflineHeight+38, "layers under the ceilings of the device")}, true
}

// The measures of the roofline, in pixels.
const (
	rooflineHeight = 360.0
	rooflineLeft   = 90.0
)

// logScale is the limits of a plot, as decimal logarithms.
type logScale struct{ x0, x1, y0, y1 float64 }

// at returns the place of a point, given by its logarithms.
func (s logScale) at(x, y float64) (float64, float64) {
	return rooflineLeft + (x-s.x0)/(s.x1-s.x0)*(pictureWidth-rooflineLeft), rooflineHeight * (s.y1 - y) / (s.y1 - s.y0)
}

// fastestFirst returns ceilings from the highest down.
func fastestFirst(list []report.Peak) []report.Peak {
	return slices.SortedStableFunc(slices.Values(list), func(a, b report.Peak) int { return cmp.Compare(b.Rate, a.Rate) })
}

// ceiling draws a line between two points, given by their logarithms, as far as it is in the plot, with its name at one end, below the
// one before; it returns where that is.
func (d *drawing) ceiling(s logScale, x0, y0, x1, y1 float64, name, anchor string, below float64) float64 {
	if y0 < s.y0 && y1 > y0 { // it comes in from below
		x0, y0 = x0+(s.y0-y0)*(x1-x0)/(y1-y0), s.y0
	}
	if x1 <= x0 {
		return below
	}
	ax, ay := s.at(x0, y0)
	bx, by := s.at(x1, y1)
	fmt.Fprintf(d, `<path class="edge" d="M%.1f %.1fL%.1f %.1f"><title>%s</title></path>`, ax, ay, bx, by, html.EscapeString(name))
	if anchor == "end" {
		ax, ay = bx-4, by
	} else {
		ax += 4
	}
	const line = 13
	y := max(ay-5, below+line)
	d.text(ax, y, anchor, "soft", name)
	return y
}

// rate writes operations or bytes in a second.
func rate(v float64, unit string) string {
	for _, p := range []struct {
		factor float64
		prefix string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= p.factor {
			return fmt.Sprintf("%.3g %s%s", v/p.factor, p.prefix, unit)
		}
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
