package accuracy

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// layersView is the pane of layers on the Accuracy screen: their errors, what raising them wins, or the search for their precisions.
type layersView struct {
	desk   pane.Desk
	study  func(*report.Goal) tea.Cmd // finds the sensitivity of layers, or with a goal searches
	errors *errorsView                // the first of the views, of which the pane below is, whichever is shown
	views  [3]noted
	shown  int
}

// noted is a view with a note.
type noted interface {
	ui.View
	Note() (string, ui.Style)
}

// Which of the views is shown.
const (
	shownErrors = iota
	shownSensitivity
	shownSearch
)

func newLayersView(look *ui.Look, errors *errorsView, d pane.Desk, study func(*report.Goal) tea.Cmd) *layersView {
	return &layersView{desk: d, study: study, errors: errors, views: [3]noted{errors, newSensitivityView(look, d), newSearchView(look, d)}}
}

func (v *layersView) view() noted { return v.views[v.shown] }

func (v *layersView) Title() string { return v.view().Title() }

// Named implements ui.Named.
func (v *layersView) Named() string { return ui.NameOf(v.view()) }

func (v *layersView) Note() (string, ui.Style) { return v.view().Note() }

func (v *layersView) Render(w, h int) string { return v.view().Render(w, h) }

func (v *layersView) Keys() []ui.Key {
	keys := append(v.own(), v.view().Keys()...)
	if v.shown != shownErrors {
		keys = append(keys, v.errors.shared()...)
	}
	return keys
}

// AllKeys returns the keys of all views.
func (v *layersView) AllKeys() []ui.Key {
	keys := append(v.own(), raiseKey(v.desk))
	for _, one := range v.views {
		keys = append(keys, one.Keys()...)
	}
	return keys
}

func (v *layersView) own() []ui.Key {
	return []ui.Key{
		ui.K("v", "view", "error of each layer / what raising each wins / search"),
		pane.When(v.desk, pane.NeedsChoice, ui.K("S", "sensitivity", "raise one layer after the other: what that wins and costs")),
		pane.When(v.desk, pane.NeedsChoice, ui.K("B", "search", "search for the precision of every layer that meets a goal")),
	}
}

// Layer implements pointing.
func (v *layersView) Layer() (pane.LayerRef, bool) { return pane.LayerAt(v.view()) }

// ToLayer implements following: what is not shown follows, too.
func (v *layersView) ToLayer(l pane.LayerRef) bool {
	has := false
	for i, one := range v.views {
		if pane, ok := one.(pane.Following); ok && pane.ToLayer(l) && i == v.shown {
			has = true
		}
	}
	return has
}

func (v *layersView) Update(msg tea.Msg) tea.Cmd {
	if _, ok := msg.(*report.Snapshot); ok {
		var all []tea.Cmd
		for _, one := range v.views {
			all = append(all, one.Update(msg))
		}
		return tea.Batch(all...)
	}
	switch {
	case pane.IsKey(msg, "v"):
		v.shown = (v.shown + 1) % len(v.views)
	case pane.IsKey(msg, "S"):
		v.shown = shownSensitivity
		return v.study(nil)
	case pane.IsKey(msg, "B"):
		return v.chooseGoal()
	case v.shown != shownErrors && slices.ContainsFunc(v.errors.shared(), func(k ui.Key) bool { return pane.IsKey(msg, k.Keys[0]) }):
		return v.errors.press(msg)
	default:
		return v.view().Update(msg)
	}
	return nil
}

// chooseGoal asks what a search is to reach, and begins it.
func (v *layersView) chooseGoal() tea.Cmd {
	points := func(v float64) report.Goal { return report.Goal{MaxDrop: &v} }
	decibels := func(v float64) report.Goal { return report.Goal{MinSQNR: &v} }
	share := func(v float64) report.Goal { return report.Goal{MinAgreement: &v} }
	goals := []report.Goal{points(0.1), points(0.5), points(1), share(0.99), share(0.999), decibels(30), decibels(40), decibels(50)}
	var items []string
	for _, g := range goals {
		items = append(items, "least time with "+g.String())
	}
	return ui.Open(&ui.Choice{Name: "Search for the precision of every layer", Items: items, Active: -1, Pick: func(i int) tea.Cmd {
		v.shown = shownSearch
		return v.study(&goals[i])
	}})
}

