package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// tacticsScreen shows every candidate of every layer with its time, or the reason why it cannot be, and the timing cache.
func tacticsScreen(d *desk) *ui.Screen {
	v := newChosenView(d)
	p := ui.Pane
	return &ui.Screen{
		Key: "7", Name: "Tactics", Views: []ui.View{v, newCandidatesView(v), newCacheView(d)},
		Layouts: []ui.Box{
			ui.Beside(p(0).Share(4), ui.Stack(p(1).Share(3), p(2).Share(2)).Share(5)),
			ui.Stack(p(0), p(1), p(2)),
		},
		Medium: box(ui.Stack(p(0).Share(3), p(1).Share(2), p(2).Lines(7))),
		Narrow: box(ui.Stack(p(0).Share(3), p(1).Share(2), p(2).Lines(4))),
	}
}

// chosenView lists the layers with the tactic of each.
type chosenView struct {
	pane
	table ui.Table
}

func newChosenView(d *desk) *chosenView {
	v := &chosenView{pane: d.pane(sessions.PartTactics)}
	at := func(r int) *sessions.LayerTactics { return &v.snap.Tactics.Layers[r] }
	duration := func(r int) float64 { return float64(chosen(at(r)).Time) }
	v.table.Columns = []ui.Column{
		{Title: "layer", Width: 16, Flex: 4, Cell: func(r int) ui.Cell { return ui.Cell{Text: shortName(at(r).Layer)} }},
		{Title: "tactic", Width: 20, Flex: 2, Cell: func(r int) ui.Cell { return v.tactic(at(r)) },
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
func (v *chosenView) tactic(l *sessions.LayerTactics) ui.Cell {
	if v.want.Pin[l.Layer] != "" {
		return ui.Cell{Text: string(v.Look.Glyphs.Point) + l.Chosen, Style: ui.Accent | ui.Bold}
	}
	return ui.Cell{Text: l.Chosen}
}

// chosen returns the candidate that was taken.
func chosen(l *sessions.LayerTactics) *sessions.CandidateInfo {
	for i := range l.Candidates {
		if l.Candidates[i].Chosen {
			return &l.Candidates[i]
		}
	}
	return &sessions.CandidateInfo{}
}

// priced reports whether a candidate has a time that means something: a measurement, or the estimate of a device that has
// no others.
func priced(c *sessions.CandidateInfo) bool { return c.Timed || c.Ratio > 0 }

func timeCell(c *sessions.CandidateInfo) ui.Cell {
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
	for i := range v.snap.Tactics.Layers {
		if c := chosen(&v.snap.Tactics.Layers[i]); priced(c) {
			top = max(top, float64(c.Time))
		}
	}
	return top
}

func (v *chosenView) Title() string { return "Layers and their tactics" }

func (v *chosenView) Note() (string, ui.Style) {
	text := ""
	if n := len(v.want.Pin); n > 0 {
		text = fmt.Sprintf("%d pinned", n)
	}
	return v.note(text)
}

func (v *chosenView) Keys() []ui.Key {
	return append(v.table.Keys(), ui.K("p", "unpin", "let the builder choose for this layer again"))
}

func (v *chosenView) Update(msg tea.Msg) tea.Cmd {
	if v.take(msg) {
		v.table.Rows = 0
		if t := v.snap.Tactics; t != nil {
			v.table.Rows = len(t.Layers)
		}
		v.table.Refresh()
		return nil
	}
	if v.table.Update(msg) {
		return nil
	}
	if l := v.layer(); isKey(msg, "p") && l != nil {
		if v.want.Pin[l.Layer] == "" {
			return say(ui.Plain, "not pinned; choose a candidate in the next pane (tab) and press p there")
		}
		return v.change(func(c *sessions.Config) { delete(c.Pin, l.Layer); c.Pin = orNil(c.Pin) })
	}
	return nil
}

func (v *chosenView) layer() *sessions.LayerTactics {
	if v.snap.Tactics == nil {
		return nil
	}
	if r := v.table.Row(); r >= 0 && r < len(v.snap.Tactics.Layers) {
		return &v.snap.Tactics.Layers[r]
	}
	return nil
}

func (v *chosenView) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		if v.snap.Tactics == nil {
			v.wait(c, "choice of tactics")
			return
		}
		v.table.Draw(c)
	})
}

// orNil makes an empty map nil, as configurations have them.
func orNil[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return m
}

// candidatesView lists the candidates of the layer under the cursor.
type candidatesView struct {
	*chosenView
	table ui.Table
}

func newCandidatesView(of *chosenView) *candidatesView {
	v := &candidatesView{chosenView: of}
	at := func(r int) *sessions.CandidateInfo { return &of.layer().Candidates[r] }
	v.table.Columns = []ui.Column{
		{Title: "candidate", Width: 27, Flex: 2, Cell: func(r int) ui.Cell { return v.name(at(r)) },
			Order: func(a, b int) int { return cmp.Compare(rank(at(a)), rank(at(b))) }},
		{Width: 6, Flex: 1, Priority: 1, Cell: func(r int) ui.Cell { return v.bar(at(r)) }},
		{Title: "time", Width: 9, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return timeCell(at(r)) }},
		{Title: "ratio", Width: 7, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
			if at(r).Ratio == 0 {
				return ui.Cell{}
			}
			return ui.Cell{Text: fmt.Sprintf("%.2fx", at(r).Ratio)}
		}},
		{Title: "format", Width: 10, Priority: 3, Cell: func(r int) ui.Cell { return ui.Cell{Text: at(r).Format, Style: ui.Muted} }},
		{Title: "why", Width: 12, Flex: 4, Priority: 2, Cell: func(r int) ui.Cell { return v.why(at(r)) }},
	}
	v.table.Empty = "no candidates"
	return v
}

