package views

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// graphScreen shows the source network beside the engine's, linked layer by layer; the passes that led from one to the
// other; and what is known about the layer or pass under the cursor.
func graphScreen(d *desk) *ui.Screen {
	l := &graphLink{desk: d, snap: &report.Snapshot{}, step: engineStep, unfolded: map[unfold]bool{}}
	source, engine := newGraphList(l, sourceSide), newGraphList(l, engineSide)
	passes, detail := newPassesView(l), newDetailView(l)
	l.lists = [2]*graphList{source, engine}
	l.passes = passes
	p := ui.Pane
	return &ui.Screen{
		Key: "2", Name: "Graph", Views: []ui.View{source, engine, passes, detail},
		Layouts: []ui.Box{
			ui.Stack(ui.Beside(p(0), p(1)).Share(3), ui.Beside(p(2).Share(4), p(3).Share(5)).Share(2)),
			ui.Beside(p(0), p(1), p(3)),
			ui.Beside(p(2).Share(2), ui.Stack(p(1), p(3)).Share(3)),
		},
		Narrow: box(ui.Stack(ui.Beside(p(0), p(1)).Share(3), p(3).Share(2))),
	}
}

// The sides of the screen.
const (
	sourceSide = 0
	engineSide = 1
)

// engineStep is the step after all passes: the engine as it is planned.
const engineStep = -1

// unfold names something that is shown below a layer: its members, or its program.
type unfold struct {
	side  int
	layer string
	what  string
}

// graphLink is what the panes of the graph screen share: where the cursor is, and which network the right side shows.
type graphLink struct {
	*desk
	snap     *report.Snapshot
	lists    [2]*graphList
	passes   *passesView
	step     int  // the right side shows the network after this pass, or engineStep
	side     int  // the list that the cursor was moved in last
	ofPass   bool // the detail is about the pass, not about a layer
	affected bool // show only layers that something happened to
	unfolded map[unfold]bool
	off      map[string][]string // the rules that would fit a source layer and are switched off, there or everywhere
}

// take keeps a snapshot; the passes may have become fewer.
func (l *graphLink) take(s *report.Snapshot) {
	if l.snap == s {
		return
	}
	l.snap = s
	l.off = switchedOff(s.Passes)
	if s.Passes == nil || l.step >= len(s.Passes.Steps) {
		l.step = engineStep
	}
}

// disabled is the reason why a rule that is switched off did nothing.
const disabled = "disabled"

// switchedOff returns the rules that are switched off by source layer.
func switchedOff(p *report.Passes) map[string][]string {
	off := map[string][]string{}
	if p == nil {
		return off
	}
	for _, st := range p.Steps {
		for _, m := range st.Missed {
			for _, name := range m.Layers {
				if m.Reason == disabled && !slices.Contains(off[name], m.Rule) {
					off[name] = append(off[name], m.Rule)
				}
			}
		}
	}
	return off
}

// note says so where the graph is of an older configuration.
func (l *graphLink) note(text string) (string, ui.Style) {
	p := pane{desk: l.desk, snap: l.snap, part: report.PartPasses}
	return p.note(text)
}

// wait draws what is awaited where there are no passes yet.
func (l *graphLink) wait(c *ui.Canvas, what string) {
	p := pane{desk: l.desk, snap: l.snap, part: report.PartPasses}
	p.wait(c, what)
}

// network returns the layers that the right side shows, and those before that pass.
func (l *graphLink) network() (now, before []report.Layer) {
	p := l.snap.Passes
	if p == nil {
		return nil, nil
	}
	if l.step == engineStep {
		return p.Engine, nil
	}
	before = p.Source
	for i, st := range p.Steps[:l.step+1] {
		after := before
		if len(st.After) > 0 {
			after = st.After
		}
		if i == l.step {
			return after, before
		}
		before = after
	}
	return p.Engine, nil
}

// selected returns the names of the source layers that the cursor is on: one on the left side, members on the right.
func (l *graphLink) selected() []string {
	layer := l.lists[l.side].layer()
	switch {
	case layer == nil:
		return nil
	case l.side == sourceSide:
		return []string{layer.Name}
	}
	return layer.From
}

// keys are the keys that mean the same in every pane of the screen.
func (l *graphLink) keys() []ui.Key {
	return []ui.Key{
		{Keys: []string{"[", "]"}, Short: "pass", Long: "the network after the previous / next pass"},
		l.when(needsModel, ui.K("x", "on/off", "switch a rule off or on: here or everywhere")),
		ui.K("a", "affected", "only layers that something happened to / all"),
		l.precisionKey(),
	}
}

