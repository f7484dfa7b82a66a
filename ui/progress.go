package ui

import (
	"fmt"
	"strings"
	"time"
)

// Progress shows a job: phase, what is at hand, bar, percentage, elapsed time and what is left.
type Progress struct {
	Job     Job
	Elapsed time.Duration // 0: unknown
}

// leastProgress is the width from which on progress tells everything; below there is a bar with a percentage.
const leastProgress = 30

// The bar keeps so many cells, and what is at hand is shown where there are so many.
const leastBar, leastItem = 6, 12

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
		short := strings.TrimSuffix(tail, " ")
		for _, more := range []string{p.elapsed(), p.left()} { // what the phase leaves room for
			if Width(short+more)+1+leastBar+Width(j.Phase) <= c.W {
				short += more
			}
		}
		tail = short + " "
		right = c.W - Width(tail)
		phase := j.Phase
		if room := right - leastBar - Width(phase); j.Item != "" && room > leastItem {
			phase += ": " + Truncate(j.Item, room-2, c.Glyphs().Ellipsis)
		}
		x = c.Text(1, 0, Plain, wholeWords(phase, max(right-leastBar, 0), c.Glyphs().Ellipsis)) + 1
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

// left writes the time that is left with a space before it; "" where it is not known.
func (p Progress) left() string {
	if p.Job.Left <= 0 {
		return ""
	}
	return ", ~" + Roughly(p.Job.Left) + " left"
}

// Roughly writes a time of seconds or minutes that is only about right: "40 s", "1 m 20 s", "12 m".
func Roughly(d time.Duration) string {
	s := int(d.Seconds() + 0.5)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s%60 == 0 || s >= 600:
		return fmt.Sprintf("%d m", (s+30)/60)
	}
	return fmt.Sprintf("%d m %d s", s/60, s%60)
}

// stopwatch writes a time that goes on: tenths of a second in the first minute, then as a clock does.
func stopwatch(d time.Duration) string {
	if tenths := d.Round(time.Second / 10); tenths < time.Minute {
		return fmt.Sprintf("%.1f s", tenths.Seconds())
	}
	s := int(d.Seconds()) // not rounded up: a clock shows what has passed
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
