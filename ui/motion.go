package ui

import tea "charm.land/bubbletea/v2"

// A List position: which of N items the cursor is on and which is shown first.
// Widgets with a cursor contain one. The page height is learnt when drawing, so
// that no size is kept between frames but for page motions.
type position struct {
	at, top, page int
}

// clamp keeps the cursor among n items and inside a window of h lines.
func (p *position) clamp(n, h int) {
	p.at = max(min(p.at, n-1), 0)
	if h <= 0 {
		return
	}
	p.page = h
	p.top = min(p.top, p.at)
	p.top = max(p.top, p.at-h+1)
	p.top = max(min(p.top, n-h), 0)
}

// move handles the vertical motion keys over n items; it reports whether the
// key was one.
func (p *position) move(key string, n int) bool {
	page := max(p.page, 2)
	switch key {
	case "up", "k":
		p.at--
	case "down", "j":
		p.at++
	case "g", "home":
		p.at = 0
	case "G", "end":
		p.at = n - 1
	case "ctrl+u":
		p.at -= page / 2
	case "ctrl+d":
		p.at += page / 2
	case "pgup":
		p.at -= page - 1
	case "pgdown":
		p.at += page - 1
	default:
		return false
	}
	p.at = max(min(p.at, n-1), 0)
	return true
}

// drawScrollbar draws a bar in the last column of c for n items from line y0 on.
func (p *position) drawScrollbar(c *Canvas, y0, n int) {
	h := c.H - y0
	if n <= h || h < 2 {
		return
	}
	size := max(h*h/n, 1)
	start := 0
	if n > h {
		start = p.top * (h - size) / (n - h)
	}
	for y := range h {
		if y >= start && y < start+size {
			c.Set(c.W-1, y0+y, c.Glyphs().Thumb, Muted)
		} else {
			c.Set(c.W-1, y0+y, c.Glyphs().Track, Faint)
		}
	}
}

// keyOf returns the name of a pressed key, "" for other messages.
func keyOf(msg tea.Msg) string {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		return k.String()
	}
	return ""
}
