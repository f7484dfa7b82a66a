package graph

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// passesView lists the passes; its cursor chooses the network that the right side shows.
// On its other side it shows what their rules are worth.
type passesView struct {
	g        *graphs
	ablate   func() tea.Cmd // has that measured
	ablation *ablationView
	other    bool
}

func newPassesView(g *graphs, ablate func() tea.Cmd) *passesView {
	v := &passesView{g: g, ablate: ablate, ablation: newAblationView(g.look(), g.desk)}
	step := func(r int) *report.PassStep {
		p := g.snap().Passes
		switch r -= before(p); {
		case r < 0:
			return p.Dropped
		case r < len(p.Steps):
			return &p.Steps[r]
		}
		return nil
	}
	number := func(title string, width, priority int, value func(*report.PassStep) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Cell: func(r int) ui.Cell {
			st := step(r)
			if st == nil {
				return ui.Cell{}
			}
			text := value(st)
			if text == "0" {
				return ui.Cell{Text: text, Style: ui.Faint}
			}
			return ui.Cell{Text: text}
		}}
	}
	g.passes = ui.Table{
		Columns: []ui.Column{
			{Title: "pass", Width: 25, Flex: 2, Cell: func(r int) ui.Cell {
				st := step(r)
				if st == nil {
					text := "   engine as planned"
					if v.g.snap().Refused() {
						text = "   after all passes"
					}
					return ui.Cell{Text: text, Style: ui.Bold}
				}
				style := ui.Plain
				if len(st.Fired) == 0 {
					style = ui.Muted
				}
				off := 0
				for _, m := range st.Missed {
					if m.Reason == disabled {
						off++
					}
				}
				if off > 0 {
					return ui.Cell{Text: fmt.Sprintf("%2d %s, %d off", r+1-before(g.snap().Passes), st.Pass, off), Style: ui.Warn}
				}
				return ui.Cell{Text: fmt.Sprintf("%2d %s", r+1-before(g.snap().Passes), st.Pass), Style: style}
			}},
			{Width: 6, Flex: 1, Priority: 4, Cell: func(r int) ui.Cell {
				st := step(r)
				if st == nil || len(st.Fired) == 0 {
					return ui.Cell{}
				}
				return ui.Cell{Bar: &ui.Bar{Value: float64(len(st.Fired)), Max: v.most(), Style: ui.Series1}}
			}},
			number("applied", 7, 0, func(s *report.PassStep) string { return fmt.Sprint(len(s.Fired)) }),
			number("rejected", 8, 2, func(s *report.PassStep) string { return fmt.Sprint(len(s.Missed)) }),
			number("layers", 6, 0, func(s *report.PassStep) string { return fmt.Sprint(s.Layers) }),
			number("time", 9, 3, func(s *report.PassStep) string { return ui.Duration(s.Elapsed) }),
		},
		Empty: "no passes ran",
	}
	return v
}

// most returns the largest number of rewrites of one pass.
func (v *passesView) most() float64 {
	n := 1
	for _, s := range v.g.snap().Passes.Steps {
		n = max(n, len(s.Fired))
	}
	return float64(n)
}

func (v *passesView) Title() string {
	if v.other {
		return v.ablation.Title()
	}
	return "Passes"
}

func (v *passesView) Keys() []ui.Key {
	return append(append(v.g.keys(),
		ui.K("v", "view", "passes / what each rule is worth"),
		pane.When(v.g.desk, pane.NeedsRun, ui.Key{Keys: []string{"A"}, Short: "ablation", Long: "measure what each rule is worth: the engine without it beside the one with all", Words: []string{"ablation", "ablate", "worth"}})),
		v.ablation.Keys()...)
}

func (v *passesView) Note() (string, ui.Style) {
	if v.other {
		return v.ablation.Note()
	}
	p := v.g.snap().Passes
	if p == nil {
		return "", ui.Muted
	}
	return v.g.state.in.Note(Ledger(p, v.g.state.in.Snap.Overview))
}

func (v *passesView) Update(msg tea.Msg) tea.Cmd {
	switch {
	case pane.IsKey(msg, "v"):
		v.other = !v.other
		return nil
	case pane.IsKey(msg, "A"):
		v.other = true
		return v.ablate()
	}
	if _, ok := msg.(*report.Snapshot); !ok && v.other {
		if key, ok := msg.(tea.KeyPressMsg); ok && pane.Has(v.g.keys(), key.String()) {
			return v.g.key(key.String())
		}
		return v.ablation.Update(msg)
	}
	switch msg := msg.(type) {
	case *report.Snapshot:
		v.ablation.Update(msg)
		v.g.state.take(msg)
		if p := msg.Passes; p != nil && v.g.passes.Rows != before(p)+len(p.Steps)+1 {
			v.g.passes.Rows = before(p) + len(p.Steps) + 1
			v.g.passes.Refresh()
			at := v.g.state.step
			if at == engineStep {
				at = len(p.Steps)
			}
			v.g.passes.Select(before(p) + at)
		}
	case tea.KeyPressMsg:
		if name := msg.String(); !pane.Has(v.g.keys(), name) && v.g.passes.Update(msg) {
			v.choose()
		} else {
			return v.g.key(name)
		}
	default: // a click, a filter
		if v.g.passes.Update(msg) {
			v.choose()
		}
	}
	return nil
}

func (v *passesView) choose() {
	p := v.g.snap().Passes
	if p == nil {
		return
	}
	if r := v.g.passes.Row() - before(p); r >= 0 { // what was dropped left the source, which is on the other side
		v.g.show(r)
	}
}

func (v *passesView) Render(w, h int) string {
	if v.other {
		return v.ablation.Render(w, h)
	}
	return v.g.look().Render(w, h, func(c *ui.Canvas) {
		if v.g.snap().Passes == nil {
			v.g.state.in.Wait(c, "passes")
			return
		}
		v.g.passes.Draw(c)
	})
}

// Ledger says how many layers the passes left of how many, and what that saves; o is nil where the engine is not known. Of the layers
// that extents decide the plan has no steps.
func Ledger(p *report.Passes, o *report.Overview) string {
	noun := "engine layer"
	for i := range p.Source {
		if p.Source[i].Unsupported != "" { // there is no engine
			noun = "layer"
			break
		}
	}
	text := ""
	if p.Dropped != nil {
		text = "requantised, "
	}
	text += fmt.Sprintf("%d source to %s", len(p.Source), words.Plural(len(p.Engine), noun))
	if o != nil && o.Known > 0 && o.Engine+o.Known == len(p.Engine) {
		text += fmt.Sprintf(", %d that extents decide", o.Known)
	}
	if p.BytesSaved > 0 {
		text += ", saves " + ui.Bytes(p.BytesSaved) + " of traffic"
	}
	return text
}
