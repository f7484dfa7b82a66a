package tactics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// candidatesView lists the candidates of the layer under the cursor.
type candidatesView struct {
	of    *chosenView
	table ui.Table
	rows  []candidateRow
	shown struct{ layer, tactic string } // what the cursor is on
	open  map[string]bool                // families that are unfolded, of any layer
}

// candidateRow is a candidate, or a family of those that cannot compute the layer.
type candidateRow struct {
	*report.Candidate
	family *report.TacticFamily // of the candidate, if it is one of a family's that is unfolded
}

// folder reports whether the row stands for a family.
func (r candidateRow) folder() bool { return r.Candidate == nil }

// label is what the cursor stays on, and filters look at.
func (r candidateRow) label() string {
	if r.folder() {
		return r.family.Name
	}
	return r.Tactic
}

func newCandidatesView(of *chosenView) *candidatesView {
	v := &candidatesView{of: of, open: map[string]bool{}}
	// of a family's row there is but a name and a reason
	cell := func(of func(c *report.Candidate) ui.Cell) func(int) ui.Cell {
		return func(r int) ui.Cell {
			if v.rows[r].folder() {
				return ui.Cell{}
			}
			return of(v.rows[r].Candidate)
		}
	}
	v.table.Columns = []ui.Column{
		{Title: "candidate", Name: true, Width: 27, Flex: 2, Cell: func(r int) ui.Cell { return v.name(v.rows[r]) },
			Order: func(a, b int) int { return cmp.Compare(v.rows[a].rank(), v.rows[b].rank()) }},
		{Width: 6, Flex: 1, Priority: 4, Cell: cell(v.bar)},
		{Title: "time", Width: 9, Align: ui.AlignRight, Cell: cell(v.time)},
		{Title: "ratio", Width: 7, Align: ui.AlignRight, Cell: cell(func(c *report.Candidate) ui.Cell {
			if c.Ratio == 0 {
				return ui.Cell{}
			}
			return ui.Cell{Text: fmt.Sprintf("%.2fx", c.Ratio), Style: v.out(c)}
		})},
		{Title: "format", Name: true, Width: 10, Flex: 1, Priority: 6, Cell: cell(func(c *report.Candidate) ui.Cell { return ui.Cell{Text: c.Format, Style: ui.Muted} })},
		{Title: "why", Width: 16, Flex: 8, Priority: 5, Cell: func(r int) ui.Cell { return v.why(v.rows[r]) }},
	}
	v.table.Empty = "no candidates"
	return v
}

func (v *candidatesView) name(r candidateRow) ui.Cell {
	g, c := v.of.in.Look.Glyphs, r.Candidate
	switch {
	case r.folder() && v.open[r.family.Name]:
		return ui.Cell{Text: "- " + r.family.Name, Style: ui.Muted}
	case r.folder():
		return ui.Cell{Text: fmt.Sprintf("+ %s: %d", r.family.Name, r.family.Tactics), Style: ui.Muted}
	case c.Chosen:
		return ui.Cell{Text: string(g.Good) + " " + c.Tactic, Style: ui.Good | ui.Bold}
	case v.forbidden(c.Tactic):
		return ui.Cell{Text: string(g.Bad) + " " + c.Tactic, Style: ui.Warn}
	case r.family != nil:
		return ui.Cell{Text: "    " + c.Tactic, Style: ui.Faint}
	case !c.Timed:
		return ui.Cell{Text: "  " + c.Tactic, Style: ui.Muted}
	}
	return ui.Cell{Text: "  " + c.Tactic, Style: v.out(c)}
}

// out is the style of a candidate that was kept out by a pin or forbidden: muted, though its time is known.
func (v *candidatesView) out(c *report.Candidate) ui.Style {
	t, layer := v.of.in.Snap.Tactics, v.of.layer().Layer
	if !c.Chosen && (t.Pinned[layer] != "" || slices.Contains(t.Forbidden[layer], c.Tactic)) {
		return ui.Muted
	}
	return ui.Plain
}

