package memory

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// slotTable is a table of tensors in the arena.
type slotTable struct {
	table ui.Table
	rows  []*slotInfo
	shown shownSlots
}

// shownSlots says which places of a map a table lists: those that live at a step, or with -1 all.
type shownSlots struct {
	report *report.Memory
	step   int
	withIO bool
}

// columns are the columns that both tables of tensors have.
func (t *slotTable) columns(of *mapView) []ui.Column {
	number := func(title string, width, priority int, value func(*slotInfo) int, write func(*slotInfo) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Down: true,
			Cell:  func(r int) ui.Cell { return ui.Cell{Text: write(t.rows[r])} },
			Order: func(a, b int) int { return cmp.Compare(value(t.rows[a]), value(t.rows[b])) }}
	}
	return []ui.Column{
		{Title: "tensor", Name: true, Width: 12, Flex: 3, Cell: func(r int) ui.Cell { return ui.Cell{Text: words.TensorName(t.rows[r].Tensor)} },
			Order: func(a, b int) int { return cmp.Compare(t.rows[a].Tensor, t.rows[b].Tensor) }},
		{Width: 6, Flex: 2, Priority: 2, Cell: func(r int) ui.Cell {
			s := t.rows[r]
			b := &ui.Bar{Value: float64(s.Bytes), Max: float64(of.most), Style: ui.Series(s.series)}
			if s.Of != "" {
				b.Style = ui.Faint
			}
			return ui.Cell{Bar: b}
		}},
		number("size", 9, 0, func(s *slotInfo) int { return s.Bytes }, func(s *slotInfo) string { return ui.Bytes(int64(s.Bytes)) }),
		number("offset", 9, 1, func(s *slotInfo) int { return s.Offset }, func(s *slotInfo) string {
			if s.IO {
				return "·"
			}
			return fmt.Sprintf("%#x", s.Offset)
		}),
		number("steps", 9, 3, func(s *slotInfo) int { return s.First }, func(s *slotInfo) string { return of.lifetime(s) }),
		{Title: "kind", Width: 8, Priority: 4, Cell: func(r int) ui.Cell { return kindCell(t.rows[r]) },
			Order: func(a, b int) int { return cmp.Compare(t.rows[a].Kind, t.rows[b].Kind) }},
		{Title: "form", Name: true, Width: 16, Flex: 1, Priority: 5, Cell: func(r int) ui.Cell { return ui.Cell{Text: t.rows[r].Desc, Style: ui.Muted} }},
	}
}

func kindCell(s *slotInfo) ui.Cell {
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
func (v *mapView) lifetime(s *slotInfo) string {
	from, to := fmt.Sprint(s.First), fmt.Sprint(s.Last)
	if s.First < 0 {
		from = "in"
	}
	if v.in.Snap.Memory != nil && s.Last >= len(v.in.Snap.Memory.Steps) {
		to = "out"
	}
	return from + " to " + to
}

// show lists the places of the map that live at a step, or with -1 all.
func (t *slotTable) show(of *mapView, step int) {
	want := shownSlots{of.report, step, of.withIO}
	if t.shown == want {
		return
	}
	t.shown, t.rows = want, nil
	for i := range of.places {
		s := &of.places[i]
		if (step < 0 || s.First <= step && step <= s.Last) && (of.withIO || !s.IO) {
			t.rows = append(t.rows, s)
		}
	}
	t.table.Rows = len(t.rows)
	t.table.Refresh()
}

// liveView lists what is alive at the step under the cursor.
type liveView struct {
	of    *mapView
	slots slotTable
}

func newLiveView(m *mapView) *liveView {
	v := &liveView{of: m}
	letter := ui.Column{Width: 1, Cell: func(r int) ui.Cell {
		if s := v.slots.rows[r]; s.mark != 0 {
			return ui.Cell{Text: string(s.mark), Style: ui.Series(s.series) | ui.Bold}
		}
		return ui.Cell{}
	}}
	v.slots.table = ui.Table{Columns: append([]ui.Column{letter}, v.slots.columns(m)...), Empty: "nothing is live here"}
	v.slots.table.SortBy(3, true)
	return v
}

func (v *liveView) Title() string { return fmt.Sprintf("Live at step %d", v.of.step) }

func (v *liveView) Note() (string, ui.Style) {
	m := v.of.in.Snap.Memory
	if m == nil || v.of.step >= len(m.Live) {
		return "", ui.Muted
	}
	return v.of.in.Note(fmt.Sprintf("%s of %s", ui.Bytes(int64(m.Live[v.of.step])), ui.Bytes(int64(m.Peak))))
}

func (v *liveView) Keys() []ui.Key { return append(v.slots.table.Keys(), v.of.Keys()...) }

// Layer implements pointing.
func (v *liveView) Layer() (pane.LayerRef, bool) { return v.of.Layer() }

func (v *liveView) Update(msg tea.Msg) tea.Cmd { return v.of.update(&v.slots.table, msg) }

func (v *liveView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		m := v.of.in.Snap.Memory
		if m == nil {
			v.of.in.Wait(c, "memory plan")
			return
		}
		v.slots.show(v.of, v.of.step)
		v.slots.table.Draw(c)
	})
}

