package memory

import (
	"cmp"
	"fmt"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// planners compares the ways to share the arena out: a table of them, and below it the arena by the one under the cursor, with
// the plan's beside it where there is room.
type planners struct {
	on    bool
	table ui.Table
	of    *report.Memory
	maps  map[int]ui.Map // by planner, made when they are drawn first
}

// take shows the planners of another report, the cursor on the first that is not the plan's.
func (p *planners) take(m *report.Memory) {
	if p.table.Columns == nil {
		p.table = ui.Table{Columns: p.columns(), Empty: "no other planner was recorded"}
	}
	first := len(p.maps) == 0
	p.of, p.maps, p.table.Rows = m, map[int]ui.Map{}, len(m.Planners)
	p.table.Refresh()
	if first && len(m.Planners) > 1 {
		p.table.Select(1)
	}
}

func (p *planners) columns() []ui.Column {
	peak := func(r int) int { return p.of.Planners[r].Peak }
	most := func() int { return max(p.of.Naive, 1) }
	byPeak := func(a, b int) int { return cmp.Compare(peak(a), peak(b)) }
	return []ui.Column{
		{Title: "planner", Width: 21, Cell: func(r int) ui.Cell {
			c := ui.Cell{Text: p.of.Planners[r].Name}
			if p.of.Planners[r].Chosen {
				c.Style = ui.Accent
			}
			return c
		}, Order: func(a, b int) int { return cmp.Compare(p.of.Planners[a].Name, p.of.Planners[b].Name) }},
		{Title: "peak", Width: 9, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Bytes(int64(peak(r)))} }, Order: byPeak, Down: true},
		{Title: "x bound", Width: 8, Align: ui.AlignRight, Priority: 1, Cell: func(r int) ui.Cell {
			text := fmt.Sprintf("%.3fx", float64(peak(r))/float64(max(p.of.LowerBound, 1)))
			if peak(r) == p.of.LowerBound {
				return ui.Cell{Text: text, Style: ui.Good}
			}
			return ui.Cell{Text: text}
		}, Order: byPeak, Down: true},
		{Width: 6, Flex: 1, Priority: 2, Cell: func(r int) ui.Cell {
			return ui.Cell{Bar: &ui.Bar{Value: float64(peak(r)), Max: float64(most()), Style: ui.Series(0)}}
		}},
	}
}

// note says what all planners have in common.
func (p *planners) note(m *report.Memory) string {
	return fmt.Sprintf("lower bound %s, no reuse %s", ui.Bytes(int64(m.LowerBound)), ui.Bytes(int64(m.Naive)))
}

// leastMap is the width from which two maps are beside each other.
const leastMap = 44

func (p *planners) draw(c *ui.Canvas, m *report.Memory, step int) {
	if p.of != m {
		return
	}
	if p.table.Rows == 0 {
		p.table.Draw(c)
		return
	}
	rows := min(p.table.Rows+1, max(c.H/2, 3))
	p.table.Draw(c.Sub(ui.Rect{W: c.W, H: rows}))
	chosen := p.table.Row()
	if chosen < 0 {
		return
	}
	sides := []int{chosen}
	if !m.Planners[chosen].Chosen && c.W >= 2*leastMap {
		sides = []int{0, chosen}
	}
	size := int64(1)
	for _, i := range sides {
		size = max(size, int64(m.Planners[i].Peak))
	}
	wide := c.W / len(sides)
	for k, i := range sides {
		part := c.Sub(ui.Rect{X: k * wide, Y: rows, W: wide, H: c.H - rows})
		part.Fit(mapGutter, 0, part.W-mapGutter-1, ui.Muted, fmt.Sprintf("%s, %s", m.Planners[i].Name, ui.Bytes(int64(m.Planners[i].Peak))))
		arena := p.arena(i)
		arena.Size, arena.Cursor = size, step
		arena.Draw(part.Sub(ui.Rect{Y: 1, W: part.W, H: part.H - 1}))
	}
}

// arena returns the map of a planner.
func (p *planners) arena(i int) ui.Map {
	if _, ok := p.maps[i]; !ok {
		p.maps[i] = Arena(p.of.By(p.of.Planners[i]))
	}
	return p.maps[i]
}