func (v *candidatesView) time(c *report.Candidate) ui.Cell {
	cell := timeCell(c)
	cell.Style = cmp.Or(cell.Style, v.out(c))
	return cell
}

func (v *candidatesView) forbidden(tactic string) bool {
	l := v.of.layer()
	return l != nil && slices.Contains(v.of.desk.Want().Forbid[l.Layer], tactic)
}

func (v *candidatesView) bar(c *report.Candidate) ui.Cell {
	top := 1.0
	for _, o := range v.of.layer().Candidates {
		top = max(top, o.Ratio)
	}
	b := &ui.Bar{Value: c.Ratio, Max: top, Style: ui.Series8}
	if c.Chosen {
		b.Style = ui.Good
	}
	return ui.Cell{Bar: b}
}

func (v *candidatesView) why(r candidateRow) ui.Cell {
	l, c := v.of.layer(), r.Candidate
	switch {
	case r.folder():
		return ui.Cell{Text: r.family.String(), Style: ui.Muted}
	case l != nil && v.of.desk.Want().Pin[l.Layer] == c.Tactic:
		return ui.Cell{Text: "pinned", Style: ui.Accent}
	case v.forbidden(c.Tactic):
		return ui.Cell{Text: "forbidden", Style: ui.Warn}
	case c.Chosen:
		return ui.Cell{Text: strings.TrimSuffix("chosen; "+c.Note, "; "), Style: ui.Good}
	}
	return ui.Cell{Text: c.Remark(), Style: ui.Muted}
}

// Named implements ui.Named.
func (v *candidatesView) Named() string {
	if l := v.of.layer(); l != nil {
		return words.ShortName(l.Layer)
	}
	return ""
}

func (v *candidatesView) Title() string {
	if l := v.of.layer(); l != nil {
		return "Candidates for " + words.ShortName(l.Layer)
	}
	return "Candidates"
}

func (v *candidatesView) Note() (string, ui.Style) {
	switch l := v.of.layer(); {
	case l != nil && l.Layer == v.of.in.Snap.Retiming:
		return "re-timing, esc stops", ui.Accent
	case l != nil && l.Tried() != "":
		return v.of.in.Note(l.Op + ": " + l.Tried())
	case l != nil:
		return v.of.in.Note(l.Op)
	}
	return v.of.in.Note("")
}

func (v *candidatesView) Keys() []ui.Key {
	fold := ui.K("enter", "fold", "list the tactics of this family one by one, or fold them again")
	if r := v.table.Row(); r < 0 || r >= len(v.rows) || v.rows[r].family == nil {
		fold.Off = "not a family of tactics that cannot compute the layer"
	}
	return []ui.Key{
		pane.When(v.of.desk, pane.NeedsModel, ui.K("p", "pin", "pin this tactic to the layer, or let the builder choose again")),
		pane.When(v.of.desk, pane.NeedsModel, ui.K("x", "forbid", "forbid this tactic for the layer, or allow it again")),
		retimeKey(v.of.desk), fold,
	}
}

// Layer implements pointing.
func (v *candidatesView) Layer() (pane.LayerRef, bool) { return v.of.Layer() }

func (v *candidatesView) Update(msg tea.Msg) tea.Cmd {
	l := v.of.layer()
	if _, ok := msg.(*report.Snapshot); ok || l == nil {
		return nil
	}
	v.fit(l)
	at := v.table.Row()
	if at < 0 {
		return nil
	}
	switch r := v.rows[at]; {
	case pane.IsKey(msg, "enter") && r.family != nil:
		v.fold(l, r.family)
		return nil
	case pane.IsKey(msg, "t"):
		return v.of.desk.Retime(l.Layer)
	case r.folder() && (pane.IsKey(msg, "p") || pane.IsKey(msg, "x")):
		return pane.Say(ui.Warn, "none of these can compute the layer; press enter to list them")
	case pane.IsKey(msg, "p"):
		return v.pin(l, r.Candidate)
	case pane.IsKey(msg, "x"):
		return v.forbid(l, r.Tactic)
	}
	v.table.Update(msg)
	v.shown.tactic = v.rows[v.table.Row()].label()
	return nil
}

