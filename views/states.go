package views

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// Timeline is a controller that can go back and forth in time, as a replay can. Its methods return at once.
type Timeline interface {
	// Steps returns the states that there are, in order.
	Steps() []sessions.RecordedStep
	// Position returns which of them is shown.
	Position() int
	// CutShort reports whether the last state is not one at which somebody stopped.
	CutShort() bool
	// Seek shows state i, or the nearest there is.
	Seek(i int)
}

// statesView lists the states of a recording; the other screens show the one that was chosen.
type statesView struct {
	pane
	table ui.Table
	steps []sessions.RecordedStep
}

func newStatesView(d *desk) *statesView {
	v := &statesView{pane: d.pane(0), steps: d.Timeline.Steps()}
	right := func(title string, width, priority int, text func(r int) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight,
			Cell: func(r int) ui.Cell { return ui.Cell{Text: text(r), Style: ui.Muted} }}
	}
	v.table = ui.Table{
		Rows: len(v.steps),
		Columns: []ui.Column{
			right("state", 6, 0, func(r int) string { return fmt.Sprint(r) }),
			right("after", 9, 0, func(r int) string { return v.steps[r].Time.Sub(v.steps[0].Time).Round(100 * time.Millisecond).String() }),
			{Title: "configuration", Width: 18, Flex: 1, Cell: func(r int) ui.Cell {
				c := v.steps[r].Config
				return ui.Cell{Text: configLabel(c, false), Style: precisionStyle(string(c.Precision))}
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
			if r == v.Timeline.Position() {
				return ui.Selected
			}
			return ui.Plain
		},
	}
	v.table.Select(d.Timeline.Position())
	return v
}

func (v *statesView) Title() string { return "States" }

func (v *statesView) Note() (string, ui.Style) {
	return fmt.Sprintf("shown: %d of %d", v.Timeline.Position(), len(v.steps)), ui.Muted
}

func (v *statesView) Keys() []ui.Key {
	return append(v.table.Keys(),
		ui.K("enter", "show", "show the state under the cursor on every screen"),
		ui.Key{Keys: []string{",", "."}, Short: "scrub", Long: "show the state before / after"})
}

func (v *statesView) Update(msg tea.Msg) tea.Cmd {
	switch {
	case v.take(msg):
		v.table.Refresh()
	case isKey(msg, "enter"):
		v.seek(v.table.Row())
	case isKey(msg, ","):
		v.seek(v.Timeline.Position() - 1)
	case isKey(msg, "."):
		v.seek(v.Timeline.Position() + 1)
	default:
		v.table.Update(msg)
	}
	return nil
}

// seek shows a state and moves the cursor there.
func (v *statesView) seek(i int) {
	if i >= 0 && i < len(v.steps) {
		v.Timeline.Seek(i)
		v.table.Select(i)
	}
}

func (v *statesView) Render(w, h int) string { return v.Look.Render(w, h, v.table.Draw) }
