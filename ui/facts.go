package ui

// Fact is a name with a value and a remark behind it.
type Fact struct {
	Name  string
	Value string
	Style Style
	Note  string
}

// leastNote is how many cells a note needs to tell anything when it is cut.
const leastNote = 20

// Facts is a block of names and values, aligned; in wide canvases in columns.
type Facts []Fact

// Draw draws the facts from the first line on.
func (f Facts) Draw(c *Canvas) {
	const gap, least = 2, 44
	columns := 1
	if c.H > 0 && len(f) > c.H {
		columns = max(min((len(f)+c.H-1)/c.H, c.W/least), 1)
	}
	per := (len(f) + columns - 1) / columns
	w := c.W / columns
	for i := range columns {
		from, to := min(i*per, len(f)), min((i+1)*per, len(f))
		f[from:to].drawColumn(c.Sub(Rect{i * w, 0, w, c.H}), gap)
	}
}

func (f Facts) drawColumn(c *Canvas, gap int) {
	names, values := 0, 0
	for _, fact := range f {
		names = max(names, Width(fact.Name))
		values = max(values, Width(fact.Value))
	}
	names = min(names, c.W/2)
	for y, fact := range f {
		c.Fit(1, y, names, Muted, fact.Name)
		x := 1 + names + gap
		c.Fit(x, y, c.W-x-1, fact.Style, fact.Value)
		if x += min(values, max(c.W-x-1, 0)) + gap; fact.Note != "" && (Width(fact.Note) <= c.W-x-1 || c.W-x > leastNote) { // a stump of a note tells nothing
			c.FitClauses(x, y, c.W-x-1, Muted, fact.Note)
		}
	}
}