// fold unfolds a family, and the cursor goes to the first of its tactics, or folds it, and the cursor goes to its row.
func (v *candidatesView) fold(l *report.LayerTactics, f *report.TacticFamily) {
	v.open[f.Name] = !v.open[f.Name]
	if v.shown.tactic = f.Name; v.open[f.Name] {
		v.shown.tactic = l.Candidates[f.Candidates[0]].Tactic
	}
	v.fit(l)
}

// list makes the rows of a layer: families come last, each one's candidates behind it where it is unfolded.
func (v *candidatesView) list(l *report.LayerTactics) {
	v.rows = v.rows[:0]
	single, families := l.Folded()
	for _, i := range single {
		v.rows = append(v.rows, candidateRow{Candidate: &l.Candidates[i]})
	}
	for i := range families {
		f := &families[i]
		v.rows = append(v.rows, candidateRow{family: f})
		if v.open[f.Name] {
			for _, k := range f.Candidates {
				v.rows = append(v.rows, candidateRow{&l.Candidates[k], f})
			}
		}
	}
}

// fit shows a layer's candidates: the one chosen, then those that were timed, the fastest first, then the others. The cursor
// stays on its tactic wherever that goes; with another layer it begins at the top.
func (v *candidatesView) fit(l *report.LayerTactics) {
	v.list(l)
	v.table.Rows = len(v.rows)
	v.table.SortBy(0, false)
	row := slices.IndexFunc(v.rows, func(r candidateRow) bool { return r.label() == v.shown.tactic })
	if l.Layer != v.shown.layer || row < 0 {
		v.table.Top()
		v.shown.layer, v.shown.tactic = l.Layer, ""
		if row = v.table.Row(); row >= 0 {
			v.shown.tactic = v.rows[row].label()
		}
		return
	}
	v.table.Select(row)
}

// rank orders candidates.
func (r candidateRow) rank() float64 {
	switch {
	case r.folder() || r.family != nil:
		return math.Inf(1)
	case r.Chosen:
		return -1
	case r.Timed, r.Ratio > 0:
		return r.Ratio
	case r.Unfit:
		return math.MaxFloat64
	}
	return math.MaxFloat32
}

// pin pins a tactic to the layer, which allows it again if it was forbidden; or lets the builder choose again. A tactic that
// cannot compute the layer is refused.
func (v *candidatesView) pin(l *report.LayerTactics, candidate *report.Candidate) tea.Cmd {
	tactic := candidate.Tactic
	if v.of.desk.Want().Pin[l.Layer] != tactic {
		switch {
		case candidate.Unfit:
			return pane.Say(ui.Warn, tactic+" cannot be pinned: "+candidate.Reason)
		case l.Chosen == report.InMemory:
			return pane.Say(ui.Warn, tactic+" cannot be pinned: "+words.ShortName(l.Layer)+" only arranges memory and launches nothing")
		}
	}
	return v.of.desk.Change(func(c *config.Config) { c.FlipPin(l.Layer, tactic) })
}

// forbid forbids a tactic for the layer, which unpins it; or allows it again.
func (v *candidatesView) forbid(l *report.LayerTactics, tactic string) tea.Cmd {
	return v.of.desk.Change(func(c *config.Config) { c.FlipForbid(l.Layer, tactic) })
}

func (v *candidatesView) Render(w, h int) string {
	return v.of.in.Look.Render(w, h, func(c *ui.Canvas) {
		l := v.of.layer()
		if l == nil {
			v.of.in.Wait(c, "candidates")
			return
		}
		v.fit(l)
		note := min(2, h/5)
		v.table.Draw(c.Sub(ui.Rect{W: w, H: h - note}))
		if r := v.table.Row(); r >= 0 {
			why := v.why(v.rows[r])
			for y, line := range ui.Wrap(v.rows[r].label()+": "+why.Text, w-2) {
				if y < note {
					c.Fit(1, h-note+y, w-2, why.Style, line)
				}
			}
		}
	})
}
