package ui

import (
	"fmt"
	"strings"
	"time"
)

// Header is what the top lines of every screen show. The owner sends a new value
// as a message whenever one of its fields changes; it is shown even while frozen.
type Header struct {
	Model      string
	Backend    string   // "cpu", "cuda:0"
	Precisions []string // the choices: FP32, FP16, INT8
	Precision  int      // index of the active one
	Calibrator string   // the active one; empty where none applies
	Profile    string   // "profile 0 · 1x3x32x32"
	Iterations int
	CV         float64  // coefficient of variation of the latency in percent; 0: unknown
	Gauges     []string // the device's state in a few cells each: "1980 MHz", "412 W"; the first to go where it is narrow
	Recording  bool
	Stale      bool    // what is shown belongs to an older configuration
	Badges     []Badge // lasting remarks: "random calibration"
	Job        *Job    // what runs in the background, nil if nothing does
}

// Badge is a short remark.
type Badge struct {
	Text  string
	Style Style
}

// Job is the progress of work in the background.
type Job struct {
	Phase   string
	Done    float64 // 0 to 1; negative if unknown
	Elapsed time.Duration
}

// unstable is the coefficient of variation, in percent, above which a
// measurement is called unstable, as trtexec does.
const unstable = 2.5

// drawHeader draws the two top lines: chips and badges, then screens and progress.
func (a *App) drawHeader(c *Canvas) {
	badges := a.badges()
	right := c.W
	for i := len(badges) - 1; i >= 0; i-- {
		w := Width(badges[i].Text) + 2
		if right-w < c.W/2 {
			break
		}
		right -= w
		c.Text(right, 0, badges[i].Style, " "+badges[i].Text+" ")
	}
	a.drawChips(c.Sub(Rect{0, 0, right, 1}))

	job := c.W
	if a.header.Job != nil {
		job = c.W - min(max(c.W*3/10, 36), 50)
		Progress{Job: *a.header.Job}.Draw(c.Sub(Rect{job, 1, c.W - job, 1}))
	}
	a.drawScreens(c.Sub(Rect{0, 1, job, 1}))
}

// drawChips draws model, backend, precision, calibrator and profile; what does
// not fit is left out from the right.
func (a *App) drawChips(c *Canvas) {
	h, g := a.header, c.Glyphs()
	x := c.Fit(1, 0, max(c.W/3, 8), Bold, h.Model)
	piece := func(s Style, text string) {
		if text != "" && x+Width(text)+2 <= c.W {
			x = c.Text(x+2, 0, s, text)
		}
	}
	piece(Muted, h.Backend)
	if w := Width(strings.Join(h.Precisions, "")) + 2*len(h.Precisions); x+w+2 <= c.W {
		x++
		for i, p := range h.Precisions {
			x = drawChip(c, x, 0, p, i == h.Precision)
		}
	}
	if h.Calibrator != "" {
		piece(Plain, h.Calibrator)
	}
	piece(Muted, h.Profile)
	if h.Iterations > 0 {
		piece(Muted, Count(h.Iterations)+" runs")
	}
	if h.CV > 0 {
		s, mark := Muted, ""
		if h.CV > unstable {
			s, mark = Warn, string(g.Warn)
		}
		piece(s, fmt.Sprintf("CV %.1f%%%s", h.CV, mark))
	}
	for i, gauge := range h.Gauges {
		if i > 0 && x+Width(gauge)+1 <= c.W {
			x-- // they belong together
		}
		piece(Muted, gauge)
	}
}

// drawChip draws one of several choices; the active one is filled, or in
// brackets where there is no colour.
func drawChip(c *Canvas, x, y int, text string, active bool) int {
	switch {
	case !active:
		return c.Text(x, y, Muted, " "+text+" ")
	case c.Mono() || c.Glyphs().ASCII:
		return c.Text(x, y, Bold, "["+text+"]")
	default:
		return c.Text(x, y, Chip, " "+text+" ")
	}
}

func (a *App) badges() []Badge {
	g := a.look.Glyphs
	badges := append([]Badge(nil), a.header.Badges...)
	if a.header.Stale {
		badges = append(badges, Badge{"STALE", Warn})
	}
	if a.header.Recording {
		badges = append(badges, Badge{string(g.Record) + " REC", Bad | Bold})
	}
	if a.inbox.frozen {
		badges = append(badges, Badge{string(g.Pause) + " FROZEN", Chip})
	}
	return badges
}

// drawScreens draws the names of the screens; where there is no room, digits only.
func (a *App) drawScreens(c *Canvas) {
	names := make([]string, len(a.screens))
	for i, s := range a.screens {
		names[i] = s.Key + " " + s.Name
	}
	Tabs{Names: names, Active: a.active}.Draw(c)
}

// Count writes n with thousands apart: 12,345.
func Count(n int) string {
	s := fmt.Sprint(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
