package ui

import "strings"

// Tabs are names in a line of which one is active. Where they do not fit, the
// others are cut to their first word.
type Tabs struct {
	Names  []string
	Active int
}

// Draw draws the tabs in the first line of c.
func (t Tabs) Draw(c *Canvas) {
	names := t.Names
	if t.width(names) > c.W {
		short := make([]string, len(names))
		for i, n := range names {
			if short[i], _, _ = strings.Cut(n, " "); i == t.Active {
				short[i] = n
			}
		}
		names = short
	}
	x := 0
	for i, n := range names {
		if i == t.Active && (c.Mono() || c.Glyphs().ASCII) {
			x = c.Text(x, 0, Bold|Reverse, " "+n+" ")
		} else if i == t.Active {
			x = c.Text(x, 0, Accent|Bold|Underline, " "+n+" ")
		} else {
			key, rest, _ := strings.Cut(n, " ")
			x = c.Text(x, 0, Muted, " "+key+" ")
			if rest != "" {
				x = c.Text(x, 0, Muted, rest+" ")
			}
		}
	}
}

func (t Tabs) width(names []string) int {
	w := 0
	for _, n := range names {
		w += Width(n) + 2
	}
	return w
}
