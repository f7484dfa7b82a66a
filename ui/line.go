package ui

import (
	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// Line is a line of text being edited.
type Line struct{ input textinput.Model }

// NewLine returns a line with the cursor after text.
func NewLine(text string) Line {
	in := textinput.New()
	in.KeyMap.Paste = key.NewBinding() // what the terminal pastes comes as a message
	in.SetValue(text)
	in.CursorEnd()
	in.Focus()
	return Line{in}
}

func (l *Line) String() string { return l.input.Value() }

// Update handles typing, pasting and the usual editing keys; it reports whether
// the text changed.
func (l *Line) Update(msg tea.Msg) bool {
	before := l.input.Value()
	l.input, _ = l.input.Update(msg)
	return l.input.Value() != before
}

// Draw draws the line into w cells from (x, y) on, scrolled so that the cursor shows.
func (l *Line) Draw(c *Canvas, x, y, w int) {
	part := c.Sub(Rect{x, y, w, 1})
	runes, cursor, start := []rune(l.input.Value()), l.input.Position(), 0
	for start < cursor && Width(string(runes[start:cursor]))+2 > part.W {
		start++
	}
	after := part.Text(0, 0, Plain, string(runes[start:]))
	at := Width(string(runes[start:cursor]))
	if at >= after {
		part.Set(at, 0, ' ', Reverse)
	} else {
		part.Over(Rect{at, 0, 1, 1}, Reverse)
	}
}