// sensitivityView shows what raising each layer wins, as bars to either side of nothing.
type sensitivityView struct {
	in    pane.Input
	desk  pane.Desk
	table ui.Table
}

func newSensitivityView(look *ui.Look, d pane.Desk) *sensitivityView {
	v := &sensitivityView{in: pane.NewInput(look, report.PartSensitivity), desk: d}
	at := func(r int) *report.Sensitive { return &v.in.Snap.Sensitivity.Layers[r] }
	number := func(title string, width, priority int, text func(*report.Sensitive) string) ui.Column {
		return ui.Column{Title: title, Width: width, Priority: priority, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: text(at(r))} }}
	}
	v.table.Columns = []ui.Column{
		{Title: "layer", Name: true, Width: 18, Flex: 3, Cell: func(r int) ui.Cell {
			style := ui.Plain
			if l := v.in.Snap.Sensitivity.Raise; l != nil && raises(l, at(r)) {
				style = ui.Bold
			}
			return ui.Cell{Text: sensitiveName(at(r)), Style: style}
		}},
		{Title: "gain", Width: 13, Flex: 2, Cell: func(r int) ui.Cell { return v.bar(at(r)) }},
		number("dB", 7, 0, func(l *report.Sensitive) string { return fmt.Sprintf("%+.2f", l.Gain) }),
		number("costs", 9, 1, func(l *report.Sensitive) string { return ui.Duration(l.Time) }),
		number("alone dB", 8, 3, func(l *report.Sensitive) string { return words.Decibels(l.Alone) }),
		number("weights", 9, 4, func(l *report.Sensitive) string { return words.MoreBytes(l.Weights) }),
		number("arena", 9, 5, func(l *report.Sensitive) string { return words.MoreBytes(l.Arena) }),
		{Title: "", Width: 5, Priority: 2, Cell: func(r int) ui.Cell {
			if l := v.in.Snap.Sensitivity.Raise; l != nil && raises(l, at(r)) {
				return ui.Cell{Text: "raise", Style: ui.Good}
			}
			return ui.Cell{}
		}},
	}
	v.table.Label = func(r int) string { return at(r).Name }
	v.table.Empty = "no layer has been raised yet"
	return v
}

func raises(l *report.RaiseList, s *report.Sensitive) bool {
	for _, name := range l.Names {
		if name == s.Name {
			return true
		}
	}
	return false
}

func sensitiveName(s *report.Sensitive) string {
	if s.Group {
		return fmt.Sprintf("%s +%d, one scale", words.ShortName(s.Layers[0]), len(s.Layers)-1)
	}
	return words.ShortName(s.Name)
}

// bar draws a gain to the right of nothing, a loss to the left, on one scale for all.
func (v *sensitivityView) bar(s *report.Sensitive) ui.Cell {
	b := &ui.Bar{Value: s.Gain, Style: ui.Good}
	if s.Gain < 0 {
		b.Style = ui.Bad
	}
	most := 1e-9
	for i := range v.in.Snap.Sensitivity.Layers {
		l := &v.in.Snap.Sensitivity.Layers[i]
		most = max(most, l.Gain, -l.Gain)
	}
	b.Min, b.Max = -most, most
	return ui.Cell{Bar: b}
}

func (v *sensitivityView) Title() string { return "Layers: what raising each wins" }

func (v *sensitivityView) Note() (string, ui.Style) {
	s := v.in.Snap.Sensitivity
	if s == nil {
		return "", ui.Muted
	}
	of := ""
	if !s.Config.SameEngine(v.in.Snap.Config, pane.OwnRanges(v.in.Snap)) {
		of = "of " + s.Config.Label(false) + ": "
	}
	text := fmt.Sprintf("%s%s dB on %s", of, words.Decibels(s.SQNR), words.Plural(s.Items, "item"))
	if s.Output != "" {
		text = fmt.Sprintf("%s%s at %s dB on %s", of, s.Output, words.Decibels(s.SQNR), words.Plural(s.Items, "item"))
	}
	if len(s.Layers) < s.Total {
		text = fmt.Sprintf("%s%d of %d", of, len(s.Layers), s.Total)
	}
	return v.in.Note(text)
}

