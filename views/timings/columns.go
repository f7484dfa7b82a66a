package timings

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// columnsView sets the layers of every precision side by side, aligned by the source layers that they compute, with bars of one scale.
// The fastest of a row is marked where that is more than noise.
type columnsView struct {
	in    pane.Input
	table ui.Table
	shown *report.Columns // that the columns were made for

	recorded *report.Columns // of a replay, which were read of its states; nil: none
	reading  bool
	err      error         // of reading them
	most     time.Duration // the longest time of a cell
}

func newColumnsView(look *ui.Look) *columnsView {
	v := &columnsView{in: pane.NewInput(look, report.PartColumns)}
	v.table.Empty = "no layers were measured"
	v.table.Label = func(r int) string { return v.shown.Rows[r].Name }
	return v
}

func (v *columnsView) Title() string {
	if v.shown == nil {
		return "Precisions"
	}
	return words.At("Precisions", v.shown.Shapes)
}

func (v *columnsView) Note() (string, ui.Style) {
	c := v.shown
	if c == nil {
		return "", ui.Muted
	}
	text := string(v.in.Look.Glyphs.Best) + " fastest"
	if !c.Of(v.in.Snap.Config, pane.OwnRanges(v.in.Snap)) {
		return "of another configuration, " + text, ui.Warn
	}
	if c.Live && v.in.Snap.Busy != nil && v.in.Snap.Replay == "" {
		return string(v.in.Look.Glyphs.Record) + " LIVE " + text, ui.Good
	}
	if c.Estimated {
		return "estimated, " + text, ui.Warn
	}
	if c.Apart {
		return "recorded one after the other, " + text, ui.Muted
	}
	return text, ui.Muted
}

func (v *columnsView) Keys() []ui.Key { return v.table.Keys() }

// ColumnsMsg brings the columns that were read of a recording's states; nil where there are none.
type ColumnsMsg struct {
	Columns *report.Columns
	Err     error
}

// lacking reports whether a replay has states to read for what is shown, and notes that they are being read.
func (v *columnsView) lacking() bool {
	s := v.in.Snap
	if s.Replay == "" || v.reading || v.shown != nil && v.shown.Of(s.Config, pane.OwnRanges(s)) {
		return false
	}
	v.reading = true
	return true
}

func (v *columnsView) Update(msg tea.Msg) tea.Cmd {
	if read, ok := msg.(ColumnsMsg); ok {
		v.reading, v.recorded, v.err = false, read.Columns, read.Err
	} else if !v.in.Take(msg) {
		v.table.Update(msg)
		return nil
	}
	c := v.in.Snap.Columns
	if c == nil && v.in.Snap.Replay != "" {
		c = v.recorded
	}
	if c != v.shown {
		was, _ := v.Layer()
		v.shown, v.table.Rows, v.most = c, 0, 0
		if c != nil {
			v.table.Rows = len(c.Rows)
			for _, r := range c.Rows {
				for _, cell := range r.Cells {
					if cell != nil {
						v.most = max(v.most, cell.Median)
					}
				}
			}
			v.table.Columns = v.columns(c)
		}
		v.table.Refresh()
		pane.ToRow(&v.table, was, v.table.Rows, v.ref)
	}
	return nil
}

// columns are the layer's name, and for each precision a bar, the time, and how many times as fast as in the first.
func (v *columnsView) columns(c *report.Columns) []ui.Column {
	list := []ui.Column{{Title: "layer", Width: 12, Flex: 2, Name: true,
		Cell: func(r int) ui.Cell {
			row, style := &v.shown.Rows[r], ui.Plain
			if row.Reformat {
				style = ui.Muted
			}
			return ui.Cell{Text: words.ShortName(row.Name), Style: style}
		},
		Order: func(a, b int) int { return cmp.Compare(v.shown.Rows[a].Name, v.shown.Rows[b].Name) }}}
	for k := range c.Columns {
		if c.Columns[k].Err != "" {
			continue
		}
		list = append(list, v.barColumn(k), v.timeColumn(k))
		if k > 0 {
			list = append(list, v.ratioColumn(k))
		}
	}
	return list
}

// at returns the cell of a row in a column; nil where it has none.
func (v *columnsView) at(r, k int) *report.ColumnCell {
	if cells := v.shown.Rows[r].Cells; k < len(cells) {
		return cells[k]
	}
	return nil
}

func (v *columnsView) barColumn(k int) ui.Column {
	return ui.Column{Width: 6, Flex: 3, Priority: 3, Group: 1, Cell: func(r int) ui.Cell {
		cell := v.at(r, k)
		if cell == nil {
			return ui.Cell{}
		}
		return ui.Cell{Bar: &ui.Bar{Value: float64(cell.Median), Max: float64(v.most), Style: pane.PrecisionStyle(cell.Precision)}}
	}}
}

