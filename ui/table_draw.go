package ui

import "strings"

// columnGap is the number of cells between columns.
const columnGap = 2

// span is where a column is drawn.
type span struct{ column, x, w int }

// Draw draws the titles and the rows that fit.
func (t *Table) Draw(c *Canvas) {
	t.arrange()
	n, h := len(t.shown), c.H-1
	t.position.clamp(n, h)
	body := c.W - 3 // a margin, and the scroll bar with a gap
	spans := t.layout(body)
	t.drawTitles(c, spans)
	if t.filter != nil {
		c.matched(n, t.Rows)
	}
	c.Row(t.rowText)
	if n == 0 {
		text := t.Empty
		if t.filter != nil && t.Rows > 0 {
			text = t.filter.nothing()
		}
		c.fitWrapped(2, text)
		return
	}
	for y := range max(h, 0) {
		i := t.position.top + y
		if i >= n {
			break
		}
		t.drawRow(c, 1+y, i, spans)
	}
	t.position.drawScrollbar(c, 1, n)
}

// rowText returns the text of the row under the cursor: of all columns, shown or not, but for those of pictures, with tabs between.
func (t *Table) rowText() string {
	row := t.Row()
	if row < 0 {
		return ""
	}
	var cells []string
	for _, column := range t.Columns {
		if c := column.Cell(row); c.Bar == nil && c.Spark == nil {
			cells = append(cells, c.Text)
		}
	}
	return strings.TrimRight(strings.Join(cells, "\t"), "\t")
}

// layout decides which columns are shown, and where.
func (t *Table) layout(w int) []span {
	dropped := make([]bool, len(t.Columns))
	used, short := -columnGap, 0 // what all columns take, and what names lack of a comfortable width
	for i, c := range t.Columns {
		used += c.Width + columnGap
		if c.Name && c.Flex > 0 {
			short += max(min(t.want(i), comfortable)-c.Width, 0)
		}
	}
	for used+short > w {
		last := -1
		for i, c := range t.Columns {
			if !dropped[i] && c.Priority > 0 && (last < 0 || c.Priority >= t.Columns[last].Priority) {
				last = i
			}
		}
		if last < 0 || used <= w && t.Columns[last].Priority < dispensable {
			break
		}
		for i, c := range t.Columns {
			if i == last || !dropped[i] && c.Group > 0 && c.Group == t.Columns[last].Group {
				dropped[i] = true
				used -= c.Width + columnGap
			}
		}
	}
	extra := t.share(dropped, max(w-used, 0))
	spans := make([]span, 0, len(t.Columns))
	x := 1
	for i, c := range t.Columns {
		if dropped[i] {
			continue
		}
		size := min(c.Width+extra[i], max(w+1-x, 0))
		spans = append(spans, span{i, x, size})
		x += size + columnGap
	}
	return spans
}

// share divides the cells that are left over among the flexible columns: first names get what they need to be whole, the
// rest is for the others, or for all where there are no others.
func (t *Table) share(dropped []bool, left int) []int {
	extra := make([]int, len(t.Columns))
	flexes := func(i int) bool { return !dropped[i] && t.Columns[i].Flex > 0 }
	names, all := 0, 0
	for i, c := range t.Columns {
		if !flexes(i) {
			continue
		}
		all++
		if c.Name {
			names++
			extra[i] = max(min(t.want(i)-c.Width, left), 0)
			left -= extra[i]
		}
	}
	flex, name := 0, -1
	for i, c := range t.Columns {
		if flexes(i) && (names == all || !c.Name) {
			flex += c.Flex
		}
		if flexes(i) && c.Name && name < 0 {
			name = i
		}
	}
	if name >= 0 && all-names > 1 { // bars of equal parts are of equal width, so that they compare: what does not divide is the name's
		extra[name] += left % flex
		left -= left % flex
	}
	for i, c := range t.Columns {
		if flexes(i) && (names == all || !c.Name) {
			part := left * c.Flex / flex
			extra[i], left, flex = extra[i]+part, left-part, flex-c.Flex
		}
	}
	return extra
}

// comfortable is the width up to which names push out columns whose priority is at least dispensable.
const (
	comfortable = 44
	dispensable = 4
)

// longestName is how many cells a column of names grows to as long as others could use the space.
const longestName = 56

// mostWanting is how many rows are asked for the width of their names: more would cost too much.
const mostWanting = 2000

// want returns the cells of the longest name in column i.
func (t *Table) want(i int) int {
	t.survey()
	return t.wants[i]
}

