package ui

import (
	"slices"
	"strings"
	"unicode"
)

// StatusMsg shows a line at the bottom until the next key.
type StatusMsg struct {
	Text    string
	Shorter []string // ways to say the same in less room, the longest first
	Style   Style    // Bad for errors, Good, Plain
	Job     bool     // about work in the background: it goes when that is over, see [IdleMsg]
	Follows bool     // of the same work as the line there is: it takes the place of one that is a Job, and of no other
	News    bool     // of its own accord, not an answer to a key: it leaves an answer the time to be read
}

// line returns the first way to say it that fits w cells, or the shortest.
func (m StatusMsg) line(w int) string {
	text := m.Text
	for _, shorter := range m.Shorter {
		if Width(text) <= w {
			break
		}
		text = shorter
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// IdleMsg says that the work in the background is over, done or not: a status line about it goes away.
type IdleMsg struct{}

// drawFooter draws the last line: the filter being typed, a status, or the keys
// of the focused pane.
func (a *App) drawFooter(c *Canvas) {
	g := c.Glyphs()
	switch {
	case a.filter != nil:
		x := c.Text(1, 0, Accent|Bold, "/")
		a.filter.Draw(c, x, 0, c.W-x-24)
		c.FitRight(c.W-23, 0, 22, Muted, "enter keep  esc clear")
	case a.status.Text != "":
		mark, x := rune(0), 1
		switch a.status.Style & indexMask {
		case Bad:
			mark = g.Bad
		case Warn:
			mark = g.Warn
		case Good:
			mark = g.Good
		}
		if mark != 0 {
			c.Set(1, 0, mark, a.status.Style|Bold)
			x = 3
		}
		text := a.status.line(c.W - x - 1)
		if a.inbox.frozen && a.status.Job {
			text += a.look.Keys(" (frozen: press {space} to see the result)")
		}
		c.Fit(x, 0, c.W-x-1, a.status.Style, text)
	case a.dialog() != nil:
		drawKeys(c, a.dialog().Keys(), K("esc", "close", ""))
	default:
		drawKeys(c, a.footerKeys(), a.keys.all(Everywhere, []Key{quitKey, helpKey})...)
	}
}

// longestPane is the longest title of a pane that the footer has room for.
const longestPane = 12

// footerKeys returns the keys worth a word, the focused pane's first.
func (a *App) footerKeys() []Key {
	s := a.screen()
	var first []Key // what is close at hand: the other pane, of the pane, and the next page
	if len(s.Views) == 2 {
		if other := s.Views[1-s.focus].Title(); Width(other) <= longestPane {
			first = append(first, paneKey(other))
		}
	}
	intents := working(a.intentKeys())
	if a.suggest != nil {
		for _, i := range a.suggest(s.focused()) {
			for _, k := range intents {
				if k.Name == string(i) {
					k.Short = k.Name
					first = append(first, k)
				}
			}
		}
	}
	if s.pages > 1 {
		first = append(first, pageKey(s, a.nextPage().Name))
	}
	frame := slices.DeleteFunc(frameKeys(s), func(k Key) bool { return has(first, k.Keys[0]) })
	return slices.Concat(a.keys.all(s.Name, working(s.focused().Keys())), a.keys.all(Everywhere, slices.Concat(first, intents, frame)))
}

// serves reports whether the owner serves an intent.
func (a *App) serves(i Intent) bool {
	return slices.ContainsFunc(a.intents, func(k IntentKey) bool { return k.Intent == i })
}

// intentKeys returns the keys of the intents, as they are in the state at hand; those are left out that the focused pane has for
// itself.
func (a *App) intentKeys() []Key {
	var keys []Key
	own := working(a.screen().focused().Keys())
	for _, k := range a.intents {
		if k.Yields && has(own, k.Keys[0]) {
			continue
		}
		k.Off = a.lacks(k.Intent)
		keys = append(keys, k.Key)
	}
	return keys
}

// drawKeys draws the keys that have a short text, as many as fit, and at the right end those that always have their place.
func drawKeys(c *Canvas, keys []Key, always ...Key) {
	g := c.Glyphs()
	label := func(k Key) string {
		if len(k.Keys) == 1 || Width(k.Keys[1]) > 2 {
			return g.keyName(k.Keys[0])
		}
		if unicode.IsPunct(rune(k.Keys[0][0])) || unicode.IsSymbol(rune(k.Keys[0][0])) {
			return k.Keys[0] + " " + k.Keys[1] // a slash between them would look like a key
		}
		return g.keyName(k.Keys[0]) + "/" + g.keyName(k.Keys[1])
	}
	draw := func(x int, k Key) int {
		from := x
		x = c.Text(x, 0, Accent, label(k))
		x = c.Text(x+1, 0, Muted, k.Short)
		c.Spot(Rect{from, 0, x - from, 1}, pressMsg{k.Keys[0]})
		return x
	}
	width := func(k Key) int { return Width(label(k)) + 1 + Width(k.Short) }
	end := c.W + 1
	for _, k := range always {
		end -= width(k) + 2
	}
	x := 1
	for _, k := range keys {
		if k.Short == "" || has(always, k.Keys[0]) {
			continue
		}
		if x+width(k)+2 > end {
			break
		}
		x = draw(x, k) + 2
	}
	for _, k := range always {
		end = draw(end, k) + 2
	}
}

// keyName returns a key as people write it.
func (g *Glyphs) keyName(name string) string {
	switch name {
	case "up", "down", "left", "right":
		if g.ASCII {
			return name
		}
		return map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"}[name]
	}
	return name
}
