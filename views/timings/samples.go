package timings

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// samplesView shows the samples of the row under the cursor: all of them in bins, the newest as a trace.
type samplesView struct {
	in   pane.Input
	of   *timingsView
	hint func(pane.Fact) string
}

// Named implements ui.Named.
func (v *samplesView) Named() string {
	if l := v.layer(); l != nil {
		return words.ShortName(l.Name)
	}
	return ""
}

func (v *samplesView) Title() string {
	what := "Samples"
	switch plots[v.of.plot] {
	case "roofline":
		what = "Roofline"
	case "lanes":
		what = "Lanes"
	}
	if l := v.layer(); l != nil {
		return what + " of " + words.ShortName(l.Name)
	}
	return what
}

func (v *samplesView) Note() (string, ui.Style) {
	if t := v.in.Snap.Timings; plots[v.of.plot] == "roofline" && t != nil && t.Roofline.Last() != nil && RooflineNote(t.Roofline) != "" {
		if text, style := v.in.Note("ceilings in doubt"); style == ui.Plain || style == ui.Muted { // nothing that matters more
			return text, ui.Warn
		}
	}
	return v.in.Note(plots[v.of.plot])
}

func (v *samplesView) Keys() []ui.Key {
	return []ui.Key{ui.K("v", "plot", "histogram, trace, roofline, lanes")}
}

func (v *samplesView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.Take(msg) && pane.IsKey(msg, "v") {
		v.of.plot = (v.of.plot + 1) % len(plots)
	}
	return nil
}

// Layer implements pointing.
func (v *samplesView) Layer() (pane.LayerRef, bool) { return v.of.Layer() }

func (v *samplesView) layer() *report.LayerTiming {
	if r := v.of.table.Row(); r >= 0 && r < len(v.of.rows) {
		return &v.of.rows[r]
	}
	return nil
}

// lines returns how many lines the pane takes, title included: n, and for the roofline, whose ceilings and points lie on top of
// each other in a low one, rooflineLines.
func (v *samplesView) lines(n int) func() int {
	return func() int {
		if plots[v.of.plot] == "roofline" {
			return rooflineLines
		}
		return n
	}
}

// rooflineLines are the lines that the roofline is given with its title, where half of the screen has them.
const rooflineLines = 24

func (v *samplesView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		l := v.layer()
		if l == nil && len(v.of.rows) > 0 {
			c.Fit(1, min(1, h-1), w-2, ui.Muted, "the filter hides all rows: no samples to show")
			return
		}
		if l == nil || len(l.Recent) == 0 {
			v.in.Wait(c, "samples")
			return
		}
		if plots[v.of.plot] == "roofline" {
			v.drawRoofline(c, l)
			return
		}
		if plots[v.of.plot] == "lanes" {
			drawLanes(c, v.in.Snap.Timings, l)
			return
		}
		if v.in.Snap.Timings.Estimated {
			c.FitClauses(1, 0, w-2, ui.Muted, ui.Duration(l.Median)+", estimated from what the simulator counted; an estimate has no samples")
			c.FitClauses(1, 1, w-2, ui.Muted, workText(l))
			return
		}
		tail := "p99 " + ui.Duration(l.P99)
		if w >= 110 {
			tail = "p95 " + ui.Duration(l.P95) + "  " + tail
		}
		text := fmt.Sprintf("%s: median %s  avg %s  min %s  p90 %s  %s  max %s", v.shown(l), ui.Duration(l.Median), ui.Duration(l.Mean),
			ui.Duration(l.Min), ui.Duration(l.P90), tail, ui.Duration(l.Max))
		c.FitClauses(1, 0, w-2, ui.Muted, text)
		c.FitClauses(1, 1, w-2, ui.Muted, workText(l))
		rest := c.Sub(ui.Rect{Y: 2, W: w, H: h - 2})
		switch {
		case plots[v.of.plot] == "trace":
			sampleTrace(l).Draw(rest)
		case l.Bins != nil:
			binnedHistogram(l).Draw(rest)
		default:
			sampleHistogram(l, w).Draw(rest)
		}
	})
}

