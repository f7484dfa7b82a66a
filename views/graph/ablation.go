package graph

import (
	"cmp"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// ablationView shows what each rule is worth: the engine without it beside the one with all, in the same rounds. Bars go to the right
// where the rule makes it faster; marks are the ends of the interval, and what is noise has no colour.
type ablationView struct {
	in    pane.Input
	desk  pane.Desk
	table ui.Table
}

func newAblationView(look *ui.Look, d pane.Desk) *ablationView {
	v := &ablationView{in: pane.NewInput(look, report.PartAblation), desk: d}
	at := func(r int) *report.AblationRow { return &v.in.Snap.Ablation.Rows[r] }
	v.table.Columns = []ui.Column{
		{Title: "rule", Name: true, Width: 14, Flex: 1, Cell: func(r int) ui.Cell { return ui.Cell{Text: at(r).Rule} }, Order: func(a, b int) int { return cmp.Compare(at(a).Rule, at(b).Rule) }},
		{Title: "slower" + string(look.Glyphs.Wall) + "faster", Width: 13, Flex: 3, Align: ui.AlignZero, Cell: func(r int) ui.Cell { return v.bar(at(r)) }},
		{Title: "worth", Width: 7, Priority: 2, Align: ui.AlignRight, Down: true, Cell: func(r int) ui.Cell { return v.worth(at(r)) },
			Order: func(a, b int) int { return cmp.Compare(at(a).Worth.Ratio, at(b).Worth.Ratio) }},
		{Title: "is it real?", Width: 15, Cell: func(r int) ui.Cell { return v.verdict(at(r)) }},
		{Title: "without", Width: 9, Priority: 3, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
			if at(r).Without == 0 {
				return ui.Cell{}
			}
			return ui.Cell{Text: ui.Duration(at(r).Without)}
		}},
		{Title: "places", Width: 6, Priority: 4, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: fmt.Sprint(at(r).Sites), Style: ui.Muted} }},
	}
	v.table.Empty = "no rule has been measured yet"
	return v
}

// style is the colour of what a rule is worth: none where it may be noise.
func (v *ablationView) style(r *report.AblationRow) ui.Style {
	switch s := r.Worth; {
	case r.Err != "":
		return ui.Warn
	case r.Same || !s.Significant:
		return ui.Muted
	case s.Ratio >= 1:
		return ui.Good
	}
	return ui.Bad
}

func (v *ablationView) bar(r *report.AblationRow) ui.Cell {
	if r.Err != "" {
		return ui.Cell{}
	}
	most := 0.01
	for i := range v.in.Snap.Ablation.Rows {
		s := v.in.Snap.Ablation.Rows[i].Worth
		for _, x := range []float64{s.Ratio, s.Low, s.High} {
			if x > 0 {
				most = max(most, x-1, 1-x)
			}
		}
	}
	b := &ui.Bar{Value: r.Worth.Ratio - 1, Min: -most, Max: most, Style: v.style(r)}
	if r.Worth.Known() && r.Worth.Low != r.Worth.High {
		b.Marks = []ui.BarMark{{Value: r.Worth.Low - 1, Style: ui.Muted}, {Value: r.Worth.High - 1, Style: ui.Muted}}
	}
	return ui.Cell{Bar: b}
}

func (v *ablationView) worth(r *report.AblationRow) ui.Cell {
	if r.Err != "" {
		return ui.Cell{Text: "-", Style: ui.Muted}
	}
	return ui.Cell{Text: fmt.Sprintf("%+.1f%%", 100*(r.Worth.Ratio-1)), Style: v.style(r)}
}

func (v *ablationView) verdict(r *report.AblationRow) ui.Cell {
	style := v.style(r)
	switch s := r.Worth; {
	case r.Err != "":
		return ui.Cell{Text: "none without it", Style: style}
	case r.Same:
		return ui.Cell{Text: "the same engine", Style: style}
	case !s.Significant:
		return ui.Cell{Text: "not significant", Style: style}
	case s.Known():
		return ui.Cell{Text: fmt.Sprintf("%+.1f to %+.1f%%", 100*(s.Low-1), 100*(s.High-1)), Style: style}
	}
	return ui.Cell{Text: "estimated", Style: style}
}

func (v *ablationView) Title() string { return "What each rule is worth" }

func (v *ablationView) Note() (string, ui.Style) {
	a := v.in.Snap.Ablation
	if a == nil {
		return "", ui.Muted
	}
	text := ui.Duration(a.Median) + " with all rules"
	if a.Left > 0 {
		text = fmt.Sprintf("%d to measure, ", a.Left) + text
	}
	if !a.Base.SameEngine(v.in.Snap.Config, pane.OwnRanges(v.in.Snap)) {
		return "of " + a.Base.Label(pane.OwnRanges(v.in.Snap)) + ", " + text, ui.Warn
	}
	return v.in.Note(text)
}

func (v *ablationView) Keys() []ui.Key { return v.table.Keys() }

func (v *ablationView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.table.Rows = 0
		if a := v.in.Snap.Ablation; a != nil {
			v.table.Rows = len(a.Rows)
		}
		v.table.Refresh()
		return nil
	}
	v.table.Update(msg)
	return nil
}

func (v *ablationView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Ablation != nil {
			v.table.Draw(c)
			return
		}
		v.in.Unmeasured(c, v.desk, pane.NeedsRun, "each rule off in turn, beside the engine with all of them", "{Graph A} measures it")
	})
}
