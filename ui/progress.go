package ui

import (
	"fmt"
	"time"
)

// Progress shows a job: phase, bar, percentage or elapsed time.
type Progress struct{ Job Job }

// Draw draws the progress in the first line of c.
func (p Progress) Draw(c *Canvas) {
	j := p.Job
	tail := fmt.Sprintf(" %3.0f%% ", 100*min(max(j.Done, 0), 1))
	if j.Done < 0 {
		tail = " " + j.Elapsed.Round(time.Second/10).String() + " "
	}
	right := c.W - Width(tail)
	phase := min(Width(j.Phase), max(right*3/5, 0))
	x := c.Fit(1, 0, phase, Plain, j.Phase) + 1
	bar := c.Sub(Rect{x, 0, max(right-x, 0), 1})
	bar.Fill(bar.Bounds(), c.Glyphs().Empty, Faint)
	if j.Done >= 0 {
		drawBar(bar, 0, 0, bar.W, min(j.Done, 1), Accent)
	} else if n := bar.W - 3; n > 0 { // a mark that goes to and fro
		at := int(j.Elapsed/(150*time.Millisecond)) % (2 * n)
		if at > n {
			at = 2*n - at
		}
		drawBar(bar, at, 0, 3, 1, Accent)
	}
	c.Text(right, 0, Muted, tail)
}
