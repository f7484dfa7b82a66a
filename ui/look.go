package ui

// A Look is how everything is drawn at the moment: theme and glyphs. One Look is
// shared by the App, its views and their widgets; the App alone changes it.
type Look struct {
	Theme  *Theme
	Glyphs *Glyphs

	revision int  // counts changes, part of the key of every cached pane
	focused  bool // whether the pane being rendered has the focus
	chosen   bool // the user picked the theme: ignore what the terminal says

	noMouse bool

	spots []spot // of what is being drawn
}

// NewLook returns the look that o asks for. An automatic theme starts dark and
// follows the terminal's answer to the question for its background colour.
func NewLook(o Options) *Look {
	l := &Look{Theme: DarkTheme(), Glyphs: UnicodeGlyphs()}
	switch {
	case o.NoColor:
		l.Theme, l.chosen = MonoTheme(), true
	case o.Theme == "light":
		l.Theme, l.chosen = LightTheme(), true
	case o.Theme == "dark":
		l.chosen = true
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

// toggle switches between the dark and the light theme.
func (l *Look) toggle() {
	switch l.Theme.Name {
	case "dark":
		l.Theme = LightTheme()
	case "light":
		l.Theme = DarkTheme()
	}
	l.chosen = true
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
