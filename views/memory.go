package views

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// memoryScreen shows how the arena is shared out over the steps of the plan.
func memoryScreen(d *desk) *ui.Screen {
	m := &mapView{pane: d.pane(sessions.PartMemory)}
	views := []ui.View{m, newLiveView(m), newSlotsView(m), &footprintDetail{pane: d.pane(sessions.PartMemory)}}
	p := ui.Pane
	return &ui.Screen{
		Key: "4", Name: "Memory", Views: views,
		Layouts: []ui.Box{
			ui.Stack(ui.Beside(p(0).Share(3), ui.Stack(p(3).Lines(8), p(1)).Share(2)).Share(3), p(2).Share(2)),
			ui.Stack(p(0).Share(2), p(1)),
		},
		Medium: box(ui.Stack(ui.Beside(p(0).Share(3), p(1).Share(2)).Share(3), ui.Beside(p(2).Share(3), p(3).Share(2)).Share(2))),
		Narrow: box(ui.Stack(p(0).Share(3), p(1).Share(2))),
	}
}

// mapView draws the arena: offsets upwards, steps to the right, and below them the bytes live at each step. Its cursor
// is a step.
type mapView struct {
	pane
	step   int
	seen   bool // the cursor has been placed
	withIO bool // the tables list inputs and outputs too
}

func (v *mapView) Title() string { return "Arena: offset over steps" }

func (v *mapView) Note() (string, ui.Style) {
	m := v.snap.Memory
	if m == nil || v.step >= len(m.Steps) {
		return "", ui.Muted
	}
	text := fmt.Sprintf("step %d %s: %s live", v.step, shortName(m.Steps[v.step]), ui.Bytes(int64(m.Live[v.step])))
	if v.step == m.PeakStep {
		text += ", the peak"
	}
	return v.note(text)
}

func (v *mapView) Keys() []ui.Key {
	return []ui.Key{
		ui.K("p", "peak", "jump to the step with the most live bytes"),
		ui.K("i", "inputs/outputs", "inputs and outputs in the tables or not"),
	}
}

func (v *mapView) Update(msg tea.Msg) tea.Cmd {
	if v.take(msg) {
		if m := v.snap.Memory; m != nil {
			if !v.seen {
				v.step, v.seen = m.PeakStep, true
			}
			v.step = max(min(v.step, len(m.Steps)-1), 0)
		}
		return nil
	}
	if k, ok := msg.(tea.KeyPressMsg); ok {
		v.key(k.String())
	}
	return nil
}

// key handles the keys of the map; it reports whether the name was one.
func (v *mapView) key(name string) bool {
	m := v.snap.Memory
	if m == nil {
		return false
	}
	n := len(m.Steps)
	switch name {
	case "left", "h", "up", "k":
		v.step--
	case "right", "l", "down", "j":
		v.step++
	case "g", "home":
		v.step = 0
	case "G", "end":
		v.step = n - 1
	case "pgup", "ctrl+u":
		v.step -= 10
	case "pgdown", "ctrl+d":
		v.step += 10
	case "p":
		v.step = m.PeakStep
	case "i":
		v.withIO = !v.withIO
	default:
		return false
	}
	v.step = max(min(v.step, n-1), 0)
	return true
}

func (v *mapView) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		m := v.snap.Memory
		if m == nil {
			v.wait(c, "memory plan")
			return
		}
		profile := min(max(h/5, 2), 6)
		v.arena(m).Draw(c.Sub(ui.Rect{W: w, H: h - profile}))
		drawProfile(c.Sub(ui.Rect{Y: h - profile, W: w, H: profile}), m, v.step)
	})
}

// arena returns the map; views and parts of other tensors lie in those tensors' blocks.
func (v *mapView) arena(m *sessions.MemoryReport) ui.Map {
	out := ui.Map{Steps: len(m.Steps), Size: int64(max(m.Peak, 1)), Selected: -1, Cursor: v.step}
	for _, s := range m.Slots {
		if s.IO || s.Of != "" || s.Bytes == 0 {
			continue
		}
		out.Blocks = append(out.Blocks, ui.Block{
			Name: tensorName(s.Tensor), First: max(s.First, 0), Last: min(s.Last, len(m.Steps)-1),
			From: int64(s.Offset), To: int64(s.Offset + s.Bytes), Series: colour(s.Tensor),
		})
	}
	return out
}

// tensorName drops the ending that exporters give the first output of every layer.
func tensorName(name string) string { return strings.TrimSuffix(name, "_output_0") }

