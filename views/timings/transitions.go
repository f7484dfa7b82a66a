package timings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// transitionsView shows what goes from type to type, as a matrix, and below it the launches that only convert, with what each costs and
// which choice it is there for.
type transitionsView struct {
	in    pane.Input
	table ui.Table
	of    *report.Snapshot    // what shown was found in: the newest when something was last asked of the pane
	shown *report.Transitions // nil where nothing is known
}

func newTransitionsView(look *ui.Look) *transitionsView {
	v := &transitionsView{in: pane.NewInput(look, report.PartPasses|report.PartTimings)}
	at := func(r int) *report.Conversion { return &v.shown.Conversions[r] }
	v.table.Empty = "no launch only converts"
	v.table.Label = func(r int) string { return at(r).Layer + " " + at(r).Why }
	v.table.Columns = []ui.Column{
		{Title: "conversion", Width: 18, Flex: 2, Name: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: words.ShortName(at(r).Layer)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Layer, at(b).Layer) }},
		{Title: "types", Width: 11, Priority: 2, Cell: func(r int) ui.Cell {
			k := at(r)
			if k.Format != "" {
				return ui.Cell{Text: "to " + k.Format, Style: pane.PrecisionStyle(k.To)}
			}
			return ui.Cell{Text: k.From + " to " + k.To, Style: pane.PrecisionStyle(k.To)}
		}},
		{Title: "time", Width: 8, Flex: 1, Priority: 3, Cell: func(r int) ui.Cell {
			return ui.Cell{Bar: &ui.Bar{Value: float64(at(r).Time), Max: float64(max(at(0).Time, 1)), Style: pane.PrecisionStyle(at(r).To)}}
		}},
		{Title: "median", Width: 9, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(at(r).Time), Style: ui.Bold} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Time, at(b).Time) }},
		{Title: "bytes", Width: 9, Priority: 5, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Bytes(at(r).Bytes)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Bytes, at(b).Bytes) }, Down: true},
		{Title: "because", Width: 24, Flex: 3, Cell: func(r int) ui.Cell { return ui.Cell{Text: at(r).Why, Style: ui.Muted} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Cause, at(b).Cause) }},
	}
	return v
}

func (v *transitionsView) Title() string { return "Conversions" }

func (v *transitionsView) Note() (string, ui.Style) {
	t := v.transitions()
	if t == nil {
		return "", ui.Muted
	}
	return v.in.Note(fmt.Sprintf("%s, %s of the time; tensors from type to type, their bytes", words.Plural(len(t.Conversions), "launch"), words.Percent(t.Share)))
}

func (v *transitionsView) Keys() []ui.Key { return v.table.Keys() }

func (v *transitionsView) Update(msg tea.Msg) tea.Cmd {
	if !v.in.Take(msg) {
		v.transitions()
		v.table.Update(msg)
	}
	return nil
}

// transitions returns those of the newest snapshot. Of many that come in while others are looked at they are not found.
func (v *transitionsView) transitions() *report.Transitions {
	s := v.in.Snap
	if v.of != nil && s.Passes == v.of.Passes && s.Timings == v.of.Timings {
		return v.shown
	}
	v.of, v.shown, v.table.Rows = s, report.TransitionsOf(s), 0
	if v.shown != nil {
		v.table.Rows = len(v.shown.Conversions)
	}
	v.table.Refresh()
	return v.shown
}

// Layer implements pointing.
func (v *transitionsView) Layer() (pane.LayerRef, bool) {
	t := v.transitions()
	if r := v.table.Row(); t != nil && r >= 0 && r < len(t.Conversions) {
		return v.ref(r), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *transitionsView) ToLayer(l pane.LayerRef) bool {
	return v.transitions() != nil && slices.ContainsFunc(v.shown.Conversions, func(k report.Conversion) bool { return k.Layer == l.Name }) &&
		pane.ToRow(&v.table, l, len(v.shown.Conversions), v.ref)
}

func (v *transitionsView) ref(r int) pane.LayerRef {
	return pane.LayerRef{Name: v.shown.Conversions[r].Layer}
}

func (v *transitionsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.transitions() == nil {
			v.in.Wait(c, "conversions")
			return
		}
		y := v.drawMatrix(c)
		if causes := v.causes(); causes != "" {
			c.FitClauses(1, y, w-2, ui.Plain, causes)
			y++
		}
		if r := v.table.Row(); r >= 0 && r < len(v.shown.Conversions) && h-y > 8 { // whole, where the row has no room for it
			k := &v.shown.Conversions[r]
			lines := ui.Wrap(k.Cause+": "+k.Why, max(w-2, 1))
			lines = lines[:min(len(lines), 3)]
			for i, line := range lines {
				c.Fit(1, h-len(lines)+i, w-2, ui.Muted, line)
			}
			h -= len(lines)
		}
		if y < h {
			v.table.Draw(c.Sub(ui.Rect{Y: y, W: w, H: h - y}))
		}
	})
}

// drawMatrix draws for each type that is read a row, and for each that is written a column: tensors, bytes, and the time of launches that
// only convert. It returns the line behind.
func (v *transitionsView) drawMatrix(c *ui.Canvas) int {
	t := v.shown
	n := max(len(t.Types), 1)
	wide := min((c.W-10)/n, 34)
	if wide < 12 || len(t.Types) > c.H/3 { // the list says it, too
		return 0
	}
	c.Fit(1, 0, 8, ui.Muted, "from, to")
	for k, name := range t.Types {
		c.Fit(10+k*wide, 0, wide-2, pane.PrecisionStyle(name)|ui.Bold, name)
		c.Fit(1, 1+k, 8, pane.PrecisionStyle(name)|ui.Bold, name)
	}
	for _, cell := range t.Cells {
		x, y := 10+slices.Index(t.Types, cell.To)*wide, 1+slices.Index(t.Types, cell.From)
		style := ui.Plain
		if cell.From == cell.To {
			style = ui.Muted
		}
		text := fmt.Sprintf("%d, %s", cell.Tensors, ui.Bytes(cell.Bytes))
		if cell.Launches > 0 {
			took := ui.Duration(cell.Time)
			if ui.Width(text)+2+ui.Width(took) > wide-2 { // what it costs is more than how much it is
				text = fmt.Sprint(cell.Tensors)
			}
			x = c.Fit(x, y, wide-2, ui.Warn|ui.Bold, took) + 1
			c.Fit(x, y, max(wide-3-ui.Width(took), 0), style, text)
			continue
		}
		c.Fit(x, y, wide-2, style, text)
	}
	return 1 + len(t.Types)
}

// causes sums up what the conversions are there for.
func (v *transitionsView) causes() string {
	var parts []string
	for _, k := range v.shown.Causes {
		parts = append(parts, fmt.Sprintf("%s %d in %s", k.Cause, k.Count, ui.Duration(k.Time)))
	}
	return strings.Join(parts, ", ")
}
