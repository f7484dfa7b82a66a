package ui

import "strings"

// Tabs are names in a line of which one is active: a key, a space and a word. Where they do not fit, words give way to their
// short forms, those that save most first, and then all words are cut to as many letters as leave room for all, so that they
// stay where they are whichever is active. Where that would leave fewer than three letters the active one is whole and the
// others are their keys alone; where even those have no room, it stands alone.
type Tabs struct {
	Names  []string
	Short  []string // words for where there is less room, one for each name; "", or none at all: the name's own
	Active int
}

// leastLetters is how short a word may be cut: fewer do not tell which it is.
const leastLetters = 3

// Draw draws the tabs in the first line of c.
func (t Tabs) Draw(c *Canvas) {
	names, gap := t.fit(c.W)
	x, active := 0, 0
	for i, n := range names {
		from := x
		if i == t.Active {
			active = x
			x += 1 + Width(n)
		} else {
			x = c.Text(x, 0, Muted, " "+n)
		}
		if key, _, _ := strings.Cut(t.Names[i], " "); n != "" {
			c.Spot(Rect{from, 0, x - from, 1}, GotoMsg{Screen: key})
		}
		x += gap - 1
	}
	if t.Active < len(names) {
		style := Accent | Bold | Underline
		if c.Mono() || c.Glyphs().ASCII {
			style = Bold | Reverse
		}
		c.Text(active, 0, style, " "+names[t.Active]+" ")
	}
}

// Least returns the fewest cells in which all tabs have their keys and the active one its name.
func (t Tabs) Least() int { return tabsWidth(t.cut(0), 1) }

// fit returns the names as they fit into w cells, and the cells between two of them; where there is room for only one
// the others are empty.
func (t Tabs) fit(w int) (names []string, gap int) {
	if tabsWidth(t.Names, 2) <= w {
		return t.Names, 2
	}
	longest := leastLetters
	for i := range t.Names {
		_, word := t.short(i)
		longest = max(longest, Width(word))
	}
	for letters := longest; letters >= leastLetters; letters-- {
		if names := t.cut(letters); tabsWidth(names, 1) <= w {
			return t.complete(names, w-tabsWidth(names, 1)), 1
		}
	}
	names = t.cut(0)
	if tabsWidth(names, 2) <= w {
		return names, 2
	}
	if tabsWidth(names, 1) > w {
		clear(names[:t.Active])
		clear(names[t.Active+1:])
		return names, 0
	}
	return names, 1
}

// short returns the key and the shortest word of name i that is not cut.
func (t Tabs) short(i int) (key, word string) {
	key, word, _ = strings.Cut(t.Names[i], " ")
	if i < len(t.Short) && t.Short[i] != "" {
		word = t.Short[i]
	}
	return key, word
}

// complete makes words whole again that were shortened, those that lack least first, as far as so many cells suffice.
func (t Tabs) complete(names []string, left int) []string {
	for {
		least := -1
		for i, n := range names {
			if n != t.Names[i] && (least < 0 || t.lack(names, i) < t.lack(names, least)) {
				least = i
			}
		}
		if least < 0 || t.lack(names, least) > left {
			return names
		}
		left -= t.lack(names, least)
		names[least] = t.Names[least]
	}
}

// lack returns the cells that name i was shortened by.
func (t Tabs) lack(names []string, i int) int { return Width(t.Names[i]) - Width(names[i]) }

// cut returns the names with their short words cut to so many letters; 0 leaves the keys, and the active one whole.
func (t Tabs) cut(letters int) []string {
	names := make([]string, len(t.Names))
	for i, n := range t.Names {
		key, word := t.short(i)
		switch {
		case letters == 0 && i == t.Active:
			names[i] = n
		case letters == 0 || word == "":
			names[i] = key
		default:
			names[i] = key + " " + Truncate(word, letters, 0)
		}
	}
	return names
}

// tabsWidth returns the cells that names take with so many between two of them, the margins included.
func tabsWidth(names []string, gap int) int {
	w := 1
	for _, n := range names {
		w += Width(n) + gap
	}
	return w
}
