package ui

import "slices"

// A Look is how everything is drawn at the moment: theme and glyphs. One Look is
// shared by the App, its views and their widgets; the App alone changes it.
type Look struct {
	Theme  *Theme
	Glyphs *Glyphs

	revision int  // counts changes, part of the key of every cached pane
	focused  bool // whether the pane being rendered has the focus
	chosen   bool // the user picked the theme: ignore what the terminal says

	noMouse bool
	own     *Theme // from a file; nil: none

	match [2]int        // rows that a filter leaves of what is being drawn, and all of them; all 0: nothing is filtered
	spots []spot        // of what is being drawn
	row   func() string // of what was drawn last that has a cursor: see [Canvas.Row]

	keyNow func(context, key string) string // by what a key was replaced in a context; nil: by nothing
}

// NewLook returns the look that o asks for. An automatic theme starts dark and
// follows the terminal's answer to the question for its background colour.
func NewLook(o Options) *Look {
	l := &Look{Theme: DarkTheme(), Glyphs: UnicodeGlyphs()}
	switch {
	case o.NoColor:
		l.Theme, l.chosen = MonoTheme(), true
	case o.Own != nil:
		l.own, l.Theme, l.chosen = o.Own, o.Own, true
	}
	for _, t := range Themes() {
		if t.Name == o.Theme && !l.chosen {
			l.Theme, l.chosen = t, true
		}
	}
	l.noMouse = o.NoMouse
	if o.ASCII {
		l.Glyphs = ASCIIGlyphs()
	}
	return l
}

// Canvas returns an empty canvas of w x h cells that is drawn with this look.
func (l *Look) Canvas(w, h int) *Canvas {
	w, h = max(w, 0), max(h, 0)
	c := &Canvas{W: w, H: h, Focused: l.focused, look: l, stride: w, cells: make([]cell, w*h)}
	for i := range c.cells {
		c.cells[i].glyph = ' '
	}
	return c
}

// Render draws on a new canvas and returns its text, w cells wide and h lines high.
func (l *Look) Render(w, h int, draw func(*Canvas)) string {
	c := l.Canvas(w, h)
	draw(c)
	return c.String()
}

// nextTheme goes on to the next theme that has colours, if this one has.
func (l *Look) nextTheme() {
	if l.Theme.Mono() {
		return
	}
	list := Themes()
	if l.own != nil {
		list = append(list, l.own)
	}
	at := slices.IndexFunc(list, func(t *Theme) bool { return t.Name == l.Theme.Name })
	l.Theme, l.chosen = list[(at+1)%len(list)], true
	l.revision++
}

// follow takes the theme that fits the terminal's background, unless the user chose one.
func (l *Look) follow(dark bool) {
	if l.chosen || dark == (l.Theme.Name == "dark") {
		return
	}
	l.Theme = LightTheme()
	if dark {
		l.Theme = DarkTheme()
	}
	l.revision++
}
