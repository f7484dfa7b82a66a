package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// help lists the keys that are valid in the focused pane.
type help struct {
	sections []helpSection
	top      int
	lines    int // drawn last, for the scroll limit
	page     int
}

type helpSection struct {
	title string
	keys  []Key
}

// newHelp makes the help for the focused pane of screen s: the keys that do something in the state at hand, as they are now.
func newHelp(a *App, s *Screen) *help {
	h := &help{}
	h.add(s.focused().Title(), a.keys.all(s.Name, working(s.focused().Keys())))
	h.add("Motion", a.keys.all(Everywhere, MotionKeys()))
	h.add("Workbench", a.keys.all(Everywhere, working(a.intentKeys())))
	h.add("Everywhere", a.keys.all(Everywhere, append(frameKeys(s), K("0-9", "", "screen"))))
	return h
}

func (h *help) add(title string, keys []Key) {
	if len(keys) > 0 {
		h.sections = append(h.sections, helpSection{title, keys})
	}
}

// Title implements Dialog.
func (h *help) Title() string { return "Help" }

// Keys implements Dialog.
func (h *help) Keys() []Key {
	return []Key{{Keys: []string{"j", "k"}, Short: "scroll", Long: "scroll"}, K("esc", "close", "close")}
}

// helpLine is a section's title, or a key with what it does, or more of that.
type helpLine struct{ title, key, text string }

// layout returns the lines of w cells, and the column where the descriptions begin.
func (h *help) layout(g *Glyphs, w int) (lines []helpLine, column int) {
	column = 22
	if w < 64 {
		column = 16
	}
	for i, s := range h.sections {
		if i > 0 {
			lines = append(lines, helpLine{})
		}
		lines = append(lines, helpLine{title: s.title})
		for _, k := range s.keys {
			var names []string
			for _, key := range k.Keys {
				names = append(names, g.keyName(key))
			}
			for i, text := range Wrap(k.described(), max(w-column-1, 1)) {
				line := helpLine{text: text}
				if i == 0 {
					line.key = strings.Join(names, " ")
				}
				lines = append(lines, line)
			}
		}
	}
	return lines, column
}

// described is what a key does, with its name before that.
func (k Key) described() string {
	if name := k.action(); !strings.HasPrefix(k.Long, name) {
		return name + ": " + k.Long
	}
	return k.Long
}

// Size implements Dialog.
func (h *help) Size(w, ht int) (int, int) {
	w = min(w, 76)
	lines, _ := h.layout(ASCIIGlyphs(), w) // the names of keys matter for no line's length
	return w, min(len(lines), ht)
}

// Draw implements Dialog.
func (h *help) Draw(c *Canvas) {
	lines, column := h.layout(c.Glyphs(), c.W)
	h.lines, h.page = len(lines), c.H
	h.top = max(min(h.top, h.lines-h.page), 0)
	for y, l := range lines[h.top:min(h.top+c.H, len(lines))] {
		c.Fit(0, y, c.W, Bold, l.title)
		c.FitRight(0, y, column-2, Accent, l.key)
		c.Fit(column, y, c.W-column-1, Plain, l.text)
	}
	p := position{top: h.top}
	p.drawScrollbar(c, 0, h.lines)
}

// Update implements Dialog.
func (h *help) Update(msg tea.Msg) (bool, tea.Cmd) {
	key := keyOf(msg)
	if key == "?" || key == "q" {
		return true, nil
	}
	p := position{at: h.top, page: h.page}
	p.move(key, max(h.lines-h.page+1, 1))
	h.top = p.at
	return false, nil
}
