package graph

import (
	"cmp"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// trail is the way that a person has walked along edges: back leads to what the cursor was on before, and forth again.
type trail struct {
	list []step
	at   int // where in it the cursor is; len(list): it has walked on from there
}

// step is a layer of a side.
type step struct {
	side  int
	layer string
}

// mostSteps is how many are kept.
const mostSteps = 100

// leave notes that the cursor goes from one layer to another: what it had come back from is forgotten.
func (t *trail) leave(from step) {
	t.list = append(t.list[:min(t.at, len(t.list))], from)
	t.list = t.list[max(0, len(t.list)-mostSteps):]
	t.at = len(t.list)
}

// turn returns the layer a step back or forth from the one that the cursor is on; ok is false where there is none.
func (t *trail) turn(by int, now step) (s step, ok bool) {
	to := t.at + by
	if to < 0 || to >= len(t.list) {
		return step{}, false
	}
	if t.at == len(t.list) {
		t.list = append(t.list, now)
	} else {
		t.list[t.at] = now
	}
	t.at = to
	return t.list[to], true
}

// edge is a connection of what the cursor is on with another layer.
type edge struct {
	layer int // of the list; -1: an input or an output of the network, of which text tells
	text  string
}

// edgesOf returns what the layers under a list's cursor read from outside, or those outside that read them.
func (n *networkList) edgesOf(readers bool) (list []edge) {
	line := n.line()
	if line == nil {
		return nil
	}
	edges, first, end := n.edges.of(n.layers), line.layer, line.layer+max(line.layers, 1)
	of := edges.Reads
	if readers {
		of = edges.Readers
	}
	there := map[int]bool{}
	for i := first; i < end; i++ {
		for _, other := range of[i] {
			if (other < first || other >= end) && !there[other] {
				there[other] = true
				list = append(list, edge{layer: other})
			}
		}
	}
	return list
}

// walk goes along an edge to a layer that the one under the cursor reads from, or that reads it: a person chooses among several.
func (g *graphs) walk(readers bool) tea.Cmd {
	n := g.lists[g.state.side]
	list := n.edgesOf(readers)
	what := "reads from"
	if readers {
		what = "is read by"
	}
	switch len(list) {
	case 0:
		if n.line() == nil {
			return nil
		}
		if readers {
			return pane.Say(ui.Warn, "no layer reads it")
		}
		return pane.Say(ui.Warn, "it reads from no layer")
	case 1:
		return g.goTo(n.layers[list[0].layer].Name)
	}
	items := make([]string, len(list))
	for i, e := range list {
		l := &n.layers[e.layer]
		items[i] = fmt.Sprintf("%s  %s %s", words.ShortName(l.Name), l.Op, n.dims(l))
	}
	return ui.Open(&ui.Choice{Name: words.ShortName(n.layers[n.line().layer].Name) + " " + what, Items: items, Active: -1,
		Pick: func(i int) tea.Cmd { return g.goTo(n.layers[list[i].layer].Name) }})
}

// goTo puts the cursor of its side on a layer, or on the blocks that it is folded into, and notes where it was.
func (g *graphs) goTo(layer string) tea.Cmd {
	now, ok := g.here()
	if !ok || !g.put(step{g.state.side, layer}) {
		return pane.Say(ui.Warn, words.ShortName(layer)+" is not listed: it does not match the filter, or no pass changed it")
	}
	g.trail.leave(now)
	return nil
}

// turn goes back or forth on the way that was walked.
func (g *graphs) turn(by int) tea.Cmd {
	now, _ := g.here()
	to, ok := g.trail.turn(by, now)
	if !ok {
		if by < 0 {
			return pane.Say(ui.Warn, "this is where the walk began")
		}
		return pane.Say(ui.Warn, "this is where the walk has come to")
	}
	if !g.put(to) {
		return pane.Say(ui.Warn, words.ShortName(to.layer)+" is not listed")
	}
	return nil
}

// here is what the cursor is on.
func (g *graphs) here() (step, bool) {
	n := g.lists[g.state.side]
	line := n.line()
	if line == nil {
		return step{}, false
	}
	return step{g.state.side, n.layers[line.layer].Name}, true
}

// put puts the cursor on a layer, or on what it is folded into; it reports whether that is listed.
func (g *graphs) put(s step) bool {
	n := g.lists[s.side]
	at := n.find(func(l *report.Layer) bool { return l.Name == s.layer })
	if at < 0 || !n.list.Select(at) {
		return false
	}
	g.moved(s.side)
	return true
}

// mostEdges is how many of a kind the detail lists.
const mostEdges = 12

// addEdges lists what is under the cursor reads from and who reads it, with the tensors between them.
func (v *detailView) addEdges(n *networkList) {
	v.addEdge("reads", "input ", n, n.edgesOf(false), func(l *report.Layer) []string { return v.bindings(l, false) })
	v.addEdge("read by", "output ", n, n.edgesOf(true), func(l *report.Layer) []string { return v.bindings(l, true) })
}

// addEdge lists the edges of a kind, each on a line from which enter leads there, and the inputs or outputs of the network.
func (v *detailView) addEdge(name, binding string, n *networkList, list []edge, bindings func(*report.Layer) []string) {
	const column, margins = 12, 4
	line := n.line()
	var bound []string
	for i := range n.of(line) {
		for _, t := range bindings(&n.of(line)[i]) {
			if !slices.Contains(bound, t) {
				bound = append(bound, t)
			}
		}
	}
	for _, t := range bound[:min(len(bound), mostEdges)] {
		v.add(ui.Span{Text: words.Pad(name, column), Style: ui.Muted}, ui.Span{Text: binding, Style: ui.Muted}, ui.Span{Text: t, Name: true})
		name = ""
	}
	for i, e := range list {
		if i == mostEdges && len(list) > mostEdges+1 {
			v.add(ui.Span{Text: words.Pad("", column)}, ui.Span{Text: v.g.look().Keys(fmt.Sprintf("and %d more: {Graph <} and {Graph >} list all", len(list)-i)), Style: ui.Muted})
			return
		}
		l := &n.layers[e.layer]
		short, more := words.ShortName(l.Name), "  "+cmp.Or(n.dims(l), "?")
		for _, m := range []string{more + "  " + l.Op, more, ""} { // what is beside it goes before the name is cut
			if more = m; ui.Width(short)+ui.Width(m) <= v.width-column-margins {
				break
			}
		}
		v.lines = append(v.lines, detailLine{to: l.Name, ListLine: ui.ListLine{Spans: []ui.Span{
			{Text: words.Pad(name, column), Style: ui.Muted}, {Text: short, Name: true}, {Text: more, Style: ui.Muted}}}})
		name = ""
	}
}

// bindings are the inputs of the network that a layer reads, or its outputs that are the network's.
func (v *detailView) bindings(l *report.Layer, outputs bool) (list []string) {
	m := v.g.snap().Model
	if m == nil {
		return nil
	}
	names, of := l.Inputs, m.Inputs
	if outputs {
		names, of = nil, m.Outputs
		for _, t := range l.Outputs {
			names = append(names, t.Name)
		}
	}
	for _, name := range names {
		if slices.ContainsFunc(of, func(t report.Tensor) bool { return t.Name == name }) {
			list = append(list, name)
		}
	}
	return list
}
