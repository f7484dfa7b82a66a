package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// command is something that a key does, and where: what the palette finds by its name.
type command struct {
	text, where string
	words       []string // by which people look for it, too
	key         string
	screen      string  // the digit of the screen that is shown first; "" for the one at hand
	page        int     // of that digit, counted from 1
	view        int     // of that screen, counted from 1; 0 for none
	shows       bool    // it is over when the screen is shown
	off         string  // why it does nothing in the state at hand
	does        tea.Cmd // in place of a key
	setting     *Setting
	sets        func() tea.Cmd // in place of a key, a setting to what was typed
}

// id tells commands apart, for what was run last.
func (c command) id() string {
	if c.does != nil || c.sets != nil {
		return c.text
	}
	return fmt.Sprint(c.screen, c.page, c.view, c.key)
}

// commands lists what can be done: at the focused pane first, then in the whole program, then elsewhere.
func (a *App) commands() []command {
	var list []command
	add := func(screen *Screen, view int, where string, keys []Key) {
		context := Everywhere
		if screen != nil {
			context = screen.Name
		}
		for _, k := range keys {
			now := a.keys.of(context, k).Keys
			for i, name := range k.Keys {
				if i > 0 && name == "shift+tab" || name == ":" {
					continue
				}
				c := command{text: k.Long, where: where, words: k.Words, key: now[i], off: k.Off, view: view}
				if screen != nil {
					c.screen, c.page = screen.Key, a.page(screen)
				}
				list = append(list, c)
			}
		}
	}
	here := a.screen()
	add(here, here.focus+1, here.focused().Title(), here.focused().Keys())
	for _, s := range a.screens {
		if s != here {
			list = append(list, a.showing(s))
		}
	}
	add(nil, 0, "workbench", a.intentKeys())
	add(nil, 0, "everywhere", frameKeys(here))
	for _, s := range append([]*Screen{here}, slices.DeleteFunc(slices.Clone(a.screens), func(s *Screen) bool { return s == here })...) {
		for i, v := range s.Views {
			if s != here || v != here.focused() {
				add(s, i+1, s.Name+": "+v.Title(), v.Keys())
			}
		}
	}
	list = append(list, a.showing(here))
	for _, e := range a.entries {
		c := command{text: e.Text, where: e.Where, words: e.Words, does: e.Run, setting: e.Setting}
		if s := e.Setting; s != nil {
			c.where, c.does = "now "+cmp.Or(s.Value(), "none"), s.ask()
		}
		list = append(list, c)
	}
	return list
}

// showing is the command that shows a screen.
func (a *App) showing(s *Screen) command {
	return command{text: "show " + s.Name, where: "screen " + s.Key, words: append(s.Words, strings.ToLower(s.Name)), key: s.Key, screen: s.Key, page: a.page(s), shows: true}
}

// runMsg asks for a command to be run.
type runMsg struct{ command command }

// run shows the pane of a command and presses its key there.
func (a *App) run(c command) tea.Cmd {
	if c.screen != "" {
		a.open(GotoMsg{Screen: c.screen, Page: c.page, View: c.view})
	}
	const kept = 8
	a.ran = slices.DeleteFunc(a.ran, func(id string) bool { return id == c.id() })
	a.ran = append([]string{c.id()}, a.ran[:min(len(a.ran), kept-1)]...)
	if c.shows {
		return nil
	}
	if c.sets != nil {
		return c.sets()
	}
	if c.does != nil {
		return c.does
	}
	return a.key(Press(c.key))
}

// A palette finds commands by parts of their names.
type palette struct {
	all      []command
	synonyms map[string][]string
	recent   []string
	line     Line
	found    []command
	position position
}

func newPalette(a *App) *palette {
	p := &palette{all: a.commands(), synonyms: a.synonyms, recent: a.ran, line: NewLine("")}
	p.find()
	return p
}

// match is a command that was found.
type match struct {
	command
	score int
	first int // which of the words that are typed its name has, the first of them
}

// find lists the commands that match what is typed, the best first; with nothing typed those that ran last come first. Where none
// matches all words, it is those that match most of them. Of what matches as well that is first whose name has the word that is typed first.
func (p *palette) find() {
	words := p.asked(p.line.String())
	var list []match
	name, value, _ := strings.Cut(strings.TrimSpace(p.line.String()), " ")
	for _, c := range p.all {
		if c.setting != nil && value != "" && isSetting(c.setting.Name, name) {
			list = append(list, match{c.setting.typed(strings.TrimSpace(value)), len(c.setting.Name) - len(name) - 1000, 0})
		}
		score, ok := c.score(words, p.synonyms)
		if i := slices.Index(p.recent, c.id()); i >= 0 && len(words) == 0 {
			score = i - len(p.recent)
		}
		if c.setting != nil && c.setting.Name == name && value == "" { // before what has it among its words
			score = -1
		}
		if ok {
			list = append(list, match{c, score, c.first(words)})
		}
	}
	if len(list) == 0 && len(words) > 1 {
		list = p.nearest(words)
	}
	slices.SortStableFunc(list, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.first, b.first))
	})
	p.found = p.found[:0]
	for _, m := range list {
		p.found = append(p.found, m.command)
	}
	p.position = position{}
}

// asked returns the words of what a person types, two that are one synonym as that, without those of a question that name nothing, unless
// there are no others.
func (p *palette) asked(text string) []string {
	words := strings.Fields(strings.ToLower(strings.TrimRight(text, "? ")))
	for i := 0; i+1 < len(words); i++ {
		if both := words[i] + words[i+1]; p.synonyms[both] != nil {
			words = slices.Replace(words, i, i+2, both)
		}
	}
	naming := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return slices.Contains([]string{"a", "an", "are", "do", "does", "how", "i", "is", "it", "my", "of", "the", "this", "was", "what", "which"}, w)
	})
	if len(naming) == 0 {
		return words
	}
	return naming
}

