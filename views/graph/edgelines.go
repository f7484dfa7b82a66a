package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// mostEdges is how many of a kind the detail lists.
const mostEdges = 12

// edgeLines lists, for w cells, what is under the cursor of a list reads from and who reads it, with the tensors between them.
func edgeLines(n *networkList, w int) []detailLine {
	if n.line() == nil {
		return nil
	}
	lines := edgeKindLines(n, w, "reads", "input ", false)
	return append(lines, edgeKindLines(n, w, "read by", "output ", true)...)
}

// edgeKindLines lists the inputs or outputs of the network, and then the edges of a kind, each on a line from which enter leads there.
func edgeKindLines(n *networkList, w int, name, binding string, readers bool) (lines []detailLine) {
	const column, margins = 12, 4
	add := func(to string, spans ...ui.Span) {
		lines = append(lines, detailLine{to: to, ListLine: ui.ListLine{Spans: append([]ui.Span{{Text: words.Pad(name, column), Style: ui.Muted}}, spans...)}})
		name = ""
	}
	bound := bindings(n.state.in.Snap.Model, n.of(n.line()), readers)
	for _, t := range bound[:min(len(bound), mostEdges)] {
		add("", ui.Span{Text: binding, Style: ui.Muted}, ui.Span{Text: t, Name: true})
	}
	layers := outside(n.edges.of(n.layers), n.line(), readers)
	for i, at := range layers {
		if i == mostEdges && len(layers) > mostEdges+1 {
			add("", ui.Span{Text: n.state.in.Look.Keys(fmt.Sprintf("and %d more: {Graph <} and {Graph >} list all", len(layers)-i)), Style: ui.Muted})
			break
		}
		l := &n.layers[at]
		short, more := words.ShortName(l.Name), "  "+cmp.Or(dimsOf(l), "?")
		for _, m := range []string{more + "  " + l.Op, more, ""} { // what is beside it goes before the name is cut
			if more = m; ui.Width(short)+ui.Width(m) <= w-column-margins {
				break
			}
		}
		add(l.Name, ui.Span{Text: short, Name: true}, ui.Span{Text: more, Style: ui.Muted})
	}
	return lines
}

// bindings are the inputs of the network that layers read, or its outputs that are the network's; m is nil where they are not known.
func bindings(m *report.Model, layers []report.Layer, outputs bool) (list []string) {
	if m == nil {
		return nil
	}
	of := m.Inputs
	if outputs {
		of = m.Outputs
	}
	for i := range layers {
		names := layers[i].Inputs
		if outputs {
			names = nil
			for _, t := range layers[i].Outputs {
				names = append(names, t.Name)
			}
		}
		for _, name := range names {
			if slices.ContainsFunc(of, func(t report.Tensor) bool { return t.Name == name }) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}
