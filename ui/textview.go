package ui

import tea "charm.land/bubbletea/v2"

// A Text shows lines of plain text that scroll both ways: a dump, a description.
type Text struct {
	lines  []string
	wide   int // cells of the widest line
	top    int
	left   int
	page   int
	filter *Filter
	at     int // line of the current match
}

// SetLines replaces the text; the scroll position stays.
func (t *Text) SetLines(lines []string) {
	t.lines, t.wide = lines, 0
	for _, l := range lines {
		t.wide = max(t.wide, Width(l))
	}
}

// Keys returns the keys of a text, for the view's Keys.
func (t *Text) Keys() []Key { return FilterKeys() }

// Update handles motion and searching; it reports whether the message was one of
// these.
func (t *Text) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case FilterMsg:
		t.filter, t.at = msg.Filter, max(t.top-1, -1)
		if t.filter != nil {
			t.next(1)
		}
		return true
	case MatchMsg:
		t.next(msg.Step)
		return true
	case tea.KeyPressMsg:
		return t.key(msg.String())
	}
	return false
}

func (t *Text) key(name string) bool {
	switch name {
	case "left", "h":
		t.left = max(t.left-8, 0)
	case "right", "l":
		t.left = max(min(t.left+8, t.wide-8), 0)
	default:
		p := position{at: t.top, page: t.page}
		if !p.move(name, max(len(t.lines)-t.page+1, 1)) {
			return false
		}
		t.top = p.at
	}
	return true
}

// next scrolls to the next line that matches, around the end.
func (t *Text) next(step int) {
	n := len(t.lines)
	for k := 1; k <= n; k++ {
		i := ((t.at+step*k)%n + n) % n
		if t.filter.Match(t.lines[i]) {
			t.at, t.top = i, max(i-t.page/3, 0)
			return
		}
	}
}

// Draw draws the lines that fit.
func (t *Text) Draw(c *Canvas) {
	t.page = c.H
	t.top = max(min(t.top, len(t.lines)-c.H), 0)
	for y := range c.H {
		if t.top+y >= len(t.lines) {
			break
		}
		line := t.lines[t.top+y]
		c.Sub(Rect{1, 0, c.W - 2, c.H}).scrolled(0, y, t.left, Plain, line, t.filter)
	}
	p := position{top: t.top}
	p.drawScrollbar(c, 0, len(t.lines))
}
