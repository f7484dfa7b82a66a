package comparison

import (
	"cmp"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// matrixLayers has the layers of several side by side, those first whose times are farthest apart.
type matrixLayers struct {
	in      pane.Input
	several *Several
	table   ui.Table
	rows    []report.ColumnRow
}

func newMatrixLayers(look *ui.Look, s *Several) *matrixLayers {
	v := &matrixLayers{in: pane.NewInput(look, 0), several: s}
	v.table.Label = func(r int) string { return v.rows[r].Name }
	return v
}

// build makes the rows and columns of what was read.
func (v *matrixLayers) build() {
	v.rows = nil
	if m := v.several.matrix; m != nil {
		v.rows = slices.Clone(m.Columns.Rows)
		slices.SortStableFunc(v.rows, func(a, b report.ColumnRow) int { return cmp.Compare(b.Spread(), a.Spread()) })
		v.table.Columns = v.columns(m)
	}
	v.table.Rows = len(v.rows)
	v.table.Refresh()
}

func (v *matrixLayers) columns(m *report.Matrix) []ui.Column {
	most := 1.0
	if len(v.rows) > 0 {
		most = max(most, float64(v.rows[0].Spread()))
	}
	list := []ui.Column{
		{Title: "layer", Width: 16, Flex: 3, Name: true, Cell: func(r int) ui.Cell {
			style := ui.Plain
			if v.rows[r].Reformat {
				style = ui.Muted
			}
			return ui.Cell{Text: words.ShortName(v.rows[r].Name), Style: style}
		}, Order: func(a, b int) int { return cmp.Compare(v.rows[a].Name, v.rows[b].Name) }},
		{Width: 6, Flex: 3, Priority: len(m.Sides) + 1, Cell: func(r int) ui.Cell {
			return ui.Cell{Bar: &ui.Bar{Value: float64(v.rows[r].Spread()), Max: most, Style: ui.Accent}}
		}},
		{Title: "spread", Width: 9, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(v.rows[r].Spread()), Style: ui.Bold} },
			Order: func(a, b int) int { return cmp.Compare(v.rows[a].Spread(), v.rows[b].Spread()) }},
	}
	for i := range m.Sides {
		list = append(list, v.sideColumn(m, i))
	}
	return list
}

// sideColumn is what the layers take in one of them; the last give way first where it is narrow.
func (v *matrixLayers) sideColumn(m *report.Matrix, i int) ui.Column {
	at := func(r int) *report.ColumnCell { return v.rows[r].Cells[i] }
	median := func(r int) time.Duration {
		if cell := at(r); cell != nil {
			return cell.Median
		}
		return 0
	}
	return ui.Column{Title: letter(i), Width: 10, Priority: max(0, i-1), Align: ui.AlignRight, Down: true,
		Order: func(a, b int) int { return cmp.Compare(median(a), median(b)) },
		Cell: func(r int) ui.Cell {
			switch cell := at(r); {
			case cell == nil:
				return ui.Cell{Text: "·", Style: ui.Muted}
			case v.rows[r].Fastest == m.Sides[i].Name:
				return ui.Cell{Text: string(v.in.Look.Glyphs.Best) + ui.Duration(cell.Median), Style: ui.Good | ui.Bold}
			default:
				return ui.Cell{Text: ui.Duration(cell.Median), Style: pane.PrecisionStyle(cell.Precision)}
			}
		}}
}

func (v *matrixLayers) Title() string { return "Layers, those first that are farthest apart" }

func (v *matrixLayers) Note() (string, ui.Style) {
	if v.several.matrix == nil {
		return "", ui.Muted
	}
	text := string(v.in.Look.Glyphs.Best) + " fastest"
	if v.several.matrix.Columns.Apart {
		text = "measured one after the other, " + text
	}
	return text, ui.Muted
}

func (v *matrixLayers) Keys() []ui.Key { return v.table.Keys() }

func (v *matrixLayers) Update(msg tea.Msg) tea.Cmd {
	switch _, read := msg.(matrixMsg); {
	case read:
		v.build()
	case v.in.Take(msg):
	default:
		v.table.Update(msg)
	}
	return nil
}

func (v *matrixLayers) ref(r int) pane.LayerRef {
	return pane.LayerRef{Name: v.rows[r].Name, From: v.rows[r].From}
}

// Layer implements pointing.
func (v *matrixLayers) Layer() (pane.LayerRef, bool) {
	if r := v.table.Row(); r >= 0 && r < len(v.rows) {
		return v.ref(r), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *matrixLayers) ToLayer(l pane.LayerRef) bool {
	return pane.ToRow(&v.table, l, len(v.rows), v.ref)
}

func (v *matrixLayers) Render(w, h int) string {
	v.table.Empty = v.several.waiting()
	return v.in.Look.Render(w, h, v.table.Draw)
}
