package ui

import tea "charm.land/bubbletea/v2"

// LabelledBar is one line of [Bars].
type LabelledBar struct {
	Label string // a name: cut in the middle where it is too long
	Bar   Bar
	Value string
	Click tea.Msg // what a click on it is; nil: nothing
}

// Bars is a short list of labelled bars without a cursor: the slowest layers. For
// long lists use a Table with a column of bars.
type Bars []LabelledBar

// Draw draws as many lines as fit, from the first.
func (b Bars) Draw(c *Canvas) {
	labels, values := 0, 0
	var names []string
	for _, line := range b[:min(len(b), c.H)] {
		names = append(names, line.Label)
		labels = max(labels, Width(line.Label))
		values = max(values, Width(line.Value))
	}
	least := max(6, c.W/6) // of a bar: names come first
	labels = min(labels, max(c.W*2/5, c.W-1-values-2-least-3))
	short := NewNames(names)
	for y, line := range b[:min(len(b), c.H)] {
		c.Fit(1, y, labels, Plain, short.Short(line.Label, labels, c.Glyphs().Ellipsis))
		right := c.W - 1 - values
		c.FitRight(right, y, values, Plain, line.Value)
		x := 1 + labels + 2
		if line.Click != nil {
			c.Spot(Rect{0, y, c.W, 1}, line.Click)
		}
		line.Bar.Draw(c.Sub(Rect{x, y, right - 2 - x, 1}))
	}
}
