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

// roomy is how wide a pane is in which the line on the gap is said at length.
const roomy = 120

// drawGap states what of the latency from end to end is spent in layers, as a line and as a bar; and what the latency is in rounds
// beside others, where that is another one and not 0.
func drawGap(c *ui.Canvas, t *report.Timings, beside time.Duration) {
	e := t.EndToEnd
	x := c.Text(1, 0, ui.Muted, "end to end ")
	x = c.Text(x, 0, ui.Bold, ui.Duration(e.Median))
	if beside > 0 {
		others := " beside others"
		if c.W < roomy {
			others = ""
		}
		x = c.Text(x, 0, ui.Accent, " ("+ui.Duration(beside)+" in rounds"+others+")")
	}
	x = c.Text(x, 0, ui.Muted, " = ")
	x = c.Text(x, 0, ui.Plain, ui.Duration(t.InLayers()))
	if t.Summed && e.Count == 0 {
		c.FitClauses(x, 0, c.W-x-1, ui.Muted, " in layers: no times of whole inferences were given")
		return
	}
	if t.Estimated { // one figure, which does not vary
		c.FitClauses(x, 0, c.W-x-1, ui.Muted, " in layers: estimated from what the simulator counted, nothing was measured")
		return
	}
	x = c.Text(x, 0, ui.Muted, " in layers ")
	if t.Apart() {
		x = c.Text(x, 0, ui.Warn, "(medians sum to "+ui.Duration(t.SumMedian)+") ")
	}
	sign := "+ "
	if t.Gap < 0 {
		sign = "- "
	}
	x = c.Text(x, 0, ui.Muted, sign)
	x = c.Text(x, 0, ui.Plain, ui.Duration(max(t.Gap, -t.Gap)))
	share := 0.0
	if e.Median > 0 {
		share = float64(t.Gap) / float64(e.Median)
	}
	x = c.Text(x, 0, ui.Muted, " gap ("+words.Percent(share)+")")
	why := ""
	if t.Gap < 0 {
		long, brief := belowZero, belowZeroShort
		if len(t.Forks) > 0 {
			saved, what := report.Saved(t.Forks), "saved"
			if saved < 0 {
				saved, what = -saved, "lost"
			}
			long = fmt.Sprintf("layers are timed in turn, side by side %s %s", ui.Duration(saved), what)
			brief = "in turn"
		}
		why = ": " + long
		if x+ui.Width(why) >= c.W {
			why = ": " + brief
		}
	}
	c.FitClauses(x, 0, c.W-x-1, ui.Muted, fmt.Sprintf("%s, p99 %s, CV %s", why, ui.Duration(e.P99), words.Percent(e.CV)))
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