// colour returns a series for a tensor that stays the same when others come and go.
func colour(tensor string) int {
	h := fnv.New32a()
	h.Write([]byte(tensor))
	return int(h.Sum32() % 7)
}

// drawProfile draws the bytes live at each step as columns below the map, on its scale of steps.
func drawProfile(c *ui.Canvas, m *sessions.MemoryReport, step int) {
	const gutter = 10 // the map's
	w := c.W - gutter - 1
	if w < 4 || c.H < 2 || len(m.Live) == 0 {
		return
	}
	c.FitRight(0, 0, gutter-2, ui.Muted, "live")
	c.FitRight(0, c.H-1, gutter-2, ui.Muted, percent(float64(m.Live[step])/float64(max(m.Peak, 1))))
	values := make([]float64, w)
	for x := range values {
		from := x * len(m.Live) / w
		to := max((x+1)*len(m.Live)/w, from+1)
		values[x] = float64(slices.Max(m.Live[from:min(to, len(m.Live))]))
	}
	plot := c.Sub(ui.Rect{X: gutter, W: w, H: c.H})
	ui.Spark{Values: values, Max: float64(max(m.Peak, 1)), Style: ui.Series8}.Draw(plot)
	x := int(float64(step)*float64(w)/float64(len(m.Live)) + 0.5)
	plot.Over(ui.Rect{X: min(x, w-1), W: 1, H: c.H}, ui.Accent|ui.Bold)
}

// slotTable is a table of tensors in the arena.
type slotTable struct {
	table ui.Table
	slots []sessions.SlotInfo
}

// slotColumns are the columns that both tables of tensors have.
func (t *slotTable) columns(of *mapView) []ui.Column {
	number := func(title string, width, priority int, value func(*sessions.SlotInfo) int, write func(*sessions.SlotInfo) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Down: true,
			Cell:  func(r int) ui.Cell { return ui.Cell{Text: write(&t.slots[r])} },
			Order: func(a, b int) int { return cmp.Compare(value(&t.slots[a]), value(&t.slots[b])) }}
	}
	return []ui.Column{
		{Title: "tensor", Width: 12, Flex: 3, Cell: func(r int) ui.Cell { return ui.Cell{Text: tensorName(t.slots[r].Tensor)} },
			Order: func(a, b int) int { return cmp.Compare(t.slots[a].Tensor, t.slots[b].Tensor) }},
		{Width: 6, Flex: 2, Priority: 2, Cell: func(r int) ui.Cell {
			s := t.slots[r]
			b := &ui.Bar{Value: float64(s.Bytes), Max: float64(of.largest()), Style: ui.Series(colour(s.Tensor))}
			if s.Of != "" {
				b.Style = ui.Faint
			}
			return ui.Cell{Bar: b}
		}},
		number("size", 9, 0, func(s *sessions.SlotInfo) int { return s.Bytes }, func(s *sessions.SlotInfo) string { return ui.Bytes(int64(s.Bytes)) }),
		number("offset", 9, 1, func(s *sessions.SlotInfo) int { return s.Offset }, func(s *sessions.SlotInfo) string {
			if s.IO {
				return "·"
			}
			return fmt.Sprintf("%#x", s.Offset)
		}),
		number("steps", 9, 3, func(s *sessions.SlotInfo) int { return s.First }, func(s *sessions.SlotInfo) string { return of.lifetime(s) }),
		{Title: "kind", Width: 8, Priority: 4, Cell: func(r int) ui.Cell { return kindCell(&t.slots[r]) },
			Order: func(a, b int) int { return cmp.Compare(t.slots[a].Kind, t.slots[b].Kind) }},
		{Title: "form", Width: 16, Flex: 1, Priority: 5, Cell: func(r int) ui.Cell { return ui.Cell{Text: t.slots[r].Desc, Style: ui.Muted} }},
	}
}

func kindCell(s *sessions.SlotInfo) ui.Cell {
	switch {
	case s.IO:
		return ui.Cell{Text: "io", Style: ui.Muted}
	case s.Kind == "own":
		return ui.Cell{Text: s.Kind}
	case s.Kind == "workspace":
		return ui.Cell{Text: "scratch", Style: ui.Warn}
	}
	return ui.Cell{Text: s.Kind, Style: ui.Good}
}

// lifetime writes the steps in which a tensor is alive.
func (v *mapView) lifetime(s *sessions.SlotInfo) string {
	from, to := fmt.Sprint(s.First), fmt.Sprint(s.Last)
	if s.First < 0 {
		from = "in"
	}
	if v.snap.Memory != nil && s.Last >= len(v.snap.Memory.Steps) {
		to = "out"
	}
	return from + " to " + to
}

