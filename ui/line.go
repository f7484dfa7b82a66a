package ui

import (
	"unicode"

	tea "charm.land/bubbletea/v2"
)

// Line is a line of text being edited.
type Line struct {
	runes []rune
	at    int
}

// NewLine returns a line with the cursor after text.
func NewLine(text string) Line {
	r := []rune(text)
	return Line{runes: r, at: len(r)}
}

func (l *Line) String() string { return string(l.runes) }

// Update handles typing, pasting and the usual editing keys; it reports whether
// the text changed.
func (l *Line) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		return l.insert(msg.Content)
	case tea.KeyPressMsg:
		return l.key(msg)
	}
	return false
}

func (l *Line) key(msg tea.KeyPressMsg) bool {
	before := len(l.runes)
	switch msg.String() {
	case "left", "ctrl+b":
		l.at = max(l.at-1, 0)
	case "right", "ctrl+f":
		l.at = min(l.at+1, len(l.runes))
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.runes)
	case "backspace":
		if l.at > 0 {
			l.runes = append(l.runes[:l.at-1], l.runes[l.at:]...)
			l.at--
		}
	case "delete":
		if l.at < len(l.runes) {
			l.runes = append(l.runes[:l.at], l.runes[l.at+1:]...)
		}
	case "ctrl+u":
		l.runes, l.at = append([]rune(nil), l.runes[l.at:]...), 0
	case "ctrl+k":
		l.runes = l.runes[:l.at]
	case "ctrl+w":
		from := l.at
		for from > 0 && l.runes[from-1] == ' ' {
			from--
		}
		for from > 0 && l.runes[from-1] != ' ' {
			from--
		}
		l.runes, l.at = append(l.runes[:from], l.runes[l.at:]...), from
	default:
		return l.insert(msg.Text)
	}
	return len(l.runes) != before
}

// insert puts the printable runes of text at the cursor.
func (l *Line) insert(text string) bool {
	var add []rune
	for _, r := range text {
		if unicode.IsPrint(r) {
			add = append(add, r)
		}
	}
	rest := append(add, l.runes[l.at:]...)
	l.runes = append(l.runes[:l.at:l.at], rest...)
	l.at += len(add)
	return len(add) > 0
}

// Draw draws the line into w cells from (x, y) on, scrolled so that the cursor shows.
func (l *Line) Draw(c *Canvas, x, y, w int) {
	part := c.Sub(Rect{x, y, w, 1})
	start := 0
	for start < l.at && Width(string(l.runes[start:l.at]))+2 > part.W {
		start++
	}
	after := part.Text(0, 0, Plain, string(l.runes[start:]))
	at := Width(string(l.runes[start:l.at]))
	if at >= after {
		part.Set(at, 0, ' ', Reverse)
	} else {
		part.Over(Rect{at, 0, 1, 1}, Reverse)
	}
}