// nearest returns the commands that match most of several words, none of which is one letter.
func (p *palette) nearest(words []string) (list []match) {
	most := 0
	for _, c := range p.all {
		n, total := 0, 0
		for _, w := range words {
			if score, ok := c.score([]string{w}, p.synonyms); ok && len(w) > 1 {
				n, total = n+1, total+score
			}
		}
		switch {
		case n == 0 || n < most:
			continue
		case n > most:
			most, list = n, nil
		}
		list = append(list, match{c, total, c.first(words)})
	}
	return list
}

// isSetting reports whether a word that a person typed names a setting, or begins its name.
func isSetting(name, word string) bool {
	return strings.HasPrefix(name, strings.ReplaceAll(strings.ToLower(word), "-", "_"))
}

// score says how well words name a command: 0 where each is one by which people look for it, more the less it is.
func (c command) score(words []string, synonyms map[string][]string) (score int, ok bool) {
	for _, w := range words {
		least := c.misses(w)
		for _, other := range synonyms[w] {
			if far := c.misses(other); far < abbreviated {
				least = min(least, far+1)
			}
		}
		if least == unnamed {
			return 0, false
		}
		score += least
	}
	if c.off != "" && len(words) > 0 {
		score += 5
	}
	return score, true
}

// How far a word is from naming a command that has it as an abbreviation alone, or not at all.
const (
	abbreviated = 20
	unnamed     = 1000
)

// misses says how far a word is from naming a command.
func (c command) misses(w string) int {
	text, where := " "+strings.ToLower(c.text+" "+c.key), " "+strings.ToLower(c.where)
	switch {
	case slices.Contains(c.words, w):
		return 0
	case strings.Contains(text, " "+w):
		return 1
	case slices.ContainsFunc(c.words, func(known string) bool { return strings.HasPrefix(known, w) }):
		return 2
	case strings.Contains(text, w) || strings.Contains(where, " "+w):
		return 3
	case strings.Contains(where, w):
		return 4
	case abbreviates(w, text+where):
		return abbreviated
	}
	return unnamed
}

// first returns which of several words is the first that a word of the command's text begins with.
func (c command) first(words []string) int {
	if len(words) < 2 {
		return 0
	}
	text := " " + strings.ToLower(c.text)
	if i := slices.IndexFunc(words, func(w string) bool { return strings.Contains(text, " "+w) }); i >= 0 {
		return i
	}
	return len(words)
}

// abbreviates reports whether the letters of w are in text in their order, from the beginning of a word on and not far apart.
func abbreviates(w, text string) bool {
	for i := 0; i < len(text); i++ {
		if i > 0 && text[i-1] != ' ' || text[i] != w[0] {
			continue
		}
		if spans, ok := subsequence(text[i:], w); ok && spans[len(spans)-1][1] <= 2*len(w) {
			return true
		}
	}
	return false
}

// Title implements Dialog.
func (p *palette) Title() string { return "Commands" }

// Keys implements Dialog.
func (p *palette) Keys() []Key {
	return []Key{K("enter", "run", "run"), K("esc", "close", "close")}
}

// Size implements Dialog.
func (p *palette) Size(w, h int) (int, int) { return min(w, 84), min(h, len(p.all)+2, 20) }

// Draw implements Dialog.
func (p *palette) Draw(c *Canvas) {
	count := fmt.Sprintf("%d of %d", len(p.found), len(p.all))
	c.Text(0, 0, Accent|Bold, ":")
	p.line.Draw(c, 2, 0, c.W-Width(count)-4)
	c.FitRight(c.W-Width(count), 0, Width(count), Muted, count)
	body := c.Sub(Rect{0, 2, c.W, c.H - 2})
	if len(p.found) == 0 {
		body.Fit(0, 0, body.W, Muted, "nothing is called that")
		return
	}
	const keys = 10
	p.position.clamp(len(p.found), body.H)
	for y := range min(body.H, len(p.found)-p.position.top) {
		i := p.position.top + y
		found := p.found[i]
		text, where, style := found.text, found.where, Plain
		if found.off != "" {
			text, style = found.text+" ("+found.off+")", Faint
		}
		body.FitRight(0, y, keys-2, Accent, body.Glyphs().keyName(found.key))
		room := body.W - keys - 2
		right := min(Width(where), room/2)
		body.Fit(keys, y, room-right-1, style, text)
		body.FitRight(keys+room-right, y, right, Muted, where)
		if i == p.position.at {
			body.Over(Rect{0, y, body.W - 1, 1}, Cursor)
		}
		body.Spot(Rect{0, y, body.W, 1}, choiceSpot(i))
	}
	p.position.drawScrollbar(body, 0, len(p.found))
}

// Update implements Dialog.
func (p *palette) Update(msg tea.Msg) (bool, tea.Cmd) {
	if i, ok := msg.(choiceSpot); ok {
		p.position.at = max(min(int(i), len(p.found)-1), 0)
		return false, nil
	}
	switch key := keyOf(msg); key {
	case "enter":
		if len(p.found) == 0 {
			return false, nil
		}
		chosen := p.found[p.position.at]
		return true, func() tea.Msg { return runMsg{chosen} }
	case "up", "down", "pgup", "pgdown":
		p.position.move(key, len(p.found))
	case "ctrl+p":
		p.position.move("up", len(p.found))
	case "ctrl+n":
		p.position.move("down", len(p.found))
	default:
		if p.line.Update(msg) {
			p.find()
		}
	}
	return false, nil
}
