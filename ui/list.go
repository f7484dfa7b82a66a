package ui

import tea "charm.land/bubbletea/v2"

// Span is a piece of text in one style.
type Span struct {
	Text  string
	Style Style
}

// ListLine is a line of a list: a mark in front, a tree prefix, and pieces of text.
type ListLine struct {
	Mark   rune // 0: none
	Style  Style
	Prefix string // tree branches, drawn faint
	Spans  []Span
	Ground Style // Selected for lines linked to another pane
}

// A List shows lines with a cursor: a tree, a graph in topological order, a log.
// Lines are asked for as they become visible. A filter does not hide lines, since
// their order carries meaning: matches are marked, n and N go through them.
type List struct {
	Lines  int
	Line   func(i int) ListLine
	Label  func(i int) string // what filters look at; nil: the text of the line
	Empty  string
	Follow bool // keep the last line in view until the cursor moves up

	position position
	filter   *Filter
	shift    int
}

// Keys returns the keys of a list, for the view's Keys.
func (l *List) Keys() []Key { return FilterKeys() }

// At returns the line under the cursor, or -1 if there is none.
func (l *List) At() int {
	if l.position.at < l.Lines {
		return l.position.at
	}
	return l.Lines - 1
}

// Select puts the cursor on line i.
func (l *List) Select(i int) { l.position.at = max(min(i, l.Lines-1), 0) }

// Update handles motion and searching; it reports whether the message was one of
// these.
func (l *List) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case FilterMsg:
		l.filter = msg.Filter
		if l.filter != nil && l.Lines > 0 && !l.filter.Match(l.label(l.At())) {
			l.next(1)
		}
		return true
	case MatchMsg:
		l.next(msg.Step)
		return true
	case tea.KeyPressMsg:
		return l.key(msg.String())
	}
	return false
}

func (l *List) key(name string) bool {
	switch name {
	case "left", "h":
		l.shift = max(l.shift-8, 0)
	case "right", "l":
		l.shift += 8
	default:
		if !l.position.move(name, l.Lines) {
			return false
		}
		l.Follow = l.Follow && l.position.at == l.Lines-1
	}
	return true
}

// next moves the cursor to the next line that matches, around the end.
func (l *List) next(step int) {
	for k := 1; k <= l.Lines; k++ {
		i := ((l.position.at+step*k)%l.Lines + l.Lines) % l.Lines
		if l.filter.Match(l.label(i)) {
			l.position.at = i
			return
		}
	}
}

func (l *List) label(i int) string {
	if l.Label != nil {
		return l.Label(i)
	}
	text := ""
	for _, s := range l.Line(i).Spans {
		text += s.Text
	}
	return text
}

// Draw draws the lines that fit.
func (l *List) Draw(c *Canvas) {
	if l.Lines == 0 {
		c.Fit(1, 1, c.W-2, Muted, l.Empty)
		return
	}
	if l.Follow {
		l.position.at = l.Lines - 1
	}
	l.position.clamp(l.Lines, c.H)
	for y := range c.H {
		i := l.position.top + y
		if i >= l.Lines {
			break
		}
		l.drawLine(c, y, i)
	}
	l.position.drawScrollbar(c, 0, l.Lines)
}

func (l *List) drawLine(c *Canvas, y, i int) {
	line := l.Line(i)
	x := 1
	if line.Mark != 0 {
		c.Set(x, y, line.Mark, line.Style)
		x += 2
	}
	part := c.Sub(Rect{x, y, max(c.W-x-1, 0), 1})
	x = part.Text(-l.shift, 0, Faint, line.Prefix)
	for _, s := range line.Spans {
		from := x
		x = part.Text(x, 0, s.Style, s.Text)
		for _, m := range l.filter.Spans(s.Text) {
			part.Over(Rect{from + Width(s.Text[:m[0]]), 0, Width(s.Text[m[0]:m[1]]), 1}, Match)
		}
	}
	if x > part.W && part.W > 0 {
		part.Set(part.W-1, 0, c.Glyphs().Ellipsis, Muted)
	}
	if l.shift > 0 {
		part.Set(0, 0, c.Glyphs().Left, Muted)
	}
	if line.Ground != Plain {
		c.Over(Rect{0, y, c.W, 1}, line.Ground)
	}
	if i == l.position.at {
		c.drawCursor(Rect{0, y, c.W, 1})
	}
}
