package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

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

// siteCause is what sites that are shown as one line have in common.
type siteCause struct {
	pass                int
	rule, reason, cause string
}

// graphState is what of the networks the panes of the graph screen show.
type graphState struct {
	in       pane.Input
	step     int  // the right side shows the network after this pass, or engineStep
	side     int  // the list that the cursor was moved in last
	ofPass   bool // the detail is about the pass, not about a layer
	affected bool // show only layers that something happened to
	unfolded map[unfold]bool
	causes   map[siteCause]bool            // whose sites have a line each
	touched  map[string]bool               // source layers that something happened to in what is shown
	off      map[string][]string           // the rules that would fit a source layer and are switched off, there or everywhere
	fates    map[string]report.LedgerEntry // what became of a source layer
	ops      map[string]string             // of the source layers
	places   places
	diff     *difference // of the step that is shown; nil: not found yet
}

func newGraphState(look *ui.Look) *graphState {
	g := &graphState{in: pane.NewInput(look, report.PartPasses), step: engineStep, unfolded: map[unfold]bool{}, causes: map[siteCause]bool{}}
	g.places.of(nil)
	return g
}

// take keeps a snapshot; the passes may have become fewer.
func (g *graphState) take(s *report.Snapshot) {
	if g.in.Snap == s {
		return
	}
	g.in.Snap = s
	if s.Passes != g.places.passes {
		g.off, g.fates, g.ops = switchedOff(s.Passes), fatesOf(s.Passes), sourceOps(s.Passes)
		g.places.of(s.Passes)
	}
	if s.Passes == nil || g.step >= len(s.Passes.Steps) {
		g.step = engineStep
	}
}

// touch finds the source layers that something happened to: by all passes, or where the network after one is shown by that one.
func (g *graphState) touch() {
	g.touched = map[string]bool{}
	p := g.in.Snap.Passes
	if p == nil {
		return
	}
	if g.step == engineStep {
		for name := range g.off {
			g.touched[name] = true
		}
		for _, e := range p.Ledger {
			if e.Fate != "kept" {
				g.touched[e.Layer] = true
			}
		}
		return
	}
	mark := func(names []string) {
		for _, name := range names {
			g.touched[name] = true
		}
	}
	diff := g.difference()
	now, _ := g.network()
	for i := range now {
		if diff.marks[i] != 0 {
			mark(now[i].From)
		}
	}
	for _, l := range diff.gone {
		mark(l.From)
	}
	for _, f := range p.Steps[g.step].Fired {
		mark(f.Layers)
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

// sourceOps returns the ops of the source layers by their names.
func sourceOps(p *report.Passes) map[string]string {
	if p == nil {
		return nil
	}
	ops := make(map[string]string, len(p.Source))
	for i := range p.Source {
		ops[p.Source[i].Name] = p.Source[i].Op
	}
	return ops
}

// network returns the layers that the right side shows, and those before that pass.
func (g *graphState) network() (now, before []report.Layer) {
	p := g.in.Snap.Passes
	if p == nil {
		return nil, nil
	}
	if g.step == engineStep {
		return p.Engine, nil
	}
	before = p.Source
	for i, st := range p.Steps[:g.step+1] {
		after := before
		if len(st.After) > 0 {
			after = st.After
		}
		if i == g.step {
			return after, before
		}
		before = after
	}
	return p.Engine, nil
}

// passTitle names the step that the right side shows: an engine by the precision that it has, not by one that is asked for.
func (g *graphState) passTitle() string {
	p := g.in.Snap.Passes
	if g.step == engineStep && g.in.Snap.Refused() {
		return "After all passes"
	}
	if p == nil || g.step == engineStep {
		shown := g.in.Snap.Config.Precision
		if p != nil && g.in.Snap.Stale.Has(report.PartPasses) {
			shown = p.Precision
		}
		return strings.TrimSpace("Engine " + strings.ToUpper(string(shown)))
	}
	return fmt.Sprintf("After pass %d of %d: %s", g.step+1, len(g.in.Snap.Passes.Steps), g.in.Snap.Passes.Steps[g.step].Pass)
}

// difference returns what the pass changed whose network is shown: of the engine as it is planned, nothing.
func (g *graphState) difference() *difference {
	if p := g.in.Snap.Passes; g.diff == nil || g.diff.passes != p || g.diff.step != g.step {
		now, before := g.network()
		if g.diff = (&difference{marks: make([]rune, len(now))}); g.step != engineStep {
			g.diff = compareLayers(before, now)
		}
		g.diff.passes, g.diff.step = p, g.step
	}
	return g.diff
}