func (v *sensitivityView) Keys() []ui.Key {
	keys := v.table.Keys()
	if s := v.in.Snap.Sensitivity; s != nil && s.Raise != nil {
		keys = append([]ui.Key{raiseKey(v.desk)}, keys...)
	}
	return append(keys, pane.PrecisionKey(v.desk))
}

func (v *sensitivityView) ref(r int) pane.LayerRef {
	l := &v.in.Snap.Sensitivity.Layers[r]
	return pane.LayerRef{Name: l.Name, From: l.Layers}
}

// Layer implements pointing.
func (v *sensitivityView) Layer() (pane.LayerRef, bool) {
	if s, r := v.in.Snap.Sensitivity, v.table.Row(); s != nil && r >= 0 && r < len(s.Layers) {
		return v.ref(r), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following.
func (v *sensitivityView) ToLayer(l pane.LayerRef) bool {
	s := v.in.Snap.Sensitivity
	return s != nil && pane.ToRow(&v.table, l, len(s.Layers), v.ref)
}

func (v *sensitivityView) Update(msg tea.Msg) tea.Cmd {
	if v.in.Take(msg) {
		v.table.Rows = 0
		if s := v.in.Snap.Sensitivity; s != nil {
			v.table.Rows = len(s.Layers)
		}
		v.table.Refresh()
		return nil
	}
	s := v.in.Snap.Sensitivity
	if s == nil || v.table.Update(msg) {
		return nil
	}
	switch r := v.table.Row(); {
	case pane.IsKey(msg, "A") && s.Raise != nil:
		return v.desk.Change(s.Raised)
	case pane.IsKey(msg, "P") && r >= 0:
		return pane.ChoosePrecision(v.desk, v.in.Snap, s.Layers[r].Layers[0], s.Layers[r].Layers)
	}
	return nil
}

func (v *sensitivityView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		s := v.in.Snap.Sensitivity
		if s == nil {
			v.in.Unmeasured(c, v.desk, pane.NeedsChoice, "what raising each layer wins and costs, one after the other", "{Accuracy S} measures it")
			return
		}
		foot := 0
		if r := s.Raise; r != nil && c.H > 6 {
			foot = 2
			c.Fit(1, c.H-2, c.W-2, ui.Bold, fmt.Sprintf("raise %s: predicted %s to %s dB, %s", words.Plural(len(r.Layers), "layer"), words.Decibels(r.Predicted.SQNR), words.Decibels(r.Predicted.RaisedSQNR),
				longer(r.Predicted)+": "+words.ShortNames(r.Layers)))
			text := "measured: not yet"
			if m := r.Measured; m != nil {
				text = fmt.Sprintf("measured  %s to %s dB on %s, %s; %s raises them", words.Decibels(m.SQNR), words.Decibels(m.RaisedSQNR), words.Plural(r.Items, "item"), raisedTime(r), v.in.Look.Keys("{Accuracy A}"))
			}
			c.Fit(1, c.H-1, c.W-2, ui.Plain, text)
		}
		v.table.Draw(c.Sub(ui.Rect{X: 0, Y: 0, W: c.W, H: c.H - foot}))
	})
}

// raisedTime says of a list that was measured how the raised engine's latency is beside the other's, or where that was not measured how
// much longer the tuner has its layers take.
func raisedTime(r *report.RaiseList) string {
	switch {
	case r.Speed == nil:
		return "by the tuner " + longer(*r.Measured)
	case !r.Speed.Significant:
		return r.Speed.Undecided() + " in time"
	}
	return words.Faster(*r.Speed) + " in rounds"
}

// longer says how much longer or shorter an inference takes with layers raised.
func longer(of report.Effect) string {
	if d := of.RaisedTime - of.Time; d < 0 {
		return ui.Duration(-d) + " shorter"
	} else {
		return ui.Duration(d) + " longer"
	}
}
