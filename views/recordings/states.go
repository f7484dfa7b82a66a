package recordings

import (
	"fmt"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// statesView lists the states of a recording; the other screens show the one that was chosen.
type statesView struct {
	in       pane.Input
	timeline Timeline
	table    ui.Table
	steps    []report.Step
	others   Shelf
}

func newStatesView(look *ui.Look, t Timeline, others Shelf) *statesView {
	v := &statesView{in: pane.NewInput(look, 0), timeline: t, steps: t.Steps(), others: others}
	right := func(title string, width, priority int, text func(r int) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight,
			Cell: func(r int) ui.Cell { return ui.Cell{Text: text(r), Style: ui.Muted} }}
	}
	v.table = ui.Table{
		Rows: len(v.steps),
		Columns: []ui.Column{
			right("state", 6, 0, func(r int) string { return fmt.Sprint(r + 1) }),
			right("after", 9, 0, func(r int) string { return report.Clock(v.steps[r].After) }),
			{Title: "configuration", Width: 18, Flex: 1, Cell: func(r int) ui.Cell {
				c := v.steps[r].Config
				return ui.Cell{Text: c.Label(pane.OwnRanges(v.in.Snap)) + others.Marked(v.markOf(r)), Style: pane.PrecisionStyle(string(c.Precision))}
			}},
			{Title: "reports", Width: 8, Cell: func(r int) ui.Cell {
				if v.steps[r].Settled {
					return ui.Cell{Text: "all", Style: ui.Good}
				}
				return ui.Cell{Text: "some", Style: ui.Muted}
			}},
			right("time", 10, 1, func(r int) string { return v.steps[r].Time.Format("15:04:05") }),
		},
		Ground: func(r int) ui.Style {
			if r == v.shown().State-1 {
				return ui.Selected
			}
			return ui.Plain
		},
	}
	v.table.Select(v.shown().State - 1)
	return v
}

// shown returns which state the panes show.
func (v *statesView) shown() report.Moment {
	if v.in.Snap.At != nil {
		return *v.in.Snap.At
	}
	return v.timeline.Moment(v.timeline.Position())
}

func (v *statesView) Title() string { return "States" }

func (v *statesView) Note() (string, ui.Style) {
	all, _ := whenMark(v.in.Look.Glyphs, true)
	some, _ := whenMark(v.in.Look.Glyphs, false)
	return fmt.Sprintf("%c all reports  %c some", all, some), ui.Muted
}

func (v *statesView) Keys() []ui.Key {
	return append(v.table.Keys(), ui.K("enter", "show", "show the state under the cursor on every screen"))
}

// Mark is the state under the cursor.
func (v *statesView) Mark() (pane.Mark, bool) {
	r, path := v.table.Row(), v.in.Snap.Replay
	if r < 0 || v.others.Read == nil || path == "" {
		return pane.Mark{}, false
	}
	return pane.Mark{Name: v.markOf(r), Read: func() (*report.Snapshot, error) { return v.others.Read(path, fmt.Sprint(r+1)) }}, true
}

// markOf names a state as something to compare.
func (v *statesView) markOf(r int) string {
	return fmt.Sprint(filepath.Base(v.in.Snap.Replay), "@", r+1)
}

func (v *statesView) Update(msg tea.Msg) tea.Cmd {
	before := v.shown().State
	switch {
	case v.in.Take(msg):
		v.steps = v.timeline.Steps() // more of a recording that is being written
		v.table.Rows = len(v.steps)
		v.table.Refresh()
		if now := v.shown().State; now != before {
			v.table.Select(now - 1)
		}
	case pane.IsKey(msg, "enter"):
		if r := v.table.Row(); r >= 0 {
			v.timeline.Seek(r)
		}
	default:
		v.table.Update(msg)
	}
	return nil
}

func (v *statesView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		const least = 6 // lines of the table, which goes first where it is low
		y := 0
		if c.H > least {
			v.drawShown(c.Sub(ui.Rect{X: 0, Y: 0, W: c.W, H: 1}))
			y = 1
		}
		if c.H > least+4 {
			drawWhen(c.Sub(ui.Rect{X: 0, Y: 1, W: c.W, H: 2}), v.steps, v.shown())
			y = 3
		}
		v.table.Draw(c.Sub(ui.Rect{X: 0, Y: y, W: c.W, H: c.H - y}))
	})
}

// drawShown draws a line that says which state is shown, when it was, and what was being done.
func (v *statesView) drawShown(c *ui.Canvas) {
	x := c.Fit(1, 0, c.W-2, ui.Bold, v.shown().String())
	if v.in.Snap.At == nil {
		return
	}
	if text, style := RecordedState(v.in.Snap); text != "" && x+4 < c.W {
		c.Fit(x+2, 0, c.W-x-3, style, text)
	}
}