// largest returns the size of the largest tensor.
func (v *mapView) largest() int {
	n := 1
	if v.snap.Memory != nil {
		for _, s := range v.snap.Memory.Slots {
			n = max(n, s.Bytes)
		}
	}
	return n
}

// set shows the slots for which want holds.
func (t *slotTable) set(m *sessions.MemoryReport, want func(*sessions.SlotInfo) bool) {
	t.slots = nil
	if m != nil {
		for i := range m.Slots {
			if want(&m.Slots[i]) {
				t.slots = append(t.slots, m.Slots[i])
			}
		}
	}
	t.table.Rows = len(t.slots)
	t.table.Refresh()
}

// liveView lists what is alive at the step under the cursor.
type liveView struct {
	*mapView
	slotTable
}

func newLiveView(m *mapView) *liveView {
	v := &liveView{mapView: m}
	v.table = ui.Table{Columns: v.columns(m), Empty: "nothing is alive here"}
	v.table.SortBy(2, true)
	return v
}

func (v *liveView) Title() string { return fmt.Sprintf("Live at step %d", v.step) }

func (v *liveView) Note() (string, ui.Style) {
	m := v.snap.Memory
	if m == nil || v.step >= len(m.Live) {
		return "", ui.Muted
	}
	return v.note(fmt.Sprintf("%s of %s", ui.Bytes(int64(m.Live[v.step])), ui.Bytes(int64(m.Peak))))
}

func (v *liveView) Keys() []ui.Key { return append(v.table.Keys(), v.mapView.Keys()...) }

func (v *liveView) Update(msg tea.Msg) tea.Cmd { return v.update(&v.table, msg) }

// update handles a message for one of the tables: left and right are the map's.
func (v *mapView) update(t *ui.Table, msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "left", "right", "h", "l", "p", "i":
			v.key(k.String())
			return nil
		}
	}
	t.Update(msg)
	return nil
}

func (v *liveView) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		m := v.snap.Memory
		if m == nil {
			v.wait(c, "memory plan")
			return
		}
		v.set(m, func(s *sessions.SlotInfo) bool {
			return s.First <= v.step && v.step <= s.Last && (v.withIO || !s.IO)
		})
		v.table.Draw(c)
	})
}

// slotsView lists every allocation of the plan.
type slotsView struct {
	*mapView
	slotTable
}

func newSlotsView(m *mapView) *slotsView {
	v := &slotsView{mapView: m}
	v.table = ui.Table{Columns: v.columns(m), Empty: "the arena is empty"}
	v.table.Columns = append(v.table.Columns, ui.Column{Title: "in the memory of", Width: 16, Priority: 6, Cell: func(r int) ui.Cell {
		return ui.Cell{Text: tensorName(v.slots[r].Of), Style: ui.Muted}
	}})
	v.table.Ground = func(r int) ui.Style {
		if s := &v.slots[r]; s.First <= v.step && v.step <= s.Last {
			return ui.Selected
		}
		return ui.Plain
	}
	return v
}

func (v *slotsView) Title() string { return "Allocations" }

func (v *slotsView) Note() (string, ui.Style) {
	m := v.snap.Memory
	if m == nil {
		return "", ui.Muted
	}
	kinds := map[string]int{}
	for _, s := range m.Slots {
		if !s.IO {
			kinds[s.Kind]++
		}
	}
	return v.note(fmt.Sprintf("%d own, %d in place, %d views, %d slices", kinds["own"], kinds["in place"], kinds["view"], kinds["slice"]))
}

func (v *slotsView) Keys() []ui.Key { return append(v.table.Keys(), v.mapView.Keys()...) }

func (v *slotsView) Update(msg tea.Msg) tea.Cmd { return v.update(&v.table, msg) }

func (v *slotsView) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		m := v.snap.Memory
		if m == nil {
			v.wait(c, "memory plan")
			return
		}
		v.set(m, func(s *sessions.SlotInfo) bool { return v.withIO || !s.IO })
		v.table.Draw(c)
	})
}

// footprintDetail states the planner's numbers.
type footprintDetail struct{ pane }

func (v *footprintDetail) Title() string              { return "Arena memory" }
func (v *footprintDetail) Keys() []ui.Key             { return nil }
func (v *footprintDetail) Update(msg tea.Msg) tea.Cmd { v.take(msg); return nil }

func (v *footprintDetail) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		if v.snap.Memory == nil {
			v.wait(c, "memory plan")
			return
		}
		footprintBars(v.snap.Memory.MemoryNumbers, w).Draw(c)
	})
}
