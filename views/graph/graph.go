package graph

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// graphs are the two networks and the passes between them, with one cursor for all: the panes of the screen show it.
type graphs struct {
	desk   pane.Desk
	state  *graphState
	sides  *sides
	walk   walk
	passes ui.Table // its cursor chooses the network that the right side shows
}

func newGraphs(look *ui.Look, d pane.Desk) *graphs {
	state := newGraphState(look)
	s := newSides(state)
	return &graphs{desk: d, state: state, sides: s, walk: walk{sides: s}}
}

func (g *graphs) snap() *report.Snapshot { return g.state.in.Snap }

func (g *graphs) look() *ui.Look { return g.state.in.Look }

// keys are the keys that mean the same in every pane of the screen.
func (g *graphs) keys() []ui.Key {
	return []ui.Key{
		{Keys: []string{"[", "]"}, Short: "pass", Long: "show the network after the previous / next pass"},
		pane.When(g.desk, pane.NeedsModel, ui.K("x", "on/off", "switch a rule off or on, here or everywhere")),
		{Keys: []string{"<", ">"}, Short: "edges", Long: "along an edge to a layer that this one reads / that reads it", Words: []string{"producer", "producers", "consumer", "consumers", "inputs", "outputs", "walk", "edge", "readers"}},
		{Keys: []string{"(", ")"}, Long: "back / forward on the way walked along edges", Name: "walk"},
		ui.K("a", "affected", "only layers that the passes changed / all"),
		pane.PrecisionKey(g.desk),
	}
}

// key handles them.
func (g *graphs) key(name string) tea.Cmd {
	switch name {
	case "[":
		g.pass(-1)
	case "]":
		g.pass(1)
	case "<":
		return g.walk.along(false)
	case ">":
		return g.walk.along(true)
	case "(":
		return g.walk.turn(-1)
	case ")":
		return g.walk.turn(1)
	case "a":
		g.state.affected = !g.state.affected
		g.sides.rebuild()
	case "x":
		return g.toggle(g.sites())
	case "P":
		if layer := g.sides.list().layer(); layer != nil {
			return pane.ChoosePrecision(g.desk, g.snap(), layer.Name, layer.From)
		}
	}
	return nil
}

// pass goes to the previous or next pass; the engine comes after the last.
func (g *graphs) pass(by int) {
	if g.snap().Passes == nil {
		return
	}
	n := len(g.snap().Passes.Steps)
	at := g.state.step
	if at == engineStep {
		at = n
	}
	g.show(min(max(at+by, 0), n))
	g.passes.Select(before(g.snap().Passes) + min(max(at+by, 0), n))
}

// before returns how many rows of passes are before the first pass: one where the model's own quantisation was dropped.
func before(p *report.Passes) int {
	if p.Dropped != nil {
		return 1
	}
	return 0
}

// show shows the network after pass i; len(steps) is the engine.
func (g *graphs) show(i int) {
	g.state.ofPass = true
	if g.state.step = i; i >= len(g.snap().Passes.Steps) {
		g.state.step = engineStep
	}
	g.sides.lists[engineSide].build()
	if g.state.affected { // what was touched is another part of the source
		g.sides.lists[sourceSide].build()
	}
}

// sites returns what concerns the cursor: the sites of the pass, or those of the layer, and then the forks that it is in.
func (g *graphs) sites() []site {
	if g.state.ofPass && g.state.step != engineStep {
		return g.state.places.pass(g.state.step)
	}
	names := g.sides.selected().names
	sites := g.state.places.layers(names)
	for _, s := range forkSites(g.snap()) {
		if slices.ContainsFunc(s.layers, func(name string) bool { return names[name] }) {
			sites = append(sites, s)
		}
	}
	return sites
}

// toggle asks which of the sites, or which rule everywhere, to switch off or on again.
func (g *graphs) toggle(sites []site) tea.Cmd {
	var items, targets []string
	off, there := g.desk.Want().Disable, map[string]bool{}
	add := func(target, what string) {
		if target == "" || there[target] {
			return
		}
		there[target] = true
		verb := "switch off "
		if slices.Contains(off, target) {
			verb = "switch on  "
		}
		items, targets = append(items, verb+what), append(targets, target)
	}
	for _, s := range sites {
		if s.reason == "" || slices.Contains(off, s.text) {
			add(s.text, "here: "+s.rule+" of "+words.JoinLayers(s.layers))
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
		return pane.Say(ui.Warn, "no rule applies here")
	}
	return ui.Open(&ui.Choice{Name: "Rules", Items: items, Active: -1, Pick: func(i int) tea.Cmd {
		target := targets[i]
		return g.desk.Change(func(c *config.Config) { c.FlipDisabled(target) })
	}})
}