// slotsView lists every allocation of the plan.
type slotsView struct {
	of    *mapView
	slots slotTable
}

func newSlotsView(m *mapView) *slotsView {
	v := &slotsView{of: m}
	v.slots.table = ui.Table{Columns: v.slots.columns(m), Empty: "the arena is empty"}
	v.slots.table.Columns = append(v.slots.table.Columns, ui.Column{Title: "shares memory of", Name: true, Width: 16, Priority: 6, Cell: func(r int) ui.Cell {
		return ui.Cell{Text: words.TensorName(v.slots.rows[r].Of), Style: ui.Muted}
	}})
	v.slots.table.Ground = func(r int) ui.Style {
		if s := v.slots.rows[r]; s.First <= v.of.step && v.of.step <= s.Last {
			return ui.Selected
		}
		return ui.Plain
	}
	return v
}

func (v *slotsView) Title() string { return "Allocations" }

func (v *slotsView) Note() (string, ui.Style) {
	m := v.of.in.Snap.Memory
	if m == nil {
		return "", ui.Muted
	}
	kinds := map[string]int{}
	for _, s := range m.Slots {
		if !s.IO {
			kinds[s.Kind]++
		}
	}
	text := fmt.Sprintf("%d own", kinds["own"])
	for _, shared := range []struct {
		n    int
		text string
	}{{kinds["in place"], fmt.Sprintf("%d in place", kinds["in place"])}, {kinds["view"], words.Plural(kinds["view"], "view")}, {kinds["slice"], words.Plural(kinds["slice"], "slice")}} {
		if shared.n > 0 {
			text += ", " + shared.text
		}
	}
	return v.of.in.Note(text)
}

func (v *slotsView) Keys() []ui.Key { return append(v.slots.table.Keys(), v.of.Keys()...) }

// Layer implements pointing: it is that of the step that makes the tensor.
func (v *slotsView) Layer() (pane.LayerRef, bool) {
	m, r := v.of.in.Snap.Memory, v.slots.table.Row()
	if m == nil || r < 0 || r >= len(v.slots.rows) {
		return pane.LayerRef{}, false
	}
	if first := v.slots.rows[r].First; first >= 0 && first < len(m.Steps) {
		return pane.StepRef(m.Steps[first]), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *slotsView) ToLayer(l pane.LayerRef) bool {
	m := v.of.in.Snap.Memory
	if m == nil {
		return false
	}
	v.slots.show(v.of, -1)
	step := pane.Nearest(l, len(m.Steps), func(i int) pane.LayerRef { return pane.StepRef(m.Steps[i]) })
	i := slices.IndexFunc(v.slots.rows, func(s *slotInfo) bool { return s.First == step })
	return step >= 0 && i >= 0 && v.slots.table.Select(i)
}

func (v *slotsView) Update(msg tea.Msg) tea.Cmd { return v.of.update(&v.slots.table, msg) }

func (v *slotsView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		m := v.of.in.Snap.Memory
		if m == nil {
			v.of.in.Wait(c, "memory plan")
			return
		}
		v.slots.show(v.of, -1)
		v.slots.table.Draw(c)
	})
}
