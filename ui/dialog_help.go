package ui

import tea "charm.land/bubbletea/v2"

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

// newHelp makes the help for the focused pane of screen s.
func newHelp(s *Screen, intents []IntentKey) *help {
	h := &help{}
	h.add(s.focused().Title(), s.focused().Keys())
	h.add("Motion", MotionKeys())
	var own []Key
	for _, k := range intents {
		own = append(own, k.Key)
	}
	h.add("Workbench", own)
	h.add("Everywhere", append(frameKeys(s), K("0-9", "", "screen")))
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
func (h *help) Keys() []Key { return []Key{K("esc", "close", "close")} }

// Size implements Dialog.
func (h *help) Size(w, ht int) (int, int) {
	lines := 0
	for _, s := range h.sections {
		lines += len(s.keys) + 2
	}
	return min(w, 76), min(lines-1, ht)
}

// Draw implements Dialog.
func (h *help) Draw(c *Canvas) {
	const column = 22
	g := c.Glyphs()
	y := -h.top
	for i, s := range h.sections {
		if i > 0 {
			y++
		}
		c.Fit(0, y, c.W, Bold, s.title)
		y++
		for _, k := range s.keys {
			name := ""
			for i, key := range k.Keys {
				if i > 0 {
					name += " "
				}
				name += g.keyName(key)
			}
			c.FitRight(0, y, column-2, Accent, name)
			c.Fit(column, y, c.W-column-1, Plain, k.Long)
			y++
		}
	}
	h.lines, h.page = y+h.top, c.H
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