// drawRoofline draws the rows of the table under the ceilings, and as much of what is said of the layer as leaves room for that.
func (v *samplesView) drawRoofline(c *ui.Canvas, l *report.LayerTiming) {
	t := v.in.Snap.Timings
	if t.Roofline.Last() == nil {
		text := RooflineNote(t.Roofline)
		if s := v.in.Snap; t.Roofline == nil && s.Replay != "" {
			text = strings.TrimSpace("no ceilings were recorded. " + v.hint(pane.NoCeilings{Recording: s.Replay}))
		}
		for y, line := range ui.Wrap(text, c.W-2) {
			c.Fit(1, y, c.W-2, ui.Muted, line)
		}
		return
	}
	const plot = 8 // lines at least
	top := 0
	say := func(style ui.Style, text string) {
		if text != "" && (top == 0 || top < c.H-plot) {
			c.FitClauses(1, top, c.W-2, style, text)
			top++
		}
	}
	say(ui.Plain, StandText(l))
	say(ui.Warn, RooflineNote(t.Roofline))
	say(ui.Muted, workText(l))
	Roofline(t, v.of.rows, v.of.table.Row()).Draw(c.Sub(ui.Rect{Y: top, W: c.W, H: c.H - top}))
}

// shown says which samples the plot is of.
func (v *samplesView) shown(l *report.LayerTiming) string {
	switch {
	case plots[v.of.plot] == "trace" || l.Bins == nil:
		text := fmt.Sprintf("newest %d of %s", len(l.Recent), ui.Count(l.Count))
		if above := AboveText(l.Recent); above != "" && plots[v.of.plot] == "trace" {
			text += ", " + above
		}
		return text
	case l.Bins.Above > 0:
		return fmt.Sprintf("all %s samples, %s beyond the scale", ui.Count(l.Count), ui.Count(l.Bins.Above))
	}
	return fmt.Sprintf("all %s samples", ui.Count(l.Count))
}

// workText says what a layer does, how much work that is and with which tactic.
func workText(l *report.LayerTiming) string {
	text := fmt.Sprintf("%s %s", l.Op, l.Precision)
	if l.FLOPs > 0 {
		text += fmt.Sprintf(", %s at %s", ui.Quantity(float64(l.FLOPs), "FLOP"), ui.Quantity(l.GFLOPS*1e9, "FLOP/s"))
	}
	if l.Bytes > 0 {
		text += fmt.Sprintf(", %s at %s", ui.Bytes(l.Bytes), ui.Quantity(bandwidth(l)*1e9, "B/s"))
	}
	if l.FLOPs > 0 && l.Bytes > 0 {
		text += fmt.Sprintf(", %.1f FLOP/B", float64(l.FLOPs)/float64(l.Bytes))
	}
	return text + ", " + l.How()
}

func sampleTrace(l *report.LayerTiming) ui.Chart {
	line := ui.Line2D{Name: l.Name, Style: pane.PrecisionStyle(l.Precision)}
	for i, d := range l.Recent {
		line.X = append(line.X, float64(i-len(l.Recent)+1))
		line.Y = append(line.Y, float64(d))
	}
	return ui.Chart{Lines: []ui.Line2D{line}, Top: float64(ChartTop(l.Recent)), YLabel: words.Duration, XLabel: func(x float64) string {
		if x == 0 {
			return "newest"
		}
		return fmt.Sprintf("%.0f runs", x)
	}}
}

// sampleHistogram sorts the newest samples into bins, with the statistics of all samples as thresholds: for sums of
// layers, whose samples are not binned.
func sampleHistogram(l *report.LayerTiming, w int) ui.Histogram {
	lo, hi := slices.Min(l.Recent), max(slices.Max(l.Recent), l.P99)
	if hi == lo {
		hi = lo + 1
	}
	bins := max(min(w-2, 2*len(l.Recent)), 8)
	h := ui.Histogram{Lo: float64(lo), Hi: float64(hi), Counts: make([]float64, bins), Style: pane.PrecisionStyle(l.Precision), Label: words.Duration}
	for _, d := range l.Recent {
		h.Counts[min(int(float64(d-lo)/float64(hi-lo)*float64(bins)), bins-1)]++
	}
	h.Thresholds = timeThresholds(l)
	return h
}

// binnedHistogram draws the bins of all samples.
func binnedHistogram(l *report.LayerTiming) ui.Histogram {
	h := ui.Histogram{
		Lo: float64(l.Bins.Low), Hi: float64(max(l.Bins.High, l.Bins.Low+1)), Style: pane.PrecisionStyle(l.Precision), Label: words.Duration,
		Thresholds: timeThresholds(l),
	}
	for _, n := range l.Bins.Counts {
		h.Counts = append(h.Counts, float64(n))
	}
	return h
}

func timeThresholds(l *report.LayerTiming) []ui.Threshold {
	return []ui.Threshold{
		{Name: "median", At: []float64{float64(l.Median)}, Style: ui.Plain},
		{Name: "avg", At: []float64{float64(l.Mean)}, Style: ui.Accent},
		{Name: "p99", At: []float64{float64(l.P99)}, Style: ui.Warn},
	}
}
