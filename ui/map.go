package ui

import (
	"cmp"
	"fmt"
	"slices"
)

// Block is a rectangle of a [Map]: what occupies addresses From to To (exclusive)
// during the steps First to Last (inclusive).
type Block struct {
	Name        string
	First, Last int
	From, To    int64
	Series      int  // colour and texture
	Mark        rune // drawn where the cursor's step crosses the block; 0 for none
}

// A Map shows which addresses are occupied over steps: the reuse of an arena.
// Steps run to the right, addresses upwards. Blocks smaller than a cell are drawn
// as one cell, above larger ones, so that none is lost. A block's name stands in
// cells of its own or not at all.
type Map struct {
	Blocks   []Block
	Steps    int
	Size     int64 // highest address shown
	Selected int   // block drawn as selected, -1 for none
	Cursor   int   // step under the cursor, -1 for none
}

// MapStep is a click on a step of a map.
type MapStep int

// mapGutter is the width of the addresses at the left.
const mapGutter = 10

// Draw draws the map over all of c, with addresses at the left and steps below.
func (m Map) Draw(c *Canvas) {
	if c.W < mapGutter+4 || c.H < 3 || m.Steps <= 0 || m.Size <= 0 {
		return
	}
	plot := c.Sub(Rect{mapGutter, 0, c.W - mapGutter - 1, c.H - 1})
	g := c.Glyphs()
	for y := range plot.H {
		c.Set(mapGutter-1, y, g.Wall, Faint)
	}
	for _, y := range []int{0, plot.H / 2} {
		c.FitRight(0, y, mapGutter-2, Muted, Bytes(m.Size*int64(plot.H-y)/int64(plot.H)))
	}
	c.FitRight(0, plot.H-1, mapGutter-2, Muted, "0")
	order := make([]int, len(m.Blocks))
	for i := range order {
		order[i] = i
	}
	area := make([]float64, len(m.Blocks))
	for i, b := range m.Blocks {
		area[i] = b.area()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(area[b], area[a]) })
	owners := newOwners(plot.W, plot.H)
	for _, i := range order {
		r := m.cells(m.Blocks[i], plot.W, plot.H)
		plot.Fill(r, m.fill(plot, i), m.style(plot, i))
		owners.take(r, i)
	}
	for x := range plot.W {
		plot.Spot(Rect{x, 0, 1, plot.H}, MapStep(min(x*m.Steps/plot.W, m.Steps-1)))
	}
	cursor := m.drawCursor(c, plot)
	for i := range m.Blocks {
		m.drawName(plot, owners, i, cursor)
	}
	m.drawMarks(plot, owners, cursor)
}

func (b Block) area() float64 { return float64(b.Last-b.First+1) * float64(b.To-b.From) }

// cells returns where the block lies on a plot of w x h cells.
func (m Map) cells(b Block, w, h int) Rect {
	x0, x1 := spread(int64(b.First), int64(b.Last)+1, int64(m.Steps), w)
	y0, y1 := spread(b.From, b.To, m.Size, h)
	return Rect{x0, h - y1, x1 - x0, y1 - y0}
}

// spread maps [from, to) of total to at least one of n cells.
func spread(from, to, total int64, n int) (int, int) {
	scale := float64(n) / float64(total)
	a := min(max(int(float64(from)*scale+0.5), 0), n-1)
	return a, min(max(int(float64(to)*scale+0.5), a+1), n)
}

// textured reports whether blocks are told apart by texture, for lack of colours or of a ground that shows.
func textured(c *Canvas) bool { return c.Mono() || c.Glyphs().ASCII }

// fill returns what a block is filled with.
func (m Map) fill(c *Canvas, i int) rune {
	switch {
	case i == m.Selected && c.Mono():
		return ' '
	case i == m.Selected:
		return c.Glyphs().Fill(3)
	case textured(c):
		return c.Glyphs().Fill(m.Blocks[i].Series)
	}
	return ' '
}

func (m Map) style(c *Canvas, i int) Style {
	series := Series(m.Blocks[i].Series)
	switch {
	case i == m.Selected && c.Mono():
		return Reverse
	case textured(c):
		return series
	}
	return Ink | On(series)
}

// textStyle returns the style of a name on a block.
func (m Map) textStyle(c *Canvas, i int) Style {
	switch {
	case i != m.Selected:
		return m.style(c, i)
	case c.Mono():
		return Reverse | Bold
	}
	return m.style(c, i) | Bold | Underline
}

