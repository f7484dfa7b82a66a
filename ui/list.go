package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Span is a piece of text in one style.
type Span struct {
	Text  string
	Style Style
	Name  bool // a name, which is shortened where the line is too long
}

// ListLine is a line of a list: a mark in front, a tree prefix, and pieces of text.
type ListLine struct {
	Before []Span // left of the mark, as lines of a graph run
	Mark   rune   // 0: none
	Style  Style
	After  []Span // right of the mark
	Prefix string // tree branches, drawn faint
	Spans  []Span
	Ground Style // Selected for lines linked to another pane
}

// A List shows lines with a cursor: a tree, a graph in topological order, a log.
// Lines are asked for as they become visible, and numbered from 0 to Lines-1; a
// filter hides those that do not match.
type List struct {
	Lines  int
	Line   func(i int) ListLine
	Fit    func(i, w int) ListLine // the line for w cells, unless it is scrolled sideways; nil: Line
	Label  func(i int) string      // what filters look at; nil: the text of the line
	Empty  string
	Counts bool // the owner tells how many lines a filter leaves: not every line is one of what it lists
	Follow bool // keep the last line in view until the cursor moves up

	position position // among the shown lines
	line     int      // the line that was chosen: the cursor is on it, or on the next one that the filter leaves
	filter   *Filter
	shown    []int // the lines that the filter leaves; without a filter it is not used
	arranged int   // Lines when shown was made; -1: it must be made anew
	shift    int
}

// Keys returns the keys of a list, for the view's Keys.
func (l *List) Keys() []Key { return FilterKeys() }

// Refresh says that lines have changed. A change of their number needs no saying.
func (l *List) Refresh() { l.arranged = -1 }

// At returns the line under the cursor, or -1 if there is none.
func (l *List) At() int {
	l.arrange()
	return l.at(min(l.position.at, l.Shown()-1))
}

// Select puts the cursor on line i; it reports false if the filter hides that.
func (l *List) Select(i int) bool {
	l.line = max(min(i, l.Lines-1), 0)
	l.Refresh()
	return l.At() == l.line
}

// Number returns the line that is shown at a place, counted from 0 to Shown()-1.
func (l *List) Number(place int) int {
	l.arrange()
	return l.at(place)
}

// Shown returns how many lines the filter leaves.
func (l *List) Shown() int {
	l.arrange()
	if l.filter == nil {
		return l.Lines
	}
	return len(l.shown)
}

// at returns the line that is shown at a place, or -1.
func (l *List) at(place int) int {
	switch {
	case place < 0:
		return -1
	case l.filter == nil:
		return place
	}
	return l.shown[place]
}

// arrange brings the shown lines up to date. The cursor stays on the line that was chosen, and goes to the next one
// that is shown where the filter hides it.
func (l *List) arrange() {
	if l.arranged == l.Lines {
		return
	}
	l.arranged = l.Lines
	l.position.at = l.line
	if l.filter != nil {
		l.shown = l.shown[:0]
		for i := range l.Lines {
			if l.filter.Match(l.label(i)) {
				l.shown = append(l.shown, i)
			}
		}
		l.position.at, _ = slices.BinarySearch(l.shown, l.line)
	}
	l.position.at = max(min(l.position.at, l.Shown()-1), 0)
}

// Update handles motion and filtering; it reports whether the message was one of
// these.
func (l *List) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case FilterMsg:
		l.filter = msg.Filter
		l.Refresh()
		return true
	case MatchMsg:
		if n := l.Shown(); n > 0 {
			l.position.at = ((l.position.at+msg.Step)%n + n) % n
			l.line = l.At()
		}
		return true
	case listSpot:
		if msg.list != l {
			return false
		}
		l.position.at = max(min(msg.at, l.Shown()-1), 0)
		l.line = max(l.At(), 0)
		l.Follow = l.Follow && l.position.at == l.Shown()-1
		return true
	case tea.KeyPressMsg:
		return l.key(msg.String())
	}
	return false
}

// listSpot is a click on a line, by its place among the shown ones.
type listSpot struct {
	list *List
	at   int
}

func (l *List) key(name string) bool {
	switch name {
	case "left", "h":
		l.shift = max(l.shift-8, 0)
	case "right", "l":
		l.shift += 8
	default:
		n := l.Shown()
		if !l.position.move(name, n) {
			return false
		}
		l.line = max(l.At(), 0)
		l.Follow = l.Follow && l.position.at == n-1
	}
	return true
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
	n := l.Shown()
	if l.filter != nil && !l.Counts {
		c.matched(n, l.Lines)
	}
	if n == 0 {
		text := l.Empty
		if l.Lines > 0 {
			text = l.filter.nothing()
		}
		c.Fit(1, 1, c.W-2, Muted, text)
		return
	}
	if l.Follow {
		l.position.at = n - 1
		l.line = l.At()
	}
	c.Row(l.rowText)
	l.position.clamp(n, c.H)
	for y := range min(c.H, n-l.position.top) {
		l.drawLine(c, y, l.position.top+y)
		c.Spot(Rect{0, y, c.W, 1}, listSpot{l, l.position.top + y})
	}
	l.position.drawScrollbar(c, 0, n)
}

// rowText returns the text of the line under the cursor.
func (l *List) rowText() string {
	at := l.At()
	if at < 0 {
		return ""
	}
	text := ""
	for _, s := range l.Line(at).Spans {
		text += s.Text
	}
	return strings.TrimSpace(text)
}

// listMargin is what marks, margins and scroll bar take of a line.
const listMargin = 4

// shorten cuts the names among spans so that all take w cells if that leaves something of each name: the longest first.
func shorten(spans []Span, w int, mark rune) []Span {
	const least = 12
	over := -w
	for _, s := range spans {
		over += Width(s.Text)
	}
	if over <= 0 {
		return spans
	}
	spans = slices.Clone(spans)
	for over > 0 {
		longest := -1
		for i, s := range spans {
			if n := Width(s.Text); s.Name && n > least && (longest < 0 || n > Width(spans[longest].Text)) {
				longest = i
			}
		}
		if longest < 0 {
			break
		}
		was := Width(spans[longest].Text)
		spans[longest].Text = Name(spans[longest].Text, max(least, was-over), mark)
		spans[longest].Name = false
		over -= was - Width(spans[longest].Text)
	}
	return spans
}

// spans draws pieces of text, and returns the cell behind them.
func (c *Canvas) spans(x, y int, spans []Span) int {
	for _, s := range spans {
		x = c.Text(x, y, s.Style, s.Text)
	}
	return x
}

// drawLine draws the line that is shown at a place.
func (l *List) drawLine(c *Canvas, y, place int) {
	line := l.Line(l.at(place))
	if l.Fit != nil && l.shift == 0 {
		line = l.Fit(l.at(place), c.W-listMargin)
	}
	x := c.spans(1, y, line.Before)
	if line.Mark != 0 {
		c.Set(x, y, line.Mark, line.Style)
		x++
	}
	if x = c.spans(x, y, line.After); x > 1 {
		x++
	}
	part := c.Sub(Rect{x, y, max(c.W-x-1, 0), 1})
	x = part.Text(-l.shift, 0, Faint, line.Prefix)
	if l.shift == 0 {
		line.Spans = shorten(line.Spans, part.W-x, c.Glyphs().Ellipsis)
	}
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
	if place == l.position.at {
		c.drawCursor(Rect{0, y, c.W, 1})
	}
}
