package ui

import tea "charm.land/bubbletea/v2"

// Ask asks for a line of text, which enter gives to Take. An empty one is not taken.
type Ask struct {
	Name, Hint string // Hint says what is wanted
	Take       func(text string) tea.Cmd
	line       Line
	started    bool
}

// Title implements Dialog.
func (d *Ask) Title() string { return d.Name }

// Keys implements Dialog.
func (d *Ask) Keys() []Key {
	return []Key{K("enter", "take", "take it"), K("esc", "cancel", "cancel")}
}

// askWidth is how wide the line is, where there is room.
const askWidth = 72

// Size implements Dialog.
func (d *Ask) Size(w, _ int) (int, int) {
	w = min(w, askWidth)
	return w, len(Wrap(d.Hint, w)) + 2
}

// Draw implements Dialog.
func (d *Ask) Draw(c *Canvas) {
	d.start()
	c.Text(0, 0, Accent|Bold, ">")
	d.line.Draw(c, 2, 0, c.W-2)
	drawWrapped(c, 2, Muted, d.Hint)
}

// Update implements Dialog.
func (d *Ask) Update(msg tea.Msg) (bool, tea.Cmd) {
	d.start()
	if keyOf(msg) == "enter" {
		text := d.line.String()
		if text == "" {
			return false, nil
		}
		return true, d.Take(text)
	}
	d.line.Update(msg)
	return false, nil
}

func (d *Ask) start() {
	if !d.started {
		d.line, d.started = NewLine(""), true
	}
}
