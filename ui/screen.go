package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// The widths up to which a screen is laid out as narrow (panes are stacked instead of standing side by side), and as
// medium where it says nothing else.
const (
	narrow = 84
	medium = 119
)

// The least that the layouts of a screen need; on less the panes are stacked.
const (
	leastWidth  = 80
	leastHeight = 20
)

// collapsed is the height below which stacked panes are not all shown in full:
// only the focused one is, the others keep their title lines.
const collapsed = 5

// A Screen is what one digit key shows: views, the ways to lay them out, and
// which of them has the focus. The frame draws their title lines. Screens with one digit that follow each other are pages: the
// digit shows the one that was shown last, and pressed again the next.
type Screen struct {
	Key     string // "1" to "9", "0"
	Name    string
	Words   []string // by which people look for it in the palette
	Short   string   // the name for where there is less room; "": its beginning
	Views   []View
	Layouts []Box // cycled with + and _; none: beside each other
	Medium  *Box  // for terminals of at most MediumTo columns, in place of the first layout; nil: as the others
	Narrow  *Box  // for terminals of at most 84 columns; nil: above each other

	MediumTo int // 0: 119

	Linked []int // views that show the same in different ways: a filter of one is one of all

	panes  []pane
	focus  int
	layout int
	zoomed bool
	pages  int // screens with its digit
}

// pane is what the frame keeps about a view.
type pane struct {
	filter string
	lines  []string
	spots  []spot // relative to the pane, its title line included
	row    func() string
	drawn  paneState
	valid  bool
}

// paneState is everything that the lines of a pane depend on.
type paneState struct {
	w, h, look int
	focused    bool
	version    uint64
}

// init makes room for what is kept about the views.
func (s *Screen) init() {
	s.panes = make([]pane, len(s.Views))
	if len(s.Layouts) == 0 {
		s.Layouts = []Box{Beside(panes(len(s.Views))...)}
	}
}

// panes returns the boxes of n views.
func panes(n int) []Box {
	boxes := make([]Box, n)
	for i := range boxes {
		boxes[i] = Pane(i)
	}
	return boxes
}

func (s *Screen) focused() View { return s.Views[s.focus] }

// filtered returns the views that a filter of the focused one holds for.
func (s *Screen) filtered() []int {
	if slices.Contains(s.Linked, s.focus) {
		return s.Linked
	}
	return []int{s.focus}
}

// cycleFocus moves the focus to the next (+1) or previous (-1) pane.
func (s *Screen) cycleFocus(step int) {
	n := len(s.Views)
	s.focus = ((s.focus+step)%n + n) % n
}

func (s *Screen) cycleLayout(step int) {
	n := len(s.Layouts)
	s.layout = ((s.layout+step)%n + n) % n
}

// update gives a message to one view.
func (s *Screen) update(i int, msg tea.Msg) tea.Cmd {
	cmd := s.Views[i].Update(msg)
	s.touch()
	return cmd
}

// Touch says that views of the screen have changed otherwise than by a message.
func (s *Screen) Touch() { s.touch() }

// touch marks the pictures of all views as old, since linked panes follow each
// other's cursors.
func (s *Screen) touch() {
	for i := range s.panes {
		if _, ok := s.Views[i].(Versioned); !ok {
			s.panes[i].valid = false
		}
	}
}

// rects returns the rectangle of each view, title line included; the zero
// rectangle hides it.
func (s *Screen) rects(r Rect) []Rect {
	rects := make([]Rect, len(s.Views))
	switch {
	case s.zoomed || len(s.Views) == 1:
	case r.W < leastWidth || r.H < leastHeight:
		s.stack(r, rects)
	case r.W > narrow && r.W <= cmp.Or(s.MediumTo, medium) && s.Medium != nil && s.layout == 0:
		s.Medium.place(r, rects)
	case r.W > narrow:
		s.Layouts[s.layout].place(r, rects)
	case s.Narrow != nil:
		s.Narrow.place(r, rects)
	default:
		s.stack(r, rects)
	}
	if f := rects[s.focus]; f.W == 0 || f.H == 0 { // zoomed, or not in this layout
		clear(rects)
		rects[s.focus] = r
	}
	return rects
}

// stack places the views above each other. If that leaves too little for each,
// the views without focus keep only their title lines.
func (s *Screen) stack(r Rect, rects []Rect) {
	n := len(rects)
	if r.H/n >= collapsed+1 {
		box := s.Layouts[s.layout]
		if box.beside || slices.ContainsFunc(box.parts, func(p Box) bool { return len(p.parts) > 0 }) {
			box = Stack(panes(n)...)
		}
		box.place(r, rects)
		return
	}
	for i := range rects {
		h := 1
		if i == s.focus {
			h = max(r.H-(n-1), 1)
		}
		rects[i], r = r.Top(h)
	}
}