// drawName writes a block's name into the longest run of the cells that are the block's own, the middle one of several;
// a name that is too long is shortened. In ASCII a space stands on either side of it. A cursor in the run would cut the name in two: it ends the run.
func (m Map) drawName(c *Canvas, o owners, i, cursor int) {
	r, name := m.cells(m.Blocks[i], c.W, c.H), m.Blocks[i].Name
	if name == "" || r.W < min(Width(name), leastName) { // of thousands of blocks most are too small for any
		return
	}
	var best Rect
	middle := r.Y + (r.H-1)/2
	for y := r.Y; y < r.Y+r.H; y++ {
		from := r.X
		for x := r.X; x <= r.X+r.W; x++ {
			if x < r.X+r.W && x != cursor && o.at(x, y) == i {
				continue
			}
			if n := x - from; n > best.W || n == best.W && distance(y, middle) < distance(best.Y, middle) {
				best = Rect{from, y, n, 1}
			}
			from = x + 1
		}
	}
	if cursor >= 0 && best.X == cursor+1 && Width(name) > best.W-1 { // the cursor's mark is no part of the name
		best.X, best.W = best.X+1, best.W-1
	}
	switch {
	case Width(name)+2 <= best.W:
		name = " " + name + " "
		c.Text(best.X+(best.W-Width(name))/2, best.Y, m.textStyle(c, i), name)
	case c.Glyphs().ASCII && best.W-2 >= leastName: // textures of characters run into a name
		name = Name(name, best.W-2, c.Glyphs().Ellipsis)
		c.Text(best.X+(best.W-2-Width(name))/2, best.Y, m.textStyle(c, i), " "+name+" ")
	case Width(name) <= best.W:
		c.Text(best.X+(best.W-Width(name))/2, best.Y, m.textStyle(c, i), name)
	default:
		if best.W >= leastName {
			c.FitName(best.X, best.Y, best.W, m.textStyle(c, i), name)
		}
	}
}

func distance(a, b int) int { return max(a-b, b-a) }

// leastName is how many cells a name needs to tell anything when it is cut.
const leastName = 9

// drawMarks writes the marks of the blocks that the cursor's column crosses into it, each in the middle of the cells
// that are the block's own there.
func (m Map) drawMarks(c *Canvas, o owners, cursor int) {
	if cursor < 0 {
		return
	}
	for y := 0; y < c.H; {
		i, end := o.at(cursor, y), y+1
		for end < c.H && o.at(cursor, end) == i {
			end++
		}
		if i >= 0 && m.Blocks[i].Mark != 0 {
			style := m.textStyle(c, i) | Bold
			if textured(c) {
				style = Plain | Bold
			}
			c.Set(cursor, (y+end-1)/2, m.Blocks[i].Mark, style)
		}
		y = end
	}
}

// drawCursor draws the column of the step under the cursor and its number below. It returns the column, -1 for none.
func (m Map) drawCursor(c, plot *Canvas) int {
	last := fmt.Sprint(m.Steps - 1)
	c.Text(mapGutter, c.H-1, Muted, "0")
	c.FitRight(mapGutter, c.H-1, plot.W, Muted, last)
	if m.Cursor < 0 || m.Cursor >= m.Steps {
		return -1
	}
	x, _ := spread(int64(m.Cursor), int64(m.Cursor)+1, int64(m.Steps), plot.W)
	for y := range plot.H {
		at := plot.cells[y*plot.stride+x]
		switch {
		case at.style>>ground&indexMask != 0:
			plot.Set(x, y, c.Glyphs().Mark, at.style|Bold)
		case at.glyph == ' ':
			plot.Set(x, y, c.Glyphs().Mark, Accent)
		default:
			plot.Over(Rect{x, y, 1, 1}, Reverse)
		}
	}
	text := fmt.Sprintf("%c%d", c.Glyphs().Up, m.Cursor)
	at := min(mapGutter+x, c.W-Width(text))
	c.Fill(Rect{at - 1, c.H - 1, Width(text) + 2, 1}, ' ', Plain)
	c.Text(at, c.H-1, Accent|Bold, text)
	return x
}

// owners says which block shows in each cell of a plot.
type owners struct {
	w     int
	block []int // -1 for none
}

func newOwners(w, h int) owners {
	o := owners{w, make([]int, w*h)}
	for i := range o.block {
		o.block[i] = -1
	}
	return o
}

func (o owners) take(r Rect, block int) {
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			o.block[y*o.w+x] = block
		}
	}
}

func (o owners) at(x, y int) int { return o.block[y*o.w+x] }
