package tactics

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// tacticsDesk is a desk whose tactics can be measured again.
type tacticsDesk interface {
	pane.Desk
	// Retime has the tactics of a layer timed again, or ends that.
	Retime(layer string) tea.Cmd
	// DropTimings has the timing cache forget what it has of other devices and builds, or all that it has.
	DropTimings(all bool) tea.Cmd
}

// chosenView lists the layers with the tactic of each.
type chosenView struct {
	in    pane.Input
	desk  tacticsDesk
	table ui.Table
}

func newChosenView(look *ui.Look, d tacticsDesk) *chosenView {
	v := &chosenView{in: pane.NewInput(look, report.PartTactics), desk: d}
	v.in.Untimed = "cost model's prices"
	at := func(r int) *report.LayerTactics { return &v.in.Snap.Tactics.Layers[r] }
	duration := func(r int) float64 { return float64(chosen(at(r)).Time) }
	v.table.Columns = []ui.Column{
		{Title: "layer", Name: true, Width: 14, Flex: 4, Cell: func(r int) ui.Cell { return ui.Cell{Text: words.ShortName(at(r).Layer)} }},
		{Title: "tactic", Name: true, Width: 24, Flex: 2, Cell: func(r int) ui.Cell { return v.tactic(at(r)) },
			Order: func(a, b int) int { return cmp.Compare(at(a).Chosen, at(b).Chosen) }},
		{Width: 6, Flex: 1, Priority: 4, Cell: func(r int) ui.Cell {
			if !priced(chosen(at(r))) { // what stands there is a guess
				return ui.Cell{}
			}
			return ui.Cell{Bar: &ui.Bar{Value: duration(r), Max: v.longest(), Style: ui.Series1}}
		}},
		{Title: "time", Width: 9, Align: ui.AlignRight, Down: true,
			Cell:  func(r int) ui.Cell { return timeCell(chosen(at(r))) },
			Order: func(a, b int) int { return cmp.Compare(duration(a), duration(b)) }},
		{Title: "timed", Width: 5, Align: ui.AlignRight, Priority: 5, Cell: func(r int) ui.Cell {
			n := 0
			for _, c := range at(r).Candidates {
				if c.Timed {
					n++
				}
			}
			return ui.Cell{Text: fmt.Sprintf("%d/%d", n, len(at(r).Candidates)), Style: ui.Muted}
		}},
	}
	v.table.Label = func(r int) string { return at(r).Layer + " " + at(r).Op + " " + at(r).Chosen }
	v.table.Empty = "no layer has a tactic"
	return v
}

// tactic writes the chosen tactic; a pinned one is marked.
func (v *chosenView) tactic(l *report.LayerTactics) ui.Cell {
	if v.desk.Want().Pin[l.Layer] != "" {
		return ui.Cell{Text: string(v.in.Look.Glyphs.Point) + l.Chosen, Style: ui.Accent | ui.Bold}
	}
	return ui.Cell{Text: l.Chosen}
}

// chosen returns the candidate that was taken.
func chosen(l *report.LayerTactics) *report.Candidate {
	for i := range l.Candidates {
		if l.Candidates[i].Chosen {
			return &l.Candidates[i]
		}
	}
	return &report.Candidate{}
}

// priced reports whether a candidate has a time that means something: a measurement, or the estimate of a device that has
// no others.
func priced(c *report.Candidate) bool { return c.Timed || c.Ratio > 0 }

func timeCell(c *report.Candidate) ui.Cell {
	switch {
	case c.Timed:
		return ui.Cell{Text: ui.Duration(c.Time)}
	case priced(c):
		return ui.Cell{Text: "~" + ui.Duration(c.Time), Style: ui.Muted}
	}
	return ui.Cell{Text: "not timed", Style: ui.Faint}
}

func (v *chosenView) longest() float64 {
	top := 1.0
	for i := range v.in.Snap.Tactics.Layers {
		if c := chosen(&v.in.Snap.Tactics.Layers[i]); priced(c) {
			top = max(top, float64(c.Time))
		}
	}
	return top
}

func (v *chosenView) Title() string { return "Layers and their tactics" }

func (v *chosenView) Note() (string, ui.Style) {
	text := ""
	if n := len(v.desk.Want().Pin); n > 0 {
		text = fmt.Sprintf("%d pinned", n)
	}
	if v.in.Snap.Retiming != "" {
		return "re-timing one", ui.Accent
	}
	return v.in.Note(text)
}

func (v *chosenView) Keys() []ui.Key {
	return append(v.table.Keys(), v.unpinKey(), retimeKey(v.desk))
}

func retimeKey(d pane.Desk) ui.Key {
	return pane.When(d, pane.NeedsDevice, ui.K("t", "re-time", "measure all tactics of this layer again; once more, or esc, stops"))
}

// unpinKey lets the builder choose for the layer under the cursor, where it is pinned.
func (v *chosenView) unpinKey() ui.Key {
	k := pane.When(v.desk, pane.NeedsModel, ui.K("p", "unpin", "let the builder choose for this layer again"))
	if l := v.layer(); k.Off == "" && (l == nil || v.desk.Want().Pin[l.Layer] == "") {
		k.Off = v.in.Look.Keys("not pinned; choose a candidate in the next pane ({tab}) and press {Tactics p} there")
	}
	return k
}

func (v *chosenView) Update(msg tea.Msg) tea.Cmd {
	was := v.layer()
	if v.in.Take(msg) {
		v.table.Rows = 0
		if t := v.in.Snap.Tactics; t != nil {
			v.table.Rows = len(t.Layers)
		}
		v.table.Refresh()
		if was != nil {
			v.ToLayer(pane.StepRef(was.Layer))
		}
		return nil
	}
	if v.table.Update(msg) {
		return nil
	}
	if l := v.layer(); pane.IsKey(msg, "t") && l != nil {
		return v.desk.Retime(l.Layer)
	}
	if l := v.layer(); pane.IsKey(msg, "p") && l != nil {
		return v.desk.Change(func(c *config.Config) { c.Unpin(l.Layer) })
	}
	return nil
}

// Layer implements pointing.
func (v *chosenView) Layer() (pane.LayerRef, bool) {
	if l := v.layer(); l != nil {
		return pane.StepRef(l.Layer), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *chosenView) ToLayer(l pane.LayerRef) bool {
	t := v.in.Snap.Tactics
	return t != nil && pane.ToRow(&v.table, l, len(t.Layers), func(i int) pane.LayerRef { return pane.StepRef(t.Layers[i].Layer) })
}

func (v *chosenView) layer() *report.LayerTactics {
	if v.in.Snap.Tactics == nil {
		return nil
	}
	if r := v.table.Row(); r >= 0 && r < len(v.in.Snap.Tactics.Layers) {
		return &v.in.Snap.Tactics.Layers[r]
	}
	return nil
}

func (v *chosenView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Tactics == nil {
			v.in.Wait(c, "choice of tactics")
			return
		}
		v.table.Draw(c)
	})
}
