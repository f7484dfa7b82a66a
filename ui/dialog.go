package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A Dialog asks something above the screen. The topmost gets all keys; esc
// closes it without a result.
type Dialog interface {
	Title() string
	Keys() []Key
	// Size returns how many cells it wants inside its border, at most w x h.
	Size(w, h int) (int, int)
	Draw(c *Canvas)
	// Update handles a key or a paste; closed says that the dialog is over.
	Update(msg tea.Msg) (closed bool, cmd tea.Cmd)
}

// Closing is a [Dialog] that has something to do when esc closes it.
type Closing interface{ Closed() tea.Cmd }

// openMsg puts a dialog on top.
type openMsg struct{ dialog Dialog }

// Open returns a command that opens a dialog.
func Open(d Dialog) tea.Cmd {
	return func() tea.Msg { return openMsg{d} }
}

// Confirm asks a question that y or enter answers with Yes.
type Confirm struct {
	Name, Question string
	Yes            tea.Cmd
}

// Title implements Dialog.
func (d *Confirm) Title() string { return d.Name }

// Keys implements Dialog.
func (d *Confirm) Keys() []Key {
	return []Key{{Keys: []string{"y", "enter"}, Short: "yes", Long: "yes"}, {Keys: []string{"n", "esc"}, Short: "no", Long: "no"}}
}

// Size implements Dialog.
func (d *Confirm) Size(w, _ int) (int, int) {
	w = min(w, max(Width(d.Question), 24))
	return w, len(Wrap(d.Question, w)) + 2
}

// Draw implements Dialog.
func (d *Confirm) Draw(c *Canvas) {
	y := drawWrapped(c, 0, Plain, d.Question)
	drawKeys(c.Sub(Rect{0, y + 1, c.W, 1}), d.Keys()[:1], Key{Keys: []string{"n"}, Short: "no"})
}

// Update implements Dialog.
func (d *Confirm) Update(msg tea.Msg) (bool, tea.Cmd) {
	switch keyOf(msg) {
	case "y", "Y", "enter":
		return true, d.Yes
	case "n", "N", "q":
		return true, nil
	}
	return false, nil
}

// Choice asks for one of several items.
type Choice struct {
	Name     string
	Items    []string
	Active   int  // the current choice, marked
	Digits   bool // items begin with digits, which choose them
	Pick     func(int) tea.Cmd
	position position
	started  bool
}

// Title implements Dialog.
func (d *Choice) Title() string { return d.Name }

// Keys implements Dialog.
func (d *Choice) Keys() []Key {
	return []Key{K("enter", "choose", "choose"), K("esc", "cancel", "cancel")}
}

// Size implements Dialog.
func (d *Choice) Size(w, h int) (int, int) {
	wide := 20
	for _, item := range d.Items {
		wide = max(wide, Width(item)+3)
	}
	return min(wide, w), min(len(d.Items), h)
}

// Draw implements Dialog.
func (d *Choice) Draw(c *Canvas) {
	d.start()
	d.position.clamp(len(d.Items), c.H)
	for y := range c.H {
		i := d.position.top + y
		if i >= len(d.Items) {
			break
		}
		if i == d.Active {
			c.Set(0, y, c.Glyphs().Good, Good)
		}
		c.Fit(2, y, c.W-3, Plain, d.Items[i])
		if i == d.position.at {
			c.Over(Rect{0, y, c.W, 1}, Cursor)
		}
		c.Spot(Rect{0, y, c.W, 1}, choiceSpot(i))
	}
	d.position.drawScrollbar(c, 0, len(d.Items))
}

// Update implements Dialog.
func (d *Choice) Update(msg tea.Msg) (bool, tea.Cmd) {
	d.start()
	if i, ok := msg.(choiceSpot); ok {
		d.position.at = int(i)
	}
	key := keyOf(msg)
	if i := slices.IndexFunc(d.Items, func(item string) bool { return key != "" && strings.HasPrefix(item, key+" ") }); d.Digits && i >= 0 {
		d.position.at, key = i, "enter"
	}
	if key == "enter" && len(d.Items) > 0 && d.Pick != nil {
		return true, d.Pick(d.position.at)
	}
	d.position.move(key, len(d.Items))
	return key == "enter", nil
}

// choiceSpot is a click on an item.
type choiceSpot int

func (d *Choice) start() {
	if !d.started {
		d.position.at, d.started = max(d.Active, 0), true
	}
}

// drawWrapped draws text from line y on and returns the line after it.
func drawWrapped(c *Canvas, y int, s Style, text string) int {
	for _, line := range Wrap(text, c.W) {
		c.Text(0, y, s, line)
		y++
	}
	return y
}

// fitWrapped writes a muted sentence from line y on, over as many lines as there are; the last is cut.
func (c *Canvas) fitWrapped(y int, text string) {
	lines := Wrap(text, c.W-2)
	for i, line := range lines {
		if y+i == c.H-1 && i < len(lines)-1 {
			c.Fit(1, y+i, c.W-2, Muted, strings.Join(lines[i:], " "))
			return
		}
		c.Fit(1, y+i, c.W-2, Muted, line)
	}
}

// drawDialog draws d in a border in the middle of c.
func drawDialog(c *Canvas, d Dialog) {
	c.Focused = true
	w, h := d.Size(max(c.W-8, 1), max(c.H-4, 1))
	w, h = min(max(w, Width(d.Title())+4), c.W-4), min(h, c.H-2)
	box := Rect{(c.W - w - 4) / 2, max((c.H-h-2)/3, 0), w + 4, h + 2}
	c.Fill(box, ' ', Plain)
	g := c.Glyphs()
	frame := c.Sub(box)
	for x := range frame.W {
		frame.Set(x, 0, g.Rule, Accent)
		frame.Set(x, frame.H-1, g.Rule, Accent)
	}
	for y := range frame.H {
		frame.Set(0, y, g.Wall, Accent)
		frame.Set(frame.W-1, y, g.Wall, Accent)
	}
	frame.Set(0, 0, g.Corners[0], Accent)
	frame.Set(frame.W-1, 0, g.Corners[1], Accent)
	frame.Set(0, frame.H-1, g.Corners[2], Accent)
	frame.Set(frame.W-1, frame.H-1, g.Corners[3], Accent)
	frame.Fit(2, 0, frame.W-4, Accent|Bold, " "+d.Title()+" ")
	d.Draw(frame.Sub(Rect{2, 1, w, h}))
}
