package ui

import (
	"fmt"
	"strings"
	"time"
)

// Progress shows a job: phase, bar, percentage and elapsed time.
type Progress struct {
	Job     Job
	Elapsed time.Duration // 0: unknown
}

// leastProgress is the width from which on progress tells everything; below there is a bar with a percentage.
const leastProgress = 30

// Draw draws the progress in the first line of c.
func (p Progress) Draw(c *Canvas) {
	j := p.Job
	tail := " "
	if j.Done >= 0 {
		tail += fmt.Sprintf("%3.0f%% ", 100*min(j.Done, 1))
	}
	x := 1
	right := c.W - Width(tail)
	if c.W >= leastProgress {
		if p.Elapsed > 0 {
			tail = strings.TrimSuffix(tail, " ") + p.elapsed() + " "
		}
		right = c.W - Width(tail)
		phase := min(Width(j.Phase), max(right-6, 0))
		x = c.Fit(1, 0, phase, Plain, j.Phase) + 1
	}
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

// elapsed writes the time since the start with a space before it; "" where it is not known.
func (p Progress) elapsed() string {
	if p.Elapsed <= 0 {
		return ""
	}
	return " " + stopwatch(p.Elapsed)
}

// stopwatch writes a time that goes on: tenths of a second in the first minute, then seconds.
func stopwatch(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
}
