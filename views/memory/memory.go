package memory

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// mapView draws the arena: offsets upwards, steps to the right, and below them the bytes live at each step. Its cursor
// is a step.
type mapView struct {
	in     pane.Input
	report *report.Memory
	places []slotInfo // of report
	most   int        // bytes of the largest of them
	arena  ui.Map     // of places
	step   int
	withIO bool // the tables list inputs and outputs too

	planners planners // shown in the map's place, if on
}

// Named implements ui.Named.
func (v *mapView) Named() string {
	if m := v.in.Snap.Memory; m != nil && v.step < len(m.Steps) {
		return words.ShortName(m.Steps[v.step])
	}
	return ""
}

func (v *mapView) Title() string {
	if v.planners.on {
		return "Arena by planner"
	}
	return "Arena by step"
}

func (v *mapView) Note() (string, ui.Style) {
	m := v.in.Snap.Memory
	if m == nil || v.step >= len(m.Steps) {
		return "", ui.Muted
	}
	if v.planners.on {
		return v.in.Note(v.planners.note(m))
	}
	text := fmt.Sprintf("step %d %s: %s live", v.step, words.ShortName(m.Steps[v.step]), ui.Bytes(int64(m.Live[v.step])))
	if v.step == m.PeakStep {
		text += ", the peak"
	}
	return v.in.Note(text)
}

func (v *mapView) Keys() []ui.Key {
	return []ui.Key{
		ui.K("v", "planners", "other ways to share the arena out, beside the plan's; again: the plan by step"),
		ui.K("p", "peak", "jump to the step with the most live bytes"),
		ui.K("i", "inputs/outputs", "show or hide inputs and outputs in the tables"),
	}
}

func (v *mapView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		if m := v.in.Snap.Memory; m != nil && len(m.Steps) > 0 {
			if v.report == nil || v.report != m && v.step == v.report.PeakStep {
				v.step = m.PeakStep // the cursor stays at the peak until it is moved away
			}
			if v.report != m {
				v.report, v.places, v.most = m, colours(m), 1
				for _, s := range m.Slots {
					v.most = max(v.most, s.Bytes)
				}
				v.arena = arena(m, v.places)
				v.planners.take(m)
			}
			v.step = max(min(v.step, len(m.Steps)-1), 0)
			v.markLive()
		}
		return nil
	}
	if v.planners.on {
		return v.update(&v.planners.table, msg)
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		v.key(msg.String())
	case ui.MapStep:
		v.toStep(int(msg))
	}
	return nil
}

// update handles a message for one of the tables: left and right are the map's.
func (v *mapView) update(t *ui.Table, msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch msg.String() {
		case "left", "right", "h", "l", "p", "i", "v":
			v.key(msg.String())
			return nil
		}
	case ui.MapStep:
		v.toStep(int(msg))
		return nil
	}
	t.Update(msg)
	return nil
}

// toStep moves the cursor to a step.
func (v *mapView) toStep(step int) {
	if m := v.in.Snap.Memory; m != nil {
		v.step = max(min(step, len(m.Steps)-1), 0)
		v.markLive()
	}
}

// key handles the keys of the map; it reports whether the name was one.
func (v *mapView) key(name string) bool {
	m := v.in.Snap.Memory
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
	case "v":
		v.planners.on = !v.planners.on
	default:
		return false
	}
	v.step = max(min(v.step, n-1), 0)
	v.markLive()
	return true
}

// Layer implements pointing: it is that of the step.
func (v *mapView) Layer() (pane.LayerRef, bool) {
	if m := v.in.Snap.Memory; m != nil && v.step < len(m.Steps) {
		return pane.StepRef(m.Steps[v.step]), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *mapView) ToLayer(l pane.LayerRef) bool {
	m := v.in.Snap.Memory
	if m == nil {
		return false
	}
	i := pane.Nearest(l, len(m.Steps), func(i int) pane.LayerRef { return pane.StepRef(m.Steps[i]) })
	if i < 0 {
		return false
	}
	v.step = i
	v.markLive()
	return true
}

// markLive gives what lives in the arena at the cursor's step letters, by which the map and the table name it.
func (v *mapView) markLive() {
	next := 'a'
	for i := range v.places {
		s := &v.places[i]
		s.mark = 0
		if s.inArena() && s.First <= v.step && v.step <= s.Last && next <= 'z' {
			s.mark = next
			next++
		}
	}
	v.arena.Cursor = v.step
	block := 0
	for i := range v.places {
		if s := &v.places[i]; s.inArena() {
			v.arena.Blocks[block].Mark = s.mark
			block++
		}
	}
}

func (v *mapView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		m := v.in.Snap.Memory
		if m == nil {
			v.in.Wait(c, "memory plan")
			return
		}
		c.Row(func() string {
			return fmt.Sprintf("%d\t%s\t%s live", v.step, m.Steps[v.step], ui.Bytes(int64(m.Live[v.step])))
		})
		if v.planners.on {
			v.planners.draw(c, m, v.step)
			return
		}
		profile := min(max(h/5, 2), 6)
		v.arena.Draw(c.Sub(ui.Rect{W: w, H: h - profile}))
		drawProfile(c.Sub(ui.Rect{Y: h - profile, W: w, H: profile}), m, v.step)
	})
}

