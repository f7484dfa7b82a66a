package graph

import (
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// networkList is the layers of a network in topological order, with what is unfolded below them.
type networkList struct {
	state   *graphState
	side    int
	list    ui.List
	layers  []report.Layer
	blocks  []report.Block // of the layers
	repeats repeated
	lines   []graphLine
	edges   connected // of the layers
	lanes   lanes     // of the edges, beside the lines; none where not all layers are listed
	built   *report.Passes
	timed   timed
	times   layerTimes // nil where they are of another network
	columns columns    // of the lines
	filter  *ui.Filter
	matches int // layers that it leaves; -1: not counted yet
}

func newNetworkList(state *graphState, side int) *networkList {
	n := &networkList{state: state, side: side}
	n.list = ui.List{Label: n.label, Counts: true}
	return n
}

// line returns the line under the cursor, or nil.
func (n *networkList) line() *graphLine {
	if at := n.list.At(); at >= 0 && at < len(n.lines) {
		return &n.lines[at]
	}
	return nil
}

// layer returns the layer under the cursor, or nil.
func (n *networkList) layer() *report.Layer {
	if line := n.line(); line != nil && line.layers == 0 {
		return &n.layers[line.layer]
	}
	return nil
}

// of returns the layers that a line stands for.
func (n *networkList) of(line *graphLine) []report.Layer {
	return n.layers[line.layer : line.layer+max(line.layers, 1)]
}

// take brings the list up to date with a snapshot: of the same passes the times alone are others.
func (n *networkList) take() {
	if p := n.state.in.Snap.Passes; p != nil && p == n.built {
		n.time()
		return
	}
	n.build()
}

// build makes the lines anew and keeps the cursor on its layer, or where that is gone on what its first member went to.
func (n *networkList) build() {
	name, members, blocks := "", map[string]bool{}, 0
	if line := n.line(); line != nil {
		l := &n.layers[line.layer]
		name, blocks = l.Name, line.blocks
		for _, source := range l.From[:min(1, len(l.From))] {
			members[source] = true
		}
	}
	if n.state.affected {
		n.state.touch()
	}
	n.lines = n.lines[:0]
	if p := n.state.in.Snap.Passes; p == nil {
		n.layers = nil
	} else if n.side == sourceSide {
		n.layers = p.Source
	} else {
		n.layers, _ = n.state.network()
	}
	n.built = n.state.in.Snap.Passes
	n.time()
	n.addAll()
	n.columns = columnsOf(n.side, n.lines, n.layers)
	n.lanes = lanes{}
	if n.filter == nil && !n.state.affected { // all layers are listed
		n.lanes = lay(readsOf(n.edges.of(n.layers), n.lines, len(n.layers)))
	}
	n.list.Lines, n.matches = len(n.lines), -1
	n.list.Refresh()
	at := slices.IndexFunc(n.lines, func(l graphLine) bool { return n.layers[l.layer].Name == name && l.blocks == blocks })
	if at < 0 {
		at = n.find(func(l *report.Layer) bool { return l.Name == name })
	}
	if at < 0 {
		at = n.find(func(l *report.Layer) bool { return belongs(n.side, l, members) })
	}
	n.list.Select(max(0, at))
}

// time finds the times of the layers, where they are those of the network that is shown.
func (n *networkList) time() {
	n.times = nil
	if t := n.state.in.Snap.Timings; t != nil && n.side == engineSide && n.state.step == engineStep {
		n.times = n.timed.of(t)
	}
}

// find returns the line of the first layer for which want holds, or of the blocks that it is folded into; -1: there is none.
func (n *networkList) find(want func(*report.Layer) bool) int {
	found := -1
	for i := range n.lines {
		line := &n.lines[i]
		if line.text != "" {
			continue
		}
		switch has := hasLayer(n.of(line), want); {
		case has:
			if found = i; line.layers == 0 {
				return i
			}
		case found >= 0:
			return found // the line of a block stands behind that of all
		}
	}
	return found
}

// folds reports whether what repeats is shown as one line: not where a person looks for single layers.
func (n *networkList) folds() bool {
	return n.filter == nil && !n.state.affected && (n.side == sourceSide || n.state.step == engineStep)
}

// addAll appends all layers, blocks of them as they are unfolded.
func (n *networkList) addAll() {
	n.blocks = nil
	if n.folds() {
		n.blocks = n.repeats.of(n.layers)
	}
	next := 0
	until := func(end int) {
		for ; next < end; next++ {
			n.add(next)
		}
	}
	for _, b := range n.blocks {
		until(b.First)
		n.lines = append(n.lines, graphLine{layer: b.First, layers: b.Size * b.Count, blocks: b.Count})
		if next += b.Size * b.Count; !n.isUnfolded(b.First, unfoldBlocks) {
			continue
		}
		for first := b.First; first < next; first += b.Size {
			n.lines = append(n.lines, graphLine{layer: first, layers: b.Size, blocks: 1})
			if n.isUnfolded(first, unfoldBlock) {
				for i := range b.Size {
					n.add(first + i)
				}
			}
		}
	}
	until(len(n.layers))
}

func (n *networkList) isUnfolded(layer int, what string) bool {
	return n.state.unfolded[unfold{n.side, n.layers[layer].Name, what}]
}

// reveal unfolds the blocks that a layer is in.
func (n *networkList) reveal(layer string) {
	n.revealInside(layer)
	for _, b := range n.blocks {
		for i := range b.Size * b.Count {
			if n.layers[b.First+i].Name == layer {
				n.state.unfolded[unfold{n.side, n.layers[b.First].Name, unfoldBlocks}] = true
				n.state.unfolded[unfold{n.side, n.layers[b.First+i/b.Size*b.Size].Name, unfoldBlock}] = true
				n.build()
				return
			}
		}
	}
}

// revealInside unfolds the bodies that a layer is in.
func (n *networkList) revealInside(layer string) {
	for i := len(n.layers) - 1; i >= 0; i-- {
		if l := &n.layers[i]; l.Name == layer && l.Inside != "" {
			n.state.unfolded[unfold{n.side, l.Inside, unfoldInside}] = true
			layer = l.Inside
			n.build()
		}
	}
}

// add appends layer i and what is unfolded below it.
func (n *networkList) add(i int) {
	l := &n.layers[i]
	line := graphLine{layer: i}
	if n.hidden(i) {
		return
	}
	if n.side == engineSide && n.state.step != engineStep {
		line.changed = n.state.difference().marks[i]
	}
	if n.state.affected && !n.isAffected(l, line) {
		return
	}
	n.lines = append(n.lines, line)
	for _, text := range n.below(l) {
		n.lines = append(n.lines, graphLine{layer: i, text: text})
	}
	n.lines[len(n.lines)-1].last = true
}

// hasInside reports whether a layer has bodies, whose layers follow it.
func (n *networkList) hasInside(i int) bool {
	return i+1 < len(n.layers) && n.layers[i+1].Depth > n.layers[i].Depth
}

// hidden reports whether a layer is in a body that is folded.
func (n *networkList) hidden(i int) bool {
	for at := i - 1; n.folds() && n.layers[i].Depth > 0 && at >= 0; at-- {
		if n.layers[at].Name == n.layers[i].Inside {
			return !n.isUnfolded(at, unfoldInside) || n.hidden(at)
		}
	}
	return false
}

// isAffected reports whether anything happened to a layer in what is shown: to a source layer, or to a member of one of the other side,
// so that both sides show the same.
func (n *networkList) isAffected(l *report.Layer, line graphLine) bool {
	if n.side == sourceSide {
		return n.state.touched[l.Name]
	}
	return line.changed != 0 || n.state.step == engineStep && len(l.From) == 0 ||
		slices.ContainsFunc(l.From, func(name string) bool { return n.state.touched[name] })
}

// below returns what is unfolded below a layer.
func (n *networkList) below(l *report.Layer) []string {
	if len(n.state.unfolded) == 0 {
		return nil
	}
	var lines []string
	if n.state.unfolded[unfold{n.side, l.Name, "i"}] {
		if n.side == sourceSide {
			lines = append(lines, fateText(n.state.fates[l.Name]))
		} else {
			lines = append(lines, l.From...)
		}
	}
	if n.state.unfolded[unfold{n.side, l.Name, "e"}] {
		for _, f := range []struct{ name, text string }{{"attributes", l.Attrs}, {"epilogue", l.Epilogue}, {"inputs", strings.Join(l.Inputs, ", ")}} {
			if f.text != "" {
				lines = append(lines, f.name+": "+f.text)
			}
		}
		for _, t := range l.Outputs {
			lines = append(lines, "output: "+t.Name+" "+t.Type+t.Dims+" "+t.Range)
		}
	}
	return lines
}

// matching counts the layers that the filter leaves.
func (n *networkList) matching() int {
	if n.matches < 0 {
		n.matches = 0
		for i := range n.list.Shown() {
			if n.lines[n.list.Number(i)].text == "" {
				n.matches++
			}
		}
	}
	return n.matches
}

// label is what a filter looks at: what is unfolded stays with its layer. A fused layer has the ops of its members, as its name has
// their names, so that what is found on one side is found on the other.
func (n *networkList) label(i int) string {
	l := &n.layers[n.lines[i].layer]
	var b strings.Builder
	for _, s := range []string{l.Name, l.Op, l.Precision, dimsOf(l)} {
		b.WriteString(s)
		b.WriteByte(' ')
	}
	if n.side == engineSide && len(l.From) > 1 {
		for _, member := range l.From {
			b.WriteString(n.state.ops[member])
			b.WriteByte(' ')
		}
	}
	if l.Unsupported != "" {
		b.WriteString("unsupported")
	}
	return b.String()
}
