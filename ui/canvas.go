package ui

// A cell is one place of the screen. A glyph of two cells is followed by a cell
// whose glyph is zero.
type cell struct {
	glyph rune
	style Style
}

// A Canvas is a rectangle of cells to draw on. Whatever falls outside is cut
// off, so that widgets need no care at the edges. A part of a canvas is a canvas
// too ([Canvas.Sub]).
type Canvas struct {
	W, H    int
	Focused bool // the pane has the focus: its cursor is drawn as such

	look   *Look
	cells  []cell // from the first cell of this canvas on
	stride int    // cells from line to line
	x, y   int    // where it lies on the canvas that it is a part of, for spots
}

// Glyphs returns the set of marks to draw with.
func (c *Canvas) Glyphs() *Glyphs { return c.look.Glyphs }

// Mono reports whether colours are unavailable, so that series need textures.
func (c *Canvas) Mono() bool { return c.look.Theme.Mono() }

// Bounds returns the whole canvas as a rectangle.
func (c *Canvas) Bounds() Rect { return Rect{W: c.W, H: c.H} }

// Sub returns the part of c inside r; drawing on it draws on c.
func (c *Canvas) Sub(r Rect) *Canvas {
	r = r.clip(c.W, c.H)
	s := &Canvas{W: r.W, H: r.H, Focused: c.Focused, look: c.look, stride: c.stride, x: c.x + r.X, y: c.y + r.Y}
	if r.W > 0 && r.H > 0 {
		s.cells = c.cells[r.Y*c.stride+r.X:]
	}
	return s
}

// matched notes for the title of the pane how many rows of how many a filter leaves.
func (c *Canvas) matched(shown, all int) { c.look.match = [2]int{shown, all} }

// Set puts one glyph of one cell at (x, y).
func (c *Canvas) Set(x, y int, g rune, s Style) {
	if x < 0 || y < 0 || x >= c.W || y >= c.H {
		return
	}
	i := y*c.stride + x
	c.split(i, x)
	if g >= 0x7f && glyphWidth(g) != 1 {
		g = '?'
	}
	c.cells[i] = cell{g, s}
}

// split blanks the other half of a wide glyph that lies over cell i.
func (c *Canvas) split(i, x int) {
	if c.cells[i].glyph == 0 && x > 0 {
		c.cells[i-1].glyph = ' '
	}
	if x+1 < c.W && c.cells[i+1].glyph == 0 {
		c.cells[i+1].glyph = ' '
	}
}

// Text writes text from (x, y) on and returns the column after it. Glyphs that
// cannot be shown become question marks, and so does all but ASCII where the
// look is ASCII. Text that starts left of the canvas is cut there.
func (c *Canvas) Text(x, y int, s Style, text string) int {
	if y < 0 || y >= c.H {
		return x + Width(text)
	}
	ascii := c.look.Glyphs.ASCII
	for _, r := range text {
		w := 1
		if r >= 0x7f || r < ' ' {
			if w = glyphWidth(r); w == 0 {
				r, w = '?', 1
			} else if ascii {
				r = fold(r)
			}
		}
		switch {
		case w == 1 || r < 0x7f:
			for k := range w {
				c.Set(x+k, y, r, s)
			}
		case x >= 0 && x+1 < c.W:
			i := y*c.stride + x
			c.split(i, x)
			c.split(i+1, x+1)
			c.cells[i], c.cells[i+1] = cell{r, s}, cell{0, s}
		default: // half of it is outside
			c.Set(x, y, ' ', s)
			c.Set(x+1, y, ' ', s)
		}
		x += w
	}
	return x
}

// Fit writes text into w cells from (x, y) on, cut with an ellipsis if it is longer.
func (c *Canvas) Fit(x, y, w int, s Style, text string) int {
	return c.Text(x, y, s, Truncate(text, w, c.look.Glyphs.Ellipsis))
}

// FitName is Fit for a name, which Name shortens.
func (c *Canvas) FitName(x, y, w int, s Style, name string) int {
	return c.Text(x, y, s, Name(name, w, c.look.Glyphs.Ellipsis))
}

// FitClauses is Fit for a line of several facts, of which the last are left out whole.
func (c *Canvas) FitClauses(x, y, w int, s Style, text string) int {
	return c.Text(x, y, s, Clauses(text, w, c.look.Glyphs.Ellipsis))
}

// FitRight is Fit with the text at the right end of the w cells.
func (c *Canvas) FitRight(x, y, w int, s Style, text string) {
	text = Truncate(text, w, c.look.Glyphs.Ellipsis)
	c.Text(x+w-Width(text), y, s, text)
}

// Fill sets every cell of r to g.
func (c *Canvas) Fill(r Rect, g rune, s Style) {
	r = r.clip(c.W, c.H)
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			c.Set(x, y, g, s)
		}
	}
}

// Over lays a ground or attributes over what is drawn in r: the row of a cursor.
func (c *Canvas) Over(r Rect, s Style) {
	r = r.clip(c.W, c.H)
	for y := r.Y; y < r.Y+r.H && r.W > 0; y++ {
		row := c.cells[y*c.stride:]
		for x := r.X; x < r.X+r.W; x++ {
			row[x].style = row[x].style.over(s)
		}
	}
}

// String returns the canvas as H lines of exactly W cells, joined by newlines.
// Each line starts and ends in the terminal's default style.
func (c *Canvas) String() string {
	return string(c.appendTo(make([]byte, 0, c.W*c.H*2+c.H*16)))
}

// appendTo appends what String returns.
func (c *Canvas) appendTo(b []byte) []byte {
	for y := range c.H {
		if y > 0 {
			b = append(b, '\n')
		}
		b = c.appendLine(b, y)
	}
	return b
}

// Lines returns the lines of String.
func (c *Canvas) Lines() []string {
	lines := make([]string, c.H)
	var b []byte
	for y := range lines {
		b = c.appendLine(b[:0], y)
		lines[y] = string(b)
	}
	return lines
}

func (c *Canvas) appendLine(b []byte, y int) []byte {
	if c.W == 0 {
		return b
	}
	current := Style(0)
	for _, cell := range c.cells[y*c.stride : y*c.stride+c.W] {
		if cell.glyph == 0 {
			continue
		}
		s := cell.style
		if cell.glyph == ' ' && (s|current)&(indexMask<<ground|Underline|Reverse) == 0 {
			s = current // the foreground of a blank does not show
		}
		if s != current {
			b = c.look.Theme.appendSGR(b, s)
			current = s
		}
		if cell.glyph < 0x80 {
			b = append(b, byte(cell.glyph))
		} else {
			b = append(b, string(cell.glyph)...)
		}
	}
	if current != 0 {
		b = append(b, "\x1b[m"...)
	}
	return b
}
