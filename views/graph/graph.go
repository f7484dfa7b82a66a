package graph

import (
	"slices"
	"strings"

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
	state  graphState
	lists  [2]*networkList
	passes ui.Table      // its cursor chooses the network that the right side shows
	under  [2]*selection // what the cursor of each list is on
	trail  trail
}

func newGraphs(look *ui.Look, d pane.Desk) *graphs {
	g := &graphs{desk: d, state: graphState{in: pane.NewInput(look, report.PartPasses), step: engineStep, unfolded: map[unfold]bool{}, causes: map[siteCause]bool{}}}
	g.state.places.of(nil)
	for side := range g.lists {
		g.lists[side] = newNetworkList(&g.state, side)
	}
	return g
}

func (g *graphs) snap() *report.Snapshot { return g.state.in.Snap }

func (g *graphs) look() *ui.Look { return g.state.in.Look }

// selected returns what the cursor is on, the same for as long as it stays there.
func (g *graphs) selected() *selection {
	side := g.state.side
	list := g.lists[side]
	line := list.line()
	if line == nil {
		return &selection{}
	}
	layers := list.of(line)
	if s := g.under[side]; s != nil && s.first == &layers[0] && s.layers == len(layers) {
		return s
	}
	names := map[string]bool{}
	for i := range layers {
		if side == sourceSide {
			names[layers[i].Name] = true
			continue
		}
		for _, source := range layers[i].From {
			names[source] = true
		}
	}
	g.under[side] = &selection{side, &layers[0], len(layers), names}
	return g.under[side]
}

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
		return g.walk(false)
	case ">":
		return g.walk(true)
	case "(":
		return g.turn(-1)
	case ")":
		return g.turn(1)
	case "a":
		g.state.affected = !g.state.affected
		g.rebuild()
	case "x":
		return g.toggle(g.sites())
	case "P":
		if layer := g.lists[g.state.side].layer(); layer != nil {
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
	g.lists[engineSide].build()
	if g.state.affected { // what was touched is another part of the source
		g.lists[sourceSide].build()
	}
}

func (g *graphs) rebuild() {
	for _, list := range g.lists {
		list.build()
	}
}

// sites returns what concerns the cursor: the sites of the pass, or those of the layer, and then the forks that it is in.
func (g *graphs) sites() []site {
	if g.state.ofPass && g.state.step != engineStep {
		return g.state.places.pass(g.state.step)
	}
	names := g.selected().names
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

// savings says what a rewrite saved.
func savings(kernels int, bytes int64) string {
	var parts []string
	if kernels != 0 {
		parts = append(parts, words.Plural(kernels, "layer"))
	}
	if bytes != 0 {
		parts = append(parts, ui.Bytes(bytes)+" of traffic")
	}
	if len(parts) == 0 {
		return ""
	}
	return "saves " + strings.Join(parts, ", ")
}

// moved makes a side the one that the cursor was moved in, and takes the other side along: its cursor goes to the first
// layer that belongs to the one under this one's.
func (g *graphs) moved(side int) {
	g.state.side, g.state.ofPass = side, false
	other, names := g.lists[1-side], g.selected().names
	if g.lists[side].line() != nil && g.lists[side].line().blocks > 1 {
		if i := slices.IndexFunc(other.lines, func(l graphLine) bool { return l.blocks > 1 && belongs(other.side, &other.layers[l.layer], names) }); i >= 0 {
			other.list.Select(i)
			return
		}
	}
	if i := other.find(func(l *report.Layer) bool { return belongs(other.side, l, names) }); i >= 0 {
		other.list.Select(i)
	}
}
