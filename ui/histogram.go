package ui

import "math"

// Threshold is what is marked on a histogram: a value, or the ends of a range, as a calibrator chose it.
type Threshold struct {
	Name  string
	At    []float64
	Style Style
}

// Histogram draws counts of equal bins over [Lo, Hi] with thresholds as vertical
// lines.
type Histogram struct {
	Counts     []float64
	Lo, Hi     float64
	Log        bool // logarithmic counts
	Style      Style
	Thresholds []Threshold
	Label      func(float64) string // of values; nil: three digits
}

// Draw draws the histogram over all of c: a line for each threshold's name where
// there is room, the columns, an axis and its ends.
func (h Histogram) Draw(c *Canvas) {
	if c.W < 8 || c.H < 4 || len(h.Counts) == 0 || !(h.Hi > h.Lo) {
		return
	}
	flags := len(h.Thresholds)
	legend := 0
	if c.H-flags < 6 {
		flags, legend = 0, min(1, len(h.Thresholds))
	}
	plot := c.Sub(Rect{1, flags, c.W - 2, c.H - 2 - flags - legend})
	tall := h.drawColumns(plot)
	axis := plot.H + flags
	c.Fill(Rect{1, axis, plot.W, 1}, c.Glyphs().Rule, Faint)
	c.Fit(1, axis+1, plot.W/2, Muted, label(h.Label, h.Lo))
	c.FitRight(1+plot.W/2, axis+1, plot.W-plot.W/2, Muted, label(h.Label, h.Hi))
	for i, t := range h.Thresholds {
		h.drawThreshold(c, tall, i, t, flags, axis)
	}
	if legend > 0 {
		h.drawLegend(c, c.H-1)
	}
}

// drawColumns draws one column a cell, its height the count of the values that
// fall into the cell, and returns over how many lines each reaches.
func (h Histogram) drawColumns(c *Canvas) (tall []int) {
	columns := h.resample(c.W)
	tall = make([]int, c.W)
	top := 0.0
	for _, v := range columns {
		top = max(top, v)
	}
	if top == 0 {
		return tall
	}
	g := c.Glyphs().Columns
	steps := len(g) - 1
	for x, v := range columns {
		part := v / top
		if h.Log {
			part = math.Log1p(v) / math.Log1p(top)
		}
		eighths := int(math.Round(part * float64(c.H*steps)))
		if v > 0 && eighths == 0 {
			eighths = 1
		}
		tall[x] = (eighths + steps - 1) / steps
		for y := c.H - 1; y >= 0 && eighths > 0; y-- {
			c.Set(x, y, g[min(eighths, steps)], h.Style)
			eighths -= steps
		}
	}
	return tall
}

// resample spreads the bins over w columns, sharing out bins that span several.
func (h Histogram) resample(w int) []float64 {
	sums := make([]float64, len(h.Counts)+1)
	for i, v := range h.Counts {
		sums[i+1] = sums[i] + positive(v)
	}
	upTo := func(x float64) float64 {
		i := min(int(x), len(h.Counts)-1)
		return sums[i] + (x-float64(i))*(sums[i+1]-sums[i])
	}
	out := make([]float64, w)
	per := float64(len(h.Counts)) / float64(w)
	for i := range out {
		out[i] = upTo(min(float64(i+1)*per, float64(len(h.Counts)))) - upTo(float64(i)*per)
	}
	return out
}

// column returns where v lies on the axis, and whether it does.
func (h Histogram) column(v float64, w int) (int, bool) {
	part := (v - h.Lo) / (h.Hi - h.Lo)
	if !(part >= 0 && part <= 1) {
		return 0, false
	}
	return min(int(part*float64(w)), w-1), true
}

// drawThreshold draws one threshold, as far as it lies among the values, as lines
// from its name, in its own line above the columns, down to the column there, which is seen whole, or the axis. A number on the
// axis tells the lines apart without colour.
func (h Histogram) drawThreshold(c *Canvas, tall []int, i int, t Threshold, flags, axis int) {
	from, x := 0, 0
	if flags > 0 {
		from = i
	}
	for _, v := range t.At {
		at, ok := h.column(v, len(tall))
		if !ok {
			continue
		}
		x = at + 1 // the margin
		for y := from; y < axis-tall[at]; y++ {
			c.Set(x, y, c.Glyphs().Mark, t.Style|Bold)
		}
		c.Set(x, axis, rune('1'+i%9), t.Style|Bold)
	}
	if flags > 0 {
		text := h.name(c, t)
		if x+2+Width(text) <= c.W {
			c.Text(x+2, i, t.Style, text)
		} else {
			c.FitRight(1, i, x-2, t.Style, text)
		}
	}
}

// name is a threshold's name with where it lies.
func (h Histogram) name(c *Canvas, t Threshold) string {
	if len(t.At) == 2 && t.At[0] == -t.At[1] {
		return t.Name + " " + c.Glyphs().PlusMinus + label(h.Label, t.At[1])
	}
	text := t.Name
	for i, v := range t.At {
		if i > 0 {
			text += " to"
		}
		text += " " + label(h.Label, v)
	}
	return text
}

// drawLegend names the thresholds in a line, with where they lie if there is room for all.
func (h Histogram) drawLegend(c *Canvas, y int) {
	texts, room := make([]string, len(h.Thresholds)), c.W-1
	for i, t := range h.Thresholds {
		texts[i] = string(rune('1'+i%9)) + " " + h.name(c, t)
		room -= Width(texts[i]) + 2
	}
	x := 1
	for i, t := range h.Thresholds {
		if room < -2 {
			texts[i] = string(rune('1'+i%9)) + " " + t.Name
		}
		if x+Width(texts[i]) > c.W {
			return
		}
		x = c.Text(x, y, t.Style, texts[i]) + 2
	}
}
