package timings

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// belowZero says how the layers can take longer than all of them from end to end.
const (
	belowZero      = "layers are timed in separate runs"
	belowZeroShort = "separate runs" // where there is no room
)

// BelowZero says in a few words how the gap of a measurement can be less than nothing; "" where it is not.
func BelowZero(t *report.Timings) string {
	switch {
	case t.Gap >= 0:
		return ""
	case len(t.Forks) > 0:
		return "in turn"
	}
	return belowZeroShort
}

// drawGap states what of the latency from end to end is spent in layers, as a line and as a bar; and what the latency is in rounds
// beside others, where that is another one and not 0.
func drawGap(c *ui.Canvas, t *report.Timings, beside time.Duration) {
	e := t.EndToEnd
	if t.Summed && e.Count == 0 || t.Estimated { // one figure, which does not vary
		x := drawParts(c, []part{{ui.Muted, "end to end ", 0}, {ui.Bold, ui.Duration(e.Median), 0}, {ui.Muted, " = ", 0}, {ui.Plain, ui.Duration(t.InLayers()), 0}})
		why := " in layers: estimated from what the simulator counted, nothing was measured"
		if !t.Estimated {
			why = " in layers: no times of whole inferences were given"
		}
		c.FitClauses(x, 0, c.W-x-1, ui.Muted, why)
		return
	}
	parts := []part{{ui.Muted, "end to end ", 0}, {ui.Bold, ui.Duration(e.Median), 0}}
	if beside > 0 {
		parts = append(parts, part{ui.Accent, " (" + ui.Duration(beside) + " in rounds", 1}, part{ui.Accent, " beside others", 4}, part{ui.Accent, ")", 1})
	}
	parts = append(parts, part{ui.Muted, " = ", 0}, part{ui.Plain, ui.Duration(t.InLayers()), 0}, part{ui.Muted, " in layers ", 0})
	if t.Apart() {
		parts = append(parts, part{ui.Warn, "(medians sum to " + ui.Duration(t.SumMedian) + ") ", 2})
	}
	sign := "+ "
	if t.Gap < 0 {
		sign = "- "
	}
	share := 0.0
	if e.Median > 0 {
		share = float64(t.Gap) / float64(e.Median)
	}
	parts = append(parts, part{ui.Muted, sign, 0}, part{ui.Plain, ui.Duration(max(t.Gap, -t.Gap)), 0}, part{ui.Muted, " gap", 0}, part{ui.Muted, " (" + words.Percent(share) + ")", 3})
	x := drawParts(c, parts)
	why := ""
	if t.Gap < 0 {
		long := belowZero
		if len(t.Forks) > 0 {
			saved, what := report.Saved(t.Forks), "saved"
			if saved < 0 {
				saved, what = -saved, "lost"
			}
			long = fmt.Sprintf("layers are timed in turn, side by side %s %s", ui.Duration(saved), what)
		}
		why = ": " + long
		if x+ui.Width(why) >= c.W {
			why = ": " + BelowZero(t)
		}
		if x+ui.Width(why) >= c.W {
			why = ""
		}
	}
	if p99, room := why+", p99 "+ui.Duration(e.P99), c.W-x-1; why != "" || ui.Width(p99) <= room {
		c.FitClauses(x, 0, room, ui.Muted, p99+", CV "+words.Percent(e.CV))
	}
	total := max(float64(e.Median), float64(t.InLayers()))
	at := 1.0
	for i, l := range t.Layers {
		if total <= 0 {
			break
		}
		end := at + l.Share*float64(t.InLayers())/total*float64(c.W-2)
		c.Fill(ui.Rect{X: int(at), Y: 1, W: int(end) - int(at), H: 1}, c.Glyphs().Fill(i%2), pane.PrecisionStyle(l.Precision))
		at = end
	}
	c.Fill(ui.Rect{X: int(at), Y: 1, W: max(c.W-1-int(at), 0), H: 1}, c.Glyphs().Empty, ui.Faint)
}

// part is a piece of a line: of those above 0, which can be left out, the least stay longest.
type part struct {
	style ui.Style
	text  string
	rank  int
}

// drawParts draws a line with as many of its parts as there is room for, and returns where it ends.
func drawParts(c *ui.Canvas, parts []part) int {
	const most = 4
	rank := most
	for ; rank > 0; rank-- {
		w := 1
		for _, p := range parts {
			if p.rank <= rank {
				w += ui.Width(p.text)
			}
		}
		if w < c.W {
			break
		}
	}
	x := 1
	for _, p := range parts {
		if p.rank <= rank {
			x = c.Text(x, 0, p.style, p.text)
		}
	}
	return x
}
