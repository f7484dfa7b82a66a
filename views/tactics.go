package views

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// tacticsDesk is a desk whose tactics can be measured again.
type tacticsDesk interface {
	desk
	// Retime has the tactics of a layer timed again, or ends that.
	Retime(layer string) tea.Cmd
	// DropTimings has the timing cache forget what it has of other devices and builds, or all that it has.
	DropTimings(all bool) tea.Cmd
}

// chosenView lists the layers with the tactic of each.
type chosenView struct {
	in    input
	desk  tacticsDesk
	table ui.Table
}

func newChosenView(look *ui.Look, d tacticsDesk) *chosenView {
	v := &chosenView{in: newInput(look, report.PartTactics), desk: d}
	v.in.untimed = "cost model's prices"
	at := func(r int) *report.LayerTactics { return &v.in.snap.Tactics.Layers[r] }
	duration := func(r int) float64 { return float64(chosen(at(r)).Time) }
	v.table.Columns = []ui.Column{
		{Title: "layer", Name: true, Width: 16, Flex: 4, Cell: func(r int) ui.Cell { return ui.Cell{Text: shortName(at(r).Layer)} }},
		{Title: "tactic", Name: true, Width: 20, Flex: 2, Cell: func(r int) ui.Cell { return v.tactic(at(r)) },
			Order: func(a, b int) int { return cmp.Compare(at(a).Chosen, at(b).Chosen) }},
		{Width: 6, Flex: 1, Priority: 1, Cell: func(r int) ui.Cell {
			if !priced(chosen(at(r))) { // what stands there is a guess
				return ui.Cell{}
			}
			return ui.Cell{Bar: &ui.Bar{Value: duration(r), Max: v.longest(), Style: ui.Series1}}
		}},
		{Title: "time", Width: 9, Align: ui.AlignRight, Down: true,
			Cell:  func(r int) ui.Cell { return timeCell(chosen(at(r))) },
			Order: func(a, b int) int { return cmp.Compare(duration(a), duration(b)) }},
		{Title: "timed", Width: 5, Align: ui.AlignRight, Priority: 2, Cell: func(r int) ui.Cell {
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
		return ui.Cell{Text: string(v.in.look.Glyphs.Point) + l.Chosen, Style: ui.Accent | ui.Bold}
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
	for i := range v.in.snap.Tactics.Layers {
		if c := chosen(&v.in.snap.Tactics.Layers[i]); priced(c) {
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
	if v.in.snap.Retiming != "" {
		return "re-timing one", ui.Accent
	}
	return v.in.note(text)
}

func (v *chosenView) Keys() []ui.Key {
	return append(v.table.Keys(), v.unpinKey(), retimeKey(v.desk))
}

func retimeKey(d desk) ui.Key {
	return when(d, needsDevice, ui.K("t", "re-time", "measure all tactics of this layer again; t again, or esc, stops"))
}

// unpinKey lets the builder choose for the layer under the cursor, where it is pinned.
func (v *chosenView) unpinKey() ui.Key {
	k := when(v.desk, needsModel, ui.K("p", "unpin", "let the builder choose for this layer again"))
	if l := v.layer(); k.Off == "" && (l == nil || v.desk.Want().Pin[l.Layer] == "") {
		k.Off = "not pinned; choose a candidate in the next pane (tab) and press p there"
	}
	return k
}

func (v *chosenView) Update(msg tea.Msg) tea.Cmd {
	was := v.layer()
	if v.in.take(msg) {
		v.table.Rows = 0
		if t := v.in.snap.Tactics; t != nil {
			v.table.Rows = len(t.Layers)
		}
		v.table.Refresh()
		if was != nil {
			v.ToLayer(stepRef(was.Layer))
		}
		return nil
	}
	if v.table.Update(msg) {
		return nil
	}
	if l := v.layer(); isKey(msg, "t") && l != nil {
		return v.desk.Retime(l.Layer)
	}
	if l := v.layer(); isKey(msg, "p") && l != nil {
		return v.desk.Change(func(c *config.Config) { c.Unpin(l.Layer) })
	}
	return nil
}

// Layer implements pointing.
func (v *chosenView) Layer() (layerRef, bool) {
	if l := v.layer(); l != nil {
		return stepRef(l.Layer), true
	}
	return layerRef{}, false
}

// ToLayer implements following.
func (v *chosenView) ToLayer(l layerRef) bool {
	t := v.in.snap.Tactics
	return t != nil && toRow(&v.table, l, len(t.Layers), func(i int) layerRef { return stepRef(t.Layers[i].Layer) })
}

func (v *chosenView) layer() *report.LayerTactics {
	if v.in.snap.Tactics == nil {
		return nil
	}
	if r := v.table.Row(); r >= 0 && r < len(v.in.snap.Tactics.Layers) {
		return &v.in.snap.Tactics.Layers[r]
	}
	return nil
}

func (v *chosenView) Render(w, h int) string {
	return v.in.look.Render(w, h, func(c *ui.Canvas) {
		if v.in.snap.Tactics == nil {
			v.in.wait(c, "choice of tactics")
			return
		}
		v.table.Draw(c)
	})
}
