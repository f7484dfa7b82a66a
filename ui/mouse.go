package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// spot is a rectangle that means something to a mouse.
type spot struct {
	rect Rect
	msg  tea.Msg
}

// Spot says that a click on r of the canvas is the message msg: to the view that draws it, or to the frame. Of spots that
// overlap the one drawn last counts.
func (c *Canvas) Spot(r Rect, msg tea.Msg) {
	if r = r.clip(c.W, c.H); r.W > 0 && r.H > 0 {
		r.X, r.Y = r.X+c.x, r.Y+c.y
		c.look.spots = append(c.look.spots, spot{r, msg})
	}
}

// Row says what the text of the row under the cursor is, for it to be copied.
func (c *Canvas) Row(text func() string) { c.look.row = text }

// spotted draws, and returns the spots of what was drawn.
func (l *Look) spotted(draw func()) []spot {
	outer := l.spots
	l.spots = nil
	draw()
	spots := l.spots
	l.spots = outer
	return spots
}

// hit returns the spot at (x, y).
func hit(spots []spot, x, y int) (spot, bool) {
	for _, s := range slices.Backward(spots) {
		if s.rect.has(x, y) {
			return s, true
		}
	}
	return spot{}, false
}

func (r Rect) has(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// pressMsg is a key, pressed by other means.
type pressMsg struct{ name string }

// again is how soon a second click on a place is a double click, which is enter.
const again = 400 * time.Millisecond

// wheelLines is how many lines a notch of the wheel moves.
const wheelLines = 3

// click is the last one, to know the second of a pair.
type click struct {
	x, y int
	at   time.Time
}

// mouse handles clicks, on what was drawn last, and the wheel: where a dialog is open they are its own.
func (a *App) mouse(msg tea.MouseMsg) tea.Cmd {
	m := msg.Mouse()
	if a.tooSmall() || m.X < 0 || m.Y < 0 || m.X >= a.w || m.Y >= a.h {
		return nil
	}
	switch msg.(type) {
	case tea.MouseWheelMsg:
		return a.wheel(m)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft {
			return a.click(m)
		}
	}
	return nil
}

func (a *App) wheel(m tea.Mouse) tea.Cmd {
	name := map[tea.MouseButton]string{tea.MouseWheelUp: "up", tea.MouseWheelDown: "down"}[m.Button]
	if name == "" {
		return nil
	}
	var cmds []tea.Cmd
	for range wheelLines {
		if a.dialog() != nil {
			cmds = append(cmds, a.dialogKey(Press(name)))
		} else if i, _ := a.paneAt(m.X, m.Y); i >= 0 {
			cmds = append(cmds, a.screen().update(i, Press(name)))
		}
	}
	return tea.Batch(cmds...)
}

func (a *App) click(m tea.Mouse) tea.Cmd {
	second := a.clicked.x == m.X && a.clicked.y == m.Y && a.now().Sub(a.clicked.at) < again
	a.clicked = click{m.X, m.Y, a.now()}
	if second {
		a.clicked = click{}
	}
	place, ok := hit(a.spots, m.X, m.Y)
	onFrame := m.Y < headLines || m.Y == a.h-1
	if a.dialog() != nil {
		_, leaves := place.msg.(GotoMsg)
		switch {
		case !ok || leaves:
			return nil
		case onFrame:
			return a.update(place.msg)
		case second:
			return a.dialogKey(Press("enter"))
		}
		return a.dialogKey(place.msg)
	}
	if ok {
		return a.update(place.msg)
	}
	i, r := a.paneAt(m.X, m.Y)
	if i < 0 {
		return nil
	}
	s := a.screen()
	s.focus = i
	a.status = StatusMsg{}
	place, ok = hit(s.panes[i].spots, m.X-r.X, m.Y-r.Y-headLines)
	switch {
	case second && has(append(working(s.focused().Keys()), working(a.intentKeys())...), "enter"):
		return a.key(Press("enter"))
	case !ok:
		return nil
	}
	return s.update(i, place.msg)
}

// headLines are those above the screen.
const headLines = 2

// paneAt returns the pane at a place of the terminal, and where it lies on the screen, or -1.
func (a *App) paneAt(x, y int) (int, Rect) {
	s := a.screen()
	for i, r := range s.rects(Rect{W: a.w, H: a.h - chrome}) {
		if r.has(x, y-headLines) {
			return i, r
		}
	}
	return -1, Rect{}
}

// Press returns the message of a key by the name that Bubble Tea gives it.
func Press(name string) tea.KeyPressMsg {
	var k tea.Key
	for {
		mod, rest, ok := cutModifier(name)
		if !ok {
			break
		}
		k.Mod |= mod
		name = rest
	}
	if code, ok := keyCodes[name]; ok {
		k.Code = code
		if name == "space" && k.Mod == 0 {
			k.Text = " "
		}
		return tea.KeyPressMsg(k)
	}
	for _, r := range name {
		k.Code = r
		break
	}
	if k.Mod == 0 {
		k.Text = name
	}
	return tea.KeyPressMsg(k)
}

var keyCodes = map[string]rune{
	"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6,
	"f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12, "insert": tea.KeyInsert,
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "space": tea.KeySpace, "tab": tea.KeyTab, "backspace": tea.KeyBackspace,
	"delete": tea.KeyDelete, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
}

func cutModifier(name string) (tea.KeyMod, string, bool) {
	for _, m := range []struct {
		prefix string
		mod    tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if len(name) > len(m.prefix) && name[:len(m.prefix)] == m.prefix {
			return m.mod, name[len(m.prefix):], true
		}
	}
	return 0, name, false
}