// lines returns the screen as h lines of w cells.
func (s *Screen) lines(look *Look, w, h int) []string {
	rects := s.rects(Rect{W: w, H: h})
	parts := make([][]string, len(rects))
	for i, r := range rects {
		if r.W > 0 && r.H > 0 {
			parts[i] = s.paneLines(look, i, r)
		}
	}
	wall := look.Render(1, 1, func(c *Canvas) { c.Set(0, 0, look.Glyphs.Wall, Faint) })
	out := make([]string, h)
	var b strings.Builder
	for y := range out {
		b.Reset()
		for x := 0; x < w; {
			i := at(rects, x, y)
			if i < 0 { // the gap between two panes
				b.WriteString(wall)
				x++
				continue
			}
			b.WriteString(parts[i][y-rects[i].Y])
			x += rects[i].W
		}
		out[y] = b.String()
	}
	return out
}

// at returns the rectangle whose left edge is column x and that has row y, or -1.
func at(rects []Rect, x, y int) int {
	for i, r := range rects {
		if r.W > 0 && r.X == x && y >= r.Y && y < r.Y+r.H {
			return i
		}
	}
	return -1
}

// paneLines returns the title line and the picture of a view, from the cache if
// nothing changed.
func (s *Screen) paneLines(look *Look, i int, r Rect) []string {
	p, v := &s.panes[i], s.Views[i]
	state := paneState{w: r.W, h: r.H, look: look.revision, focused: i == s.focus}
	if versioned, ok := v.(Versioned); ok {
		state.version = versioned.Version()
	}
	if p.valid && p.drawn == state {
		return p.lines
	}
	look.focused = state.focused
	look.match = [2]int{}
	var picture string
	look.row = nil
	p.spots = look.spotted(func() { picture = v.Render(r.W, r.H-1) })
	title := look.Canvas(r.W, 1)
	s.drawTitle(title, i, look.match)
	p.row = look.row
	for k := range p.spots {
		p.spots[k].rect.Y++ // below the title
	}
	p.lines = append(title.Lines(), exact(picture, r.W, r.H-1)...)
	look.focused = false
	p.drawn, p.valid = state, true
	return p.lines
}

// drawTitle draws a rule with the view's title, its filter with how many rows of how many that leaves, and its note.
func (s *Screen) drawTitle(c *Canvas, i int, match [2]int) {
	g, v, p := c.Glyphs(), s.Views[i], s.panes[i]
	c.Fill(c.Bounds(), g.Rule, Faint)
	style := Muted
	if c.Focused {
		style = Accent | Bold
		c.Set(0, 0, g.Focus, Accent|Bold)
	}
	filter := p.filterText(match)
	right := c.W
	title, note, noteStyle := titleTexts(v, c.W-Width(filter), g.Ellipsis)
	if note != "" {
		note = Clauses(note, max(c.W-Width(title)-Width(filter)-titleGaps, 0), g.Ellipsis)
		w := Width(note)
		right = c.W - w - 2
		if w > 0 {
			c.Set(right, 0, ' ', Plain)
			c.Set(c.W-1, 0, ' ', Plain)
			c.Text(right+1, 0, noteStyle, note)
		}
	}
	room := right - 1
	if filter != "" { // which says why there are so few lines: the title makes room
		room = max(room-Width(filter), min(room, 12))
	}
	x := c.Fit(1, 0, room, style, " "+title+" ")
	c.Fit(x, 0, right-x, Warn, filter)
}

// titleGaps are the cells around a title and a note.
const titleGaps = 6

// titleTexts returns a view's title and note for w cells: a name in them is shortened as far as it must be.
func titleTexts(v View, w int, mark rune) (title, note string, style Style) {
	title = v.Title()
	if n, ok := v.(Noter); ok {
		note, style = n.Note()
	}
	name := NameOf(v)
	if name == "" {
		return title, note, style
	}
	gaps := titleGaps
	if note == "" {
		gaps = 3
	}
	const least = 12 // cells of a name
	if Width(title)+Width(note)+gaps > w {
		room := max(Width(name)+w-Width(title)-Width(note)-gaps, least)
		short := Name(name, room, mark)
		title, note = strings.Replace(title, name, short, 1), strings.Replace(note, name, short, 1)
	}
	return title, note, style
}

// filterText tells of a pane's filter: what it is, how many rows of how many it leaves, and that it is not what it looks like.
func (p *pane) filterText(match [2]int) string {
	if p.filter == "" {
		return ""
	}
	text := "/" + p.filter
	if match[1] > 0 {
		text += fmt.Sprintf("  %d of %d", match[0], match[1])
	}
	if bad := ParseFilter(p.filter).Bad(); bad != "" {
		text += "  " + bad + ": taken as text"
	}
	return text + " "
}

// exact makes h lines of w cells of what a view rendered.
func exact(s string, w, h int) []string {
	lines := make([]string, max(h, 0))
	rest := s
	for y := range lines {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		n := ansi.StringWidth(line)
		if n > w {
			line = ansi.Truncate(line, w, "")
			n = ansi.StringWidth(line)
		}
		if n < w {
			line += strings.Repeat(" ", w-n)
		}
		lines[y] = line
	}
	return lines
}