// key handles them.
func (l *graphLink) key(name string) tea.Cmd {
	switch name {
	case "[":
		l.walk(-1)
	case "]":
		l.walk(1)
	case "a":
		l.affected = !l.affected
		l.rebuild()
	case "x":
		return l.toggle(l.sites())
	case "P":
		if layer := l.lists[l.side].layer(); layer != nil {
			return l.setPrecision(layer.Name, layer.From)
		}
	}
	return nil
}

// walk goes to the previous or next pass; the engine comes after the last.
func (l *graphLink) walk(by int) {
	if l.snap.Passes == nil {
		return
	}
	n := len(l.snap.Passes.Steps)
	at := l.step
	if at == engineStep {
		at = n
	}
	l.show(min(max(at+by, 0), n))
	l.passes.table.Select(min(max(at+by, 0), n))
}

// show shows the network after pass i; len(steps) is the engine.
func (l *graphLink) show(i int) {
	l.ofPass = true
	if l.step = i; i >= len(l.snap.Passes.Steps) {
		l.step = engineStep
	}
	l.rebuild()
}

func (l *graphLink) rebuild() {
	for _, list := range l.lists {
		list.build()
	}
}

// site is a place that a rule fits, done or not.
type site struct {
	rule, text string
	layers     []string
	pass       int
	into       string
	kernels    int
	bytes      int64
	reason     string // why not; empty if it was done
	detail     string
}

// sites returns what concerns the cursor: the sites of the pass, or those of the layer.
func (l *graphLink) sites() []site {
	if l.ofPass && l.step != engineStep {
		return l.find(func(s site) bool { return s.pass == l.step })
	}
	names := l.selected()
	return l.find(func(s site) bool {
		return slices.ContainsFunc(s.layers, func(n string) bool { return slices.Contains(names, n) })
	})
}

// find returns the sites for which want holds, those that were done first.
func (l *graphLink) find(want func(site) bool) []site {
	var done, missed []site
	if l.snap.Passes == nil {
		return nil
	}
	for i, st := range l.snap.Passes.Steps {
		for _, f := range st.Fired {
			s := site{rule: f.Rule, text: f.Site, layers: f.Layers, pass: i, into: f.Into, kernels: f.KernelsSaved, bytes: f.BytesSaved}
			if want(s) {
				done = append(done, s)
			}
		}
		for _, m := range st.Missed {
			s := site{rule: m.Rule, text: m.Site, layers: m.Layers, pass: i, reason: m.Reason, detail: m.Detail}
			if want(s) {
				missed = append(missed, s)
			}
		}
	}
	return append(done, missed...)
}

// toggle asks which of the sites, or which rule everywhere, to switch off or on again.
func (l *graphLink) toggle(sites []site) tea.Cmd {
	var items, targets []string
	off := l.want.Disable
	add := func(target, what string) {
		if target == "" || slices.Contains(targets, target) {
			return
		}
		verb := "switch off "
		if slices.Contains(off, target) {
			verb = "switch on  "
		}
		items, targets = append(items, verb+what), append(targets, target)
	}
	for _, s := range sites {
		if s.reason == "" || slices.Contains(off, s.text) {
			add(s.text, "here: "+s.rule+" of "+joinLayers(s.layers))
		}
	}
	for _, s := range sites {
		if s.reason == "" || slices.Contains(off, s.rule) {
			add(s.rule, "everywhere: "+s.rule)
		}
	}
	for _, target := range off { // whatever is off can be switched on from anywhere
		add(target, target)
	}
	if len(items) == 0 {
		return say(ui.Warn, "no rule did anything here")
	}
	return ui.Open(&ui.Choice{Name: "Rules", Items: items, Active: -1, Pick: func(i int) tea.Cmd {
		target := targets[i]
		return l.change(func(c *config.Config) { c.FlipDisabled(target) })
	}})
}

// savings says what a rewrite saved.
func savings(kernels int, bytes int64) string {
	var parts []string
	if kernels != 0 {
		parts = append(parts, plural(kernels, "layer"))
	}
	if bytes != 0 {
		parts = append(parts, ui.Bytes(bytes)+" of traffic")
	}
	if len(parts) == 0 {
		return ""
	}
	return "saves " + strings.Join(parts, ", ")
}

// passTitle names the step that the right side shows: an engine by the precision that it has, not by one that is asked for.
func (l *graphLink) passTitle() string {
	p := l.snap.Passes
	if l.step == engineStep && l.snap.Refused() {
		return "After all passes"
	}
	if p == nil || l.step == engineStep {
		shown := l.snap.Config.Precision
		if p != nil && l.snap.Stale.Has(report.PartPasses) {
			shown = p.Precision
		}
		return strings.TrimSpace("Engine " + strings.ToUpper(string(shown)))
	}
	return fmt.Sprintf("After pass %d of %d: %s", l.step+1, len(l.snap.Passes.Steps), l.snap.Passes.Steps[l.step].Pass)
}