func (v *candidatesView) name(c *sessions.CandidateInfo) ui.Cell {
	g := v.Look.Glyphs
	switch {
	case c.Chosen:
		return ui.Cell{Text: string(g.Good) + " " + c.Tactic, Style: ui.Good | ui.Bold}
	case v.forbidden(c.Tactic):
		return ui.Cell{Text: string(g.Bad) + " " + c.Tactic, Style: ui.Warn}
	case !c.Timed:
		return ui.Cell{Text: "  " + c.Tactic, Style: ui.Muted}
	}
	return ui.Cell{Text: "  " + c.Tactic}
}

func (v *candidatesView) forbidden(tactic string) bool {
	l := v.layer()
	return l != nil && slices.Contains(v.want.Forbid[l.Layer], tactic)
}

func (v *candidatesView) bar(c *sessions.CandidateInfo) ui.Cell {
	top := 1.0
	for _, o := range v.layer().Candidates {
		top = max(top, o.Ratio)
	}
	b := &ui.Bar{Value: c.Ratio, Max: top, Style: ui.Series8}
	if c.Chosen {
		b.Style = ui.Good
	}
	return ui.Cell{Bar: b}
}

func (v *candidatesView) why(c *sessions.CandidateInfo) ui.Cell {
	l := v.layer()
	switch {
	case l != nil && v.want.Pin[l.Layer] == c.Tactic:
		return ui.Cell{Text: "pinned", Style: ui.Accent}
	case v.forbidden(c.Tactic):
		return ui.Cell{Text: "forbidden", Style: ui.Warn}
	case c.Chosen:
		return ui.Cell{Text: strings.TrimSuffix("chosen; "+c.Note, "; "), Style: ui.Good}
	}
	return ui.Cell{Text: c.Remark(), Style: ui.Muted}
}

func (v *candidatesView) Title() string {
	if l := v.layer(); l != nil {
		return "Candidates for " + shortName(l.Layer)
	}
	return "Candidates"
}

func (v *candidatesView) Note() (string, ui.Style) {
	if l := v.layer(); l != nil {
		return v.note(l.Op)
	}
	return v.note("")
}

func (v *candidatesView) Keys() []ui.Key {
	return []ui.Key{
		ui.K("p", "pin", "pin this tactic to the layer, or let the builder choose again"),
		ui.K("x", "forbid", "forbid this tactic for the layer, or allow it again"),
	}
}

func (v *candidatesView) Update(msg tea.Msg) tea.Cmd {
	l := v.layer()
	if _, ok := msg.(*sessions.Snapshot); ok || l == nil {
		return nil
	}
	v.fit(l)
	r := v.table.Row()
	switch {
	case r < 0:
		return nil
	case isKey(msg, "p"):
		return v.pin(l, l.Candidates[r].Tactic)
	case isKey(msg, "x"):
		return v.forbid(l, l.Candidates[r].Tactic)
	}
	v.table.Update(msg)
	return nil
}

// fit shows a layer's candidates: the one chosen, then those that were timed, the fastest first, then the others.
func (v *candidatesView) fit(l *sessions.LayerTactics) {
	v.table.Rows = len(l.Candidates)
	v.table.SortBy(0, false)
}

// rank orders candidates.
func rank(c *sessions.CandidateInfo) float64 {
	switch {
	case c.Chosen:
		return -1
	case c.Timed:
		return c.Ratio
	}
	return math.Inf(1)
}

func (v *candidatesView) pin(l *sessions.LayerTactics, tactic string) tea.Cmd {
	return v.change(func(c *sessions.Config) {
		if c.Pin[l.Layer] == tactic {
			delete(c.Pin, l.Layer)
			c.Pin = orNil(c.Pin)
			return
		}
		if c.Pin == nil {
			c.Pin = map[string]string{}
		}
		c.Pin[l.Layer] = tactic
	})
}

func (v *candidatesView) forbid(l *sessions.LayerTactics, tactic string) tea.Cmd {
	return v.change(func(c *sessions.Config) {
		if c.Forbid == nil {
			c.Forbid = map[string][]string{}
		}
		if c.Forbid[l.Layer] = flip(c.Forbid[l.Layer], tactic); len(c.Forbid[l.Layer]) == 0 {
			delete(c.Forbid, l.Layer)
		}
		c.Forbid = orNil(c.Forbid)
	})
}

func (v *candidatesView) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		l := v.layer()
		if l == nil {
			v.wait(c, "candidates")
			return
		}
		v.fit(l)
		note := min(2, h/5)
		v.table.Draw(c.Sub(ui.Rect{W: w, H: h - note}))
		if r := v.table.Row(); r >= 0 {
			why := v.why(&l.Candidates[r])
			for y, line := range ui.Wrap(l.Candidates[r].Tactic+": "+why.Text, w-2) {
				if y < note {
					c.Fit(1, h-note+y, w-2, why.Style, line)
				}
			}
		}
	})
}
