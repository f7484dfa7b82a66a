package timings

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// drawLanes draws the fork that a layer is in, or the first one, as a timeline: a row for each lane, a piece for each step.
func drawLanes(c *ui.Canvas, t *report.Timings, l *report.LayerTiming) {
	if len(t.Forks) == 0 {
		c.FitClauses(1, 0, c.W-2, ui.Muted, "no steps run side by side: none are faster so, or none may")
		return
	}
	at := min(max(l.Fork, 1), len(t.Forks)) - 1
	f := &t.Forks[at]
	c.FitClauses(1, 0, c.W-2, ui.Plain, forkText(f, at, len(t.Forks)))
	rows := c.H - 1
	for k, lane := range f.Lanes {
		if k >= rows {
			break
		}
		if k == rows-1 && len(f.Lanes) > rows {
			c.FitClauses(1, k+1, c.W-2, ui.Muted, fmt.Sprintf("and %s more", words.Plural(len(f.Lanes)-k, "lane")))
			break
		}
		drawLane(c.Sub(ui.Rect{Y: k + 1, W: c.W, H: 1}), k, lane, f.Beside, l.Name, precisionsOf(t))
	}
}

// precisionsOf returns the precisions of layers by name.
func precisionsOf(t *report.Timings) map[string]string {
	m := map[string]string{}
	for _, l := range t.Layers {
		m[l.Name] = l.Precision
	}
	return m
}

// forkText says what a fork saves.
func forkText(f *report.Fork, at, of int) string {
	less := words.Percent(f.Gain) + " less"
	if f.Gain < 0 {
		less = words.Percent(-f.Gain) + " more"
	}
	return fmt.Sprintf("fork %d of %d: %s in %s, in turn %s, side by side %s, %s, %s less predicted", at+1, of, words.Plural(f.Steps(), "step"),
		words.Plural(len(f.Lanes), "lane"), ui.Duration(f.InTurn), ui.Duration(f.Beside), less, words.Percent(f.Predicted))
}

// drawLane draws the steps of a lane on a scale of the whole fork, that of the layer under the cursor in the accent's colour. Lanes
// begin when a worker is free: what is drawn is how long they take.
func drawLane(c *ui.Canvas, number int, lane []report.LaneStep, whole time.Duration, cursor string, precisions map[string]string) {
	sum := time.Duration(0)
	for _, s := range lane {
		sum += s.Median
	}
	const left = 14
	c.Fit(1, 0, left-2, ui.Muted, fmt.Sprintf("%2d %9s", number+1, ui.Duration(sum)))
	width, x := float64(c.W-left-1), float64(left)
	for i, s := range lane {
		end := min(x+width*float64(s.Median)/float64(max(1, whole)), float64(c.W-1))
		style := pane.PrecisionStyle(precisions[s.Step])
		if s.Step == cursor {
			style = ui.Accent
		}
		c.Fill(ui.Rect{X: int(x), W: int(end) - int(x), H: 1}, c.Glyphs().Fill(i%2), style)
		x = end
	}
	c.Fill(ui.Rect{X: int(x), W: max(c.W-1-int(x), 0), H: 1}, c.Glyphs().Empty, ui.Faint)
}

// laneText writes the place of a layer that runs side by side with others: fork and lane.
func laneText(l *report.LayerTiming) string {
	if l.Fork == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d", l.Fork, l.Lane)
}
