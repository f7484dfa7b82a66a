package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Ask asks for a line of text, which enter gives to Take. An empty one is not taken, unless Empty says so.
type Ask struct {
	Name, Hint string // Hint says what is wanted
	Text       string // that the line begins with
	Empty      bool   // an empty line is taken, too
	Take       func(text string) tea.Cmd
	// Check says what is wrong with a text, which is then not taken: the dialog stays, and shows it. nil: nothing is.
	Check func(text string) error
	// Complete returns what a text may go on to, whole, each with the text before it; tab asks for it, in a command. nil: nothing.
	Complete func(text string) []string

	line    Line
	started bool
	found   []string // what the text may go on to, where that is not one thing
	nothing bool     // there is no such thing
	wrong   string   // what Check says of the line
}

// Title implements Dialog.
func (d *Ask) Title() string { return d.Name }

// Keys implements Dialog.
func (d *Ask) Keys() []Key {
	keys := []Key{K("enter", "take", "take it")}
	if d.Complete != nil {
		keys = append(keys, K("tab", "complete", "complete it"))
	}
	return append(keys, K("esc", "cancel", "cancel"))
}

// askWidth is how wide the line is, where there is room, and mostFound how many lines what it may go on to has at most.
const (
	askWidth  = 72
	mostFound = 8
)

// Size implements Dialog.
func (d *Ask) Size(w, _ int) (int, int) {
	w = min(w, askWidth)
	h := len(Wrap(d.Hint, w)) + 2
	if d.wrong != "" {
		h += 1 + len(Wrap(d.wrong, w))
	}
	if len(d.found) > 0 || d.nothing {
		h += 1 + min(max(len(d.found), 1), mostFound)
	}
	return w, h
}

// Draw implements Dialog.
func (d *Ask) Draw(c *Canvas) {
	d.start()
	c.Text(0, 0, Accent|Bold, ">")
	d.line.Draw(c, 2, 0, c.W-2)
	y := drawWrapped(c, 2, Muted, d.Hint) + 1
	if d.wrong != "" {
		y = drawWrapped(c, y, Bad, d.wrong) + 1
	}
	if d.nothing {
		c.Fit(2, y, c.W-2, Warn, "nothing here begins so")
	}
	from := strings.LastIndexByte(common(d.found), '/') + 1 // what all have in common, up to a folder, is in the line
	for i, text := range d.found {
		if i == mostFound-1 && len(d.found) > mostFound {
			c.Text(2, y+i, Muted, "and "+Count(len(d.found)-i)+" more")
			break
		}
		c.FitName(2, y+i, c.W-2, Plain, text[from:])
	}
}

// Update implements Dialog.
func (d *Ask) Update(msg tea.Msg) (bool, tea.Cmd) {
	d.start()
	switch text := d.line.String(); keyOf(msg) {
	case "enter":
		if text == "" && !d.Empty {
			return false, nil
		}
		if d.Check != nil {
			if err := d.Check(text); err != nil {
				d.wrong = err.Error()
				return false, nil
			}
		}
		return true, d.Take(text)
	case "tab":
		if d.Complete == nil {
			return false, nil
		}
		return false, func() tea.Msg { return completedMsg{d, text, d.Complete(text)} }
	}
	if d.line.Update(msg) {
		d.found, d.nothing, d.wrong = nil, false, ""
	}
	return false, nil
}

// completedMsg brings what a text may go on to.
type completedMsg struct {
	ask   *Ask
	text  string
	found []string
}

// complete goes on as far as all that was found goes, and lists it where it is not one thing.
func (d *Ask) complete(msg completedMsg) {
	if d.line.String() != msg.text { // it was typed on
		return
	}
	d.found, d.nothing = msg.found, len(msg.found) == 0
	if len(d.found) == 1 {
		d.found = nil
	}
	if text := common(msg.found); len(text) > len(msg.text) || len(msg.found) == 1 {
		d.line = NewLine(text)
	}
}

// common returns what all texts begin with, in whole runes.
func common(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	n := len(texts[0])
	for _, t := range texts[1:] {
		n = min(n, len(t))
		for i := range n {
			if t[i] != texts[0][i] {
				n = i
				break
			}
		}
	}
	return strings.ToValidUTF8(texts[0][:n], "")
}

func (d *Ask) start() {
	if !d.started {
		d.line, d.started = NewLine(d.Text), true
	}
}
