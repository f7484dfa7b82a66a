package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Header is what the top lines of every screen show. The owner sends a new value
// as a message whenever one of its fields changes. While the screen is frozen the
// header is too, but for Recording.
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
	Phase string
	Item  string        // what is at hand; drawn where there is room
	Done  float64       // 0 to 1; negative if unknown
	Start time.Time     // of all the work; zero: unknown
	Left  time.Duration // that it will take, about; 0: unknown
}

// unstable is the coefficient of variation, in percent, above which a
// measurement is called unstable, as trtexec does.
const unstable = 2.5

// drawHeader draws the two top lines: chips and badges, then screens and progress.
func (a *App) drawHeader(c *Canvas) {
	h := a.shownHeader()
	badges := a.badges(h)
	right := c.W
	for i := len(badges) - 1; i >= 0; i-- {
		w := Width(badges[i].Text) + 2
		if right-w < c.W/2 {
			break
		}
		right -= w
		c.Text(right, 0, badges[i].Style, " "+badges[i].Text+" ")
	}
	tabs := a.tabs()
	place := jobPlace(tabs, c.W, h.Job)
	tabs.Draw(c.Sub(Rect{0, 1, c.W - place, 1}))
	var p *Progress
	if h.Job != nil {
		p = &Progress{Job: *h.Job}
		if !h.Job.Start.IsZero() {
			p.Elapsed = max(a.clock().Sub(h.Job.Start), 0)
		}
		p.Draw(c.Sub(Rect{c.W - place, 1, place, 1}))
		if place >= leastProgress {
			p = nil // it is told in full there
		}
	}
	a.drawChips(c.Sub(Rect{0, 0, right, 1}), h, p)
}

// jobPlace returns the cells at the right end of the tabs' line that are kept for the job that runs, whether one runs or
// not, so that the tabs stay where they are: what whole tabs leave free, or enough for a small bar. A job that tells what is
// at hand has more of what is free.
func jobPlace(tabs Tabs, w int, j *Job) int {
	const least = 10
	most := 64
	if j != nil && j.Item != "" {
		most = 90
	}
	return min(max(w-tabsWidth(tabs.Names, 2), least), most, max(w-tabs.Least(), 0))
}

// shownHeader returns the header to draw: while frozen that of the moment when the screen was frozen, except that a
// recording never goes on unseen.
func (a *App) shownHeader() *Header {
	if !a.inbox.frozen {
		return &a.header
	}
	h := a.held
	h.Recording = a.header.Recording
	return &h
}

// clock returns the time to draw at: it stands still while frozen.
func (a *App) clock() time.Time {
	if a.inbox.frozen {
		return a.heldAt
	}
	return a.now()
}

// freeze stops what is shown, or lets it go on.
func (a *App) freeze() tea.Cmd {
	a.held, a.heldAt = a.header, a.now()
	a.inbox.frozen = !a.inbox.frozen
	return a.deliver()
}

// beatInterval is how often the header is drawn while a job runs that reports nothing, so that its time goes on.
const beatInterval = 200 * time.Millisecond

// beatMsg asks for the header to be drawn again.
type beatMsg struct{}

// beat returns a command that draws the header again after a moment, as long as there is a job whose time is shown.
func (a *App) beat() tea.Cmd {
	if j := a.header.Job; a.beating || a.inbox.frozen || j == nil || j.Start.IsZero() {
		return nil
	}
	a.beating = true
	return a.after(beatInterval, beatMsg{})
}

// drawChips draws model, backend, precision, calibrator and profile; what does
// not fit is left out from the right. A job takes the place of what was measured last.
func (a *App) drawChips(c *Canvas, h *Header, job *Progress) {
	g := c.Glyphs()
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
	if job != nil {
		text, room := job.Job.Phase, c.W-x-3
		for _, more := range []string{job.elapsed(), job.left()} { // what has no room in full is left out
			if Width(text+more) <= room {
				text += more
			}
		}
		if job.Job.Item != "" && room-Width(text) > leastItem {
			text += ": " + job.Job.Item
		}
		c.Text(x+2, 0, Accent, wholeWords(text, room, g.Ellipsis))
		return
	}
	if h.CV > 0 { // before how often it ran, since it says whether to trust it
		s, mark := Muted, ""
		if h.CV > unstable {
			s, mark = Warn, string(g.Warn)
		}
		piece(s, fmt.Sprintf("CV %.1f%%%s", h.CV, mark))
	}
	if h.Iterations > 1 { // once is no measurement
		piece(Muted, Count(h.Iterations)+" runs")
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

func (a *App) badges(h *Header) []Badge {
	g := a.look.Glyphs
	badges := append([]Badge(nil), h.Badges...)
	if h.Stale {
		badges = append(badges, Badge{"STALE", Warn})
	}
	if h.Recording {
		badges = append(badges, Badge{string(g.Record) + " REC", Bad | Bold})
	}
	if a.inbox.frozen {
		badges = append(badges, Badge{string(g.Pause) + " FROZEN", Chip})
	}
	return badges
}

// tabs returns the names of the screens.
func (a *App) tabs() Tabs {
	var t Tabs
	for i, s := range a.screens {
		switch { // of pages the one that was shown last
		case i == a.active:
			t.Active = len(t.Names)
		case i != a.pages[s.Key]:
			continue
		}
		t.Names, t.Short = append(t.Names, s.Key+" "+s.Name), append(t.Short, s.Short)
	}
	return t
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