// drawProfile draws the bytes live at each step as columns below the map, on its scale of steps.
func drawProfile(c *ui.Canvas, m *report.Memory, step int) {
	w := c.W - mapGutter - 1
	if w < 4 || c.H < 2 || len(m.Live) == 0 {
		return
	}
	c.FitRight(0, 0, mapGutter-2, ui.Muted, "live")
	c.FitRight(0, c.H-1, mapGutter-2, ui.Muted, words.Percent(float64(m.Live[step])/float64(max(m.Peak, 1))))
	values := make([]float64, w)
	column := func(step int) int { // where the map has it
		return min(int(float64(step)*float64(w)/float64(len(m.Live))+0.5), w-1)
	}
	for i, live := range m.Live {
		for x := column(i); x < max(column(i+1), column(i)+1); x++ {
			values[x] = max(values[x], float64(live))
		}
	}
	values[w-1] = max(values[w-1], float64(m.Live[len(m.Live)-1]))
	plot := c.Sub(ui.Rect{X: mapGutter, W: w, H: c.H})
	ui.Spark{Values: values, Max: float64(max(m.Peak, 1)), Style: ui.Series8}.Draw(plot)
	plot.Over(ui.Rect{X: column(step), W: 1, H: c.H}, ui.Accent|ui.Bold)
}

// footprintDetail states the planner's numbers.
type footprintDetail struct{ in pane.Input }

func (v *footprintDetail) Title() string { return "Arena memory" }

func (v *footprintDetail) Note() (string, ui.Style) { return v.in.Note("") }

func (v *footprintDetail) Keys() []ui.Key { return nil }

func (v *footprintDetail) Update(msg tea.Msg) tea.Cmd { v.in.Take(msg); return nil }

func (v *footprintDetail) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Memory == nil {
			v.in.Wait(c, "memory plan")
			return
		}
		FootprintBars(v.in.Snap.Memory.MemoryNumbers, w).Draw(c)
	})
}

// FootprintBars are the planner's three numbers, then what lies outside the arena, for a pane of w columns.
func FootprintBars(m report.MemoryNumbers, w int) ui.Bars {
	top := float64(max(m.Naive, m.Peak, 1))
	bar := func(label string, n int, s ui.Style, note string) ui.LabelledBar {
		return ui.LabelledBar{Label: label, Value: fmt.Sprintf("%9s %s", ui.Bytes(int64(n)), note), Bar: ui.Bar{Value: float64(n), Max: top, Style: s}}
	}
	ratio := func(n, of int) string {
		if of == 0 || w < 44 {
			return ""
		}
		return fmt.Sprintf("%6s ", fmt.Sprintf("%.2fx", float64(n)/float64(of)))
	}
	bars := ui.Bars{
		bar("no reuse", m.Naive, ui.Series(7), ratio(m.Naive, m.Peak)),
		bar("peak", m.Peak, ui.Series(0), ratio(m.Peak, m.Peak)),
		bar("lower bound", m.LowerBound, ui.Series(2), ratio(m.LowerBound, m.Peak)),
	}
	if m.Workspace > 0 {
		bars = append(bars, bar("workspace", m.Workspace, ui.Series(1), ratio(m.Workspace, m.Peak)))
	}
	return append(bars,
		bar("inputs, outputs", m.IO, ui.Series(4), ratio(m.IO, m.Peak)),
		bar("weights", m.Weights, ui.Series(5), ratio(m.Weights, m.Peak)))
}
