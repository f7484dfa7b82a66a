package ui

import (
	"fmt"
	"time"
)

// Progress shows a job: phase, bar, percentage and elapsed time.
type Progress struct {
	Job     Job
	Elapsed time.Duration // 0: unknown
}

// Draw draws the progress in the first line of c.
func (p Progress) Draw(c *Canvas) {
	j := p.Job
	tail := " "
	if j.Done >= 0 {
		tail += fmt.Sprintf("%3.0f%% ", 100*min(j.Done, 1))
	}
	if p.Elapsed > 0 {
		tail += stopwatch(p.Elapsed) + " "
	}
	right := c.W - Width(tail)
	phase := min(Width(j.Phase), max(right-6, 0))
	x := c.Fit(1, 0, phase, Plain, j.Phase) + 1
	bar := c.Sub(Rect{x, 0, max(right-x, 0), 1})
	bar.Fill(bar.Bounds(), c.Glyphs().Empty, Faint)
	if j.Done >= 0 {
		drawBar(bar, 0, 0, bar.W, min(j.Done, 1), Accent)
	} else if n := bar.W - 3; n > 0 { // a mark that goes to and fro
		at := int(p.Elapsed/(150*time.Millisecond)) % (2 * n)
		if at > n {
			at = 2*n - at
		}
		drawBar(bar, at, 0, 3, 1, Accent)
	}
	c.Text(right, 0, Muted, tail)
}

// stopwatch writes a time that goes on: tenths of a second in the first minute, then seconds.
func stopwatch(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
}
