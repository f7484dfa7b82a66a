package views

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// pointsView shows latency, throughput and memory at some shapes, one a row: at the ends of a profile, or along an axis.
type pointsView struct {
	in    input
	curve bool // along the axis
	table ui.Table
}

func newPointsView(look *ui.Look, curve bool) *pointsView {
	v := &pointsView{in: newInput(look, report.PartRuntime), curve: curve}
	at := func(r int) *report.SweepPoint { return &v.points()[r] }
	v.table.Columns = []ui.Column{
		{Title: "shapes", Width: 8, Flex: 1, Name: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: v.name(r)} }},
		{Title: "latency", Width: 9, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(at(r).Latency.Median)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Latency.Median, at(b).Latency.Median) }},
		{Title: "p99", Width: 9, Priority: 3, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(at(r).Latency.P99), Style: ui.Muted} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Latency.P99, at(b).Latency.P99) }},
		{Title: "items/s", Width: 8, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Number(at(r).Throughput)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Throughput, at(b).Throughput) }},
		{Title: "", Width: 8, Flex: 2, Priority: 2, Cell: func(r int) ui.Cell { return v.bar(at(r)) }},
		{Title: "memory", Width: 9, Priority: 1, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Bytes(int64(at(r).MemoryBytes))} },
			Order: func(a, b int) int { return cmp.Compare(at(a).MemoryBytes, at(b).MemoryBytes) }},
	}
	v.table.Label = v.name
	v.table.Empty = "no range is served: ] in the pane Profile doubles the largest extent of an axis"
	return v
}

func (v *pointsView) points() []report.SweepPoint {
	if v.curve {
		return v.in.snap.Runtime.Curve
	}
	return v.in.snap.Runtime.Points
}

// name says at which shapes a point is.
func (v *pointsView) name(row int) string {
	r := v.in.snap.Runtime
	if v.curve {
		return fmt.Sprintf("%s %d", r.Axes[r.Axis].Symbol, r.Curve[row].Values[0])
	}
	if len(r.Points) == 1 {
		return "all"
	}
	return [...]string{"least", "best", "largest"}[row]
}

// bar is the throughput beside that of the others along an axis, and the memory beside what a context holds at the ends.
func (v *pointsView) bar(p *report.SweepPoint) ui.Cell {
	if !v.curve {
		return ui.Cell{Bar: &ui.Bar{Value: float64(p.MemoryBytes), Max: float64(max(1, p.HeldBytes)), Style: ui.Series8}}
	}
	most := 1e-9
	for _, o := range v.points() {
		most = max(most, o.Throughput)
	}
	return ui.Cell{Bar: &ui.Bar{Value: p.Throughput, Max: most, Style: ui.Good}}
}

func (v *pointsView) Title() string {
	if v.curve {
		return "Along an axis"
	}
	return "Least, best, largest"
}

func (v *pointsView) Note() (string, ui.Style) {
	r := v.in.snap.Runtime
	switch row := v.table.Row(); {
	case r == nil || row < 0 || row >= len(v.points()):
		return "", ui.Muted
	default:
		return v.in.note(inputShapes(v.points()[row].Shapes))
	}
}

// inputShapes writes the shape of the only input, or how many there are.
func inputShapes(shapes map[string][]int) string {
	if len(shapes) != 1 {
		return plural(len(shapes), "input")
	}
	for name, dims := range shapes {
		return name + " " + config.TimesText(dims)
	}
	return ""
}

func (v *pointsView) Keys() []ui.Key { return v.table.Keys() }

func (v *pointsView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.take(msg) {
		v.table.Update(msg)
		return nil
	}
	rows := 0
	if v.in.snap.Runtime != nil {
		rows = len(v.points())
	}
	if v.table.Rows != rows {
		v.table.Rows = rows
		v.table.Refresh()
	}
	return nil
}

func (v *pointsView) Render(w, h int) string {
	return v.in.look.Render(w, h, func(c *ui.Canvas) {
		if v.in.snap.Runtime == nil {
			v.in.wait(c, "runtime")
			return
		}
		v.table.Draw(c)
	})
}
