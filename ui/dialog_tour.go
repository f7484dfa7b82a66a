package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// Tour tells someone who is here for the first time a few things. Any key ends it, and does what it does.
type Tour struct {
	Hints []string // in which keys are in braces, see [Look.Keys]
	Over  tea.Cmd  // when it has been seen; may be nil
}

// tourIndent is where hints begin, behind their numbers.
const tourIndent = 3

// Title implements Dialog.
func (d *Tour) Title() string { return "Welcome" }

// Keys implements Dialog.
func (d *Tour) Keys() []Key { return []Key{K("enter", "go on", "go on")} }

// Size implements Dialog.
func (d *Tour) Size(w, h int) (int, int) {
	w = min(w, 70)
	lines := 1
	for _, hint := range d.Hints {
		lines += len(Wrap(hint, w-tourIndent)) + 1 // in braces keys are longer than they will be
	}
	return w, min(lines, h)
}

// Draw implements Dialog.
func (d *Tour) Draw(c *Canvas) {
	y, gap := 0, 1
	if _, want := d.Size(c.W, c.H+1); want > c.H {
		gap = 0
	}
	for i, hint := range d.Hints {
		c.Text(0, y, Accent|Bold, fmt.Sprint(i+1))
		text := c.Sub(Rect{tourIndent, y, c.W - tourIndent, c.H - y})
		y += drawWrapped(text, 0, Plain, c.Keys(hint)) + gap
	}
	c.Fit(tourIndent, min(y, c.H-1), c.W-tourIndent, Muted, "Any key goes on. This is not shown again.")
}

// Update implements Dialog.
func (d *Tour) Update(msg tea.Msg) (bool, tea.Cmd) {
	switch keyOf(msg) {
	case "":
		return false, nil
	case "enter", "space", "q": // are meant for the tour
		return true, d.Over
	}
	return true, tea.Batch(d.Over, func() tea.Msg { return msg })
}

// Closed implements [Closing].
func (d *Tour) Closed() tea.Cmd { return d.Over }