func (v *columnsView) timeColumn(k int) ui.Column {
	median := func(r int) time.Duration {
		if cell := v.at(r, k); cell != nil {
			return cell.Median
		}
		return 0
	}
	return ui.Column{Title: string(v.shown.Columns[k].Config.Precision), Width: 9, Align: ui.AlignRight, Down: true,
		Order: func(a, b int) int { return cmp.Compare(median(a), median(b)) },
		Cell: func(r int) ui.Cell {
			switch cell := v.at(r, k); {
			case cell == nil:
				return ui.Cell{Text: "·", Style: ui.Muted}
			case v.shown.Rows[r].Fastest == v.shown.Columns[k].Label:
				return ui.Cell{Text: string(v.in.Look.Glyphs.Best) + ui.Duration(cell.Median), Style: ui.Good | ui.Bold}
			default:
				return ui.Cell{Text: ui.Duration(cell.Median)}
			}
		}}
}

func (v *columnsView) ratioColumn(k int) ui.Column {
	ratio := func(r int) float64 {
		if cell := v.at(r, k); cell != nil {
			return cell.Ratio
		}
		return 0
	}
	return ui.Column{Title: "x", Width: 5, Priority: 2, Align: ui.AlignRight, Down: true,
		Order: func(a, b int) int { return cmp.Compare(ratio(a), ratio(b)) },
		Cell: func(r int) ui.Cell {
			if x := ratio(r); x > 0 {
				return ui.Cell{Text: fmt.Sprintf("%.2f", x), Style: ui.Muted}
			}
			return ui.Cell{}
		}}
}

func (v *columnsView) ref(r int) pane.LayerRef {
	return pane.LayerRef{Name: v.shown.Rows[r].Name, From: v.shown.Rows[r].From}
}

// Layer implements pointing.
func (v *columnsView) Layer() (pane.LayerRef, bool) {
	if r := v.table.Row(); v.shown != nil && r >= 0 && r < len(v.shown.Rows) {
		return v.ref(r), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *columnsView) ToLayer(l pane.LayerRef) bool {
	return v.shown != nil && pane.ToRow(&v.table, l, len(v.shown.Rows), v.ref)
}

// nothing says why no columns are shown, and what helps.
func (v *columnsView) nothing(c *ui.Canvas) string {
	switch b := v.in.Snap.Busy; {
	case v.reading:
		return "reading what was recorded"
	case v.err != nil:
		return v.err.Error()
	case v.in.Snap.Replay != "":
		return c.Keys("one precision alone was recorded; of the configurations on the page Tried {m} and {M} mark two, and {d} compares them layer by layer")
	case b != nil:
		return b.String()
	case v.in.Snap.Viewed() != "":
		return "nothing was measured"
	}
	return c.Keys("nothing was measured yet: {Timings A} measures them")
}

func (v *columnsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.shown == nil {
			c.Fit(1, 0, w-2, ui.Muted, "FP32, FP16 and INT8 layer by layer, measured in the same rounds")
			for i, line := range ui.Wrap(v.nothing(c), w-2) {
				c.Fit(1, 1+i, w-2, ui.Plain, line)
			}
			return
		}
		y := 0
		for k := range v.shown.Columns {
			if y >= max(h-4, 1) {
				break
			}
			v.drawWhole(c, y, k)
			y++
		}
		v.table.Draw(c.Sub(ui.Rect{Y: y, W: w, H: h - y}))
	})
}

// drawWhole draws a line on a whole column: a bar of its layers in the order of the rows, its latency, and how it compares.
func (v *columnsView) drawWhole(c *ui.Canvas, y, k int) {
	col := &v.shown.Columns[k]
	label := 12
	for i := range v.shown.Columns {
		label = max(label, min(ui.Width(v.shown.Columns[i].Label), c.W/4))
	}
	c.Fit(1, y, label, ui.Plain|ui.Bold, col.Label)
	x := 1 + label
	if col.Err != "" {
		c.Fit(x+1, y, c.W-x-2, ui.Warn, "none: "+col.Err)
		return
	}
	text := v.against(col)
	room := c.W - x - 3 // for bars, which are of one scale
	for i := range v.shown.Columns {
		room = min(room, c.W-x-3-ui.Width(v.against(&v.shown.Columns[i])))
	}
	longest := slices.MaxFunc(v.shown.Columns, func(a, b report.Column) int { return cmp.Compare(a.Latency.Median, b.Latency.Median) })
	bar := ui.Bar{Value: float64(col.Latency.Median), Max: float64(max(longest.Latency.Median, 1)), Style: pane.PrecisionStyle(string(col.Config.Precision))}
	if room >= 8 {
		bar.Draw(c.Sub(ui.Rect{X: x + 1, Y: y, W: room, H: 1}))
	} else {
		room = 0
	}
	c.FitClauses(x+2+room, y, c.W-x-3-room, ui.Plain, text)
}

// against says how long a column takes from end to end, and how that is beside the first.
func (v *columnsView) against(col *report.Column) string {
	text := ui.Duration(col.Latency.Median)
	switch s := col.Speed; {
	case col.Unchanged != "":
		return text + ", changes no layer"
	case s == nil:
		return text + " end to end"
	case !s.Significant:
		return text + ", " + s.Undecided()
	default:
		return text + ", " + s.Beside(v.shown.Columns[0].Latency.Median, col.Latency.Median).AsFast()
	}
}
