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

	spare [][]cell // of canvases that were drawn, the largest last
	text  []byte   // of the canvas that was drawn last

	keyNow func(context, key string) string // by what a key was replaced in a context; nil: by nothing
}

// NewLook returns the look that o asks for. An automatic theme starts dark and
// follows the terminal's answer to the question for its background colour.
func NewLook(o Options) *Look {
	l := &Look{Glyphs: UnicodeGlyphs()}
	switch {
	case o.NoColor:
		l.Theme, l.chosen = MonoTheme(), true
	case o.Own != nil:
		l.own, l.Theme, l.chosen = o.Own, o.Own, true
	default:
		l.Theme = themeNamed(o.Theme)
		l.chosen = l.Theme != nil
	}
	if l.Theme == nil {
		l.Theme = DarkTheme()
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
	return l.canvas(w, h, make([]cell, w*h))
}

// canvas returns an empty canvas of those cells, whatever was drawn on them.
func (l *Look) canvas(w, h int, cells []cell) *Canvas {
	for i := range cells {
		cells[i] = cell{glyph: ' '}
	}
	return &Canvas{W: w, H: h, Focused: l.focused, look: l, stride: w, cells: cells}
}

// drawn returns n cells that nothing is drawn on any more, or new ones where there are not as many.
func (l *Look) drawn(n int) []cell {
	last := len(l.spare) - 1
	if last < 0 || cap(l.spare[last]) < n {
		return make([]cell, n)
	}
	cells := l.spare[last][:n]
	l.spare = l.spare[:last]
	return cells
}

// Render draws on a new canvas, which is drawn's until it returns, and returns its text, w cells wide and h lines high.
func (l *Look) Render(w, h int, draw func(*Canvas)) string {
	w, h = max(w, 0), max(h, 0)
	c := l.canvas(w, h, l.drawn(w*h))
	draw(c)
	l.text = c.appendTo(l.text[:0])
	if n := len(l.spare); n == 0 || cap(l.spare[n-1]) <= cap(c.cells) {
		l.spare = append(l.spare[:min(n, mostSpare-1)], c.cells)
	}
	return string(l.text)
}

// mostSpare is how many canvases are kept to be drawn on again: as many as are drawn within each other.
const mostSpare = 4

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