// survey finds out what names the columns have.
func (t *Table) survey() {
	if t.wants != nil {
		return
	}
	t.wants, t.names = make([]int, len(t.Columns)), make([]shortens, len(t.Columns))
	for k, c := range t.Columns {
		if !c.Name {
			continue
		}
		var all []string
		for r := range min(t.Rows, mostWanting) {
			text := c.Cell(r).Text
			all = append(all, text)
			if c.Flex > 0 {
				t.wants[k] = min(max(t.wants[k], Width(text)), longestName)
			}
		}
		if c.Files {
			t.names[k] = newFileNames(all)
		} else {
			t.names[k] = NewNames(all)
		}
	}
}

// brief shortens a name in column i to w cells, as the others there are.
func (t *Table) brief(i int, name string, w int, mark rune) string {
	t.survey()
	return t.names[i].Short(name, w, mark)
}

func (t *Table) drawTitles(c *Canvas, spans []span) {
	g := c.Glyphs()
	for _, s := range spans {
		column := t.Columns[s.column]
		title, style, x, w := column.Title, Muted, s.x, s.w
		if column.Align == AlignZero {
			in := max(s.w/2-Width(title)/2, 0)
			x, w = x+in, w-in
		}
		if s.column == t.sort-1 {
			mark := g.Up
			if t.reverse {
				mark = g.Down
			}
			style = Accent | Bold
			if column.Align == AlignRight { // where the title fills the column the mark stands in the gap beside it
				title, x, w = string(mark)+title, s.x-1, s.w+1
			} else {
				title, w = title+string(mark), w+1
			}
		}
		c.Spot(Rect{s.x, 0, s.w, 1}, tableSpot{t, -1, s.column})
		if column.Align == AlignRight {
			c.FitRight(x, 0, w, style, title)
		} else {
			c.Fit(x, 0, w, style, title)
		}
	}
}

func (t *Table) drawRow(c *Canvas, y, i int, spans []span) {
	row := t.shown[i]
	for k, s := range spans {
		column := t.Columns[s.column]
		part := c.Sub(Rect{s.x, y, s.w, 1})
		cell := column.Cell(row)
		switch {
		case cell.Bar != nil:
			cell.Bar.Draw(part)
		case cell.Spark != nil:
			if column.Flex > 0 {
				cell.Spark = stretched(cell.Spark, part.W)
			}
			Spark{Values: cell.Spark, Style: cell.Style}.Draw(part)
		case column.Align == AlignRight:
			part.FitRight(0, 0, part.W, cell.Style, cell.Text)
		case k == 0:
			if column.Name && t.shift == 0 {
				cell.Text = t.brief(s.column, cell.Text, part.W, c.Glyphs().Ellipsis)
			}
			t.drawLabel(part, cell)
		case column.Name:
			part.Fit(0, 0, part.W, cell.Style, t.brief(s.column, cell.Text, part.W, c.Glyphs().Ellipsis))
		default:
			part.Fit(0, 0, part.W, cell.Style, cell.Text)
		}
	}
	line := Rect{0, y, c.W, 1}
	c.Spot(line, tableSpot{t, i, 0})
	if t.Ground != nil {
		if g := t.Ground(row); g != Plain {
			c.Over(line, g)
		}
	}
	if i == t.position.at {
		c.drawCursor(line)
	}
}

// drawLabel draws the first column: scrolled sideways, with what matches the
// filter marked.
func (t *Table) drawLabel(c *Canvas, cell Cell) {
	shift := min(t.shift, max(Width(cell.Text)-c.W, 0))
	c.scrolled(0, 0, shift, cell.Style, cell.Text, t.filter)
}

// scrolled writes text from (x, y) on without its first shift cells, marking
// what matches f, and ellipses where it is cut.
func (c *Canvas) scrolled(x, y, shift int, s Style, text string, f *Filter) {
	part := c.Sub(Rect{x, y, c.W - x, 1})
	end := part.Text(-shift, 0, s, text)
	for _, m := range f.Spans(text) {
		from := Width(text[:m[0]]) - shift
		part.Over(Rect{from, 0, Width(text[m[0]:m[1]]), 1}, Match)
	}
	if shift > 0 {
		part.Set(0, 0, c.Glyphs().Left, Muted)
	}
	if end > part.W {
		part.Set(part.W-1, 0, c.Glyphs().Ellipsis, s)
	}
}

// drawCursor marks r as the place of the cursor: strongly if the pane has the focus.
func (c *Canvas) drawCursor(r Rect) {
	if c.Focused {
		c.Over(r, Cursor)
		if r.X == 0 {
			c.Set(0, r.Y, c.Glyphs().Point, Accent|Bold|Cursor)
		}
		return
	}
	c.Over(r, Rest)
}
