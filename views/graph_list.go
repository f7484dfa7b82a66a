package views

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// graphList shows the layers of a network in topological order, with what is unfolded below them.
type graphList struct {
	*graphLink
	side   int
	list   ui.List
	layers []report.Layer
	lines  []graphLine
	fates  map[string]report.LedgerEntry // by source layer
	times  map[string]report.LayerTiming // by engine layer
	names  int                           // width of the longest name
	shapes int                           // and of the longest shape
	ops    int                           // and of the longest op
	filter *ui.Filter
}

// graphLine is a layer, or something that is unfolded below it.
type graphLine struct {
	layer   int
	changed rune   // '+' new, '~' changed by the pass that is shown, 0 neither
	text    string // of what is unfolded; empty for the layer itself
	last    bool
}

func newGraphList(l *graphLink, side int) *graphList {
	v := &graphList{graphLink: l, side: side}
	v.list = ui.List{Line: func(i int) ui.ListLine { return v.line(i, 0) }, Fit: v.line, Label: v.label, Empty: "no layers that anything happened to: press a for all"}
	return v
}

func (v *graphList) Title() string {
	if v.side == sourceSide {
		return "Source"
	}
	return v.passTitle()
}

func (v *graphList) Note() (string, ui.Style) {
	if v.snap.Passes == nil {
		return "", ui.Muted
	}
	text := plural(len(v.layers), "layer")
	if v.affected {
		text = "affected of " + text
	}
	if v.filter != nil {
		text = fmt.Sprintf("%d of %s", v.matching(), text)
	}
	if n := len(v.off); n > 0 && v.side == sourceSide {
		text += fmt.Sprintf(", %d with a rule off", n)
	}
	return v.note(text)
}

// matching counts the layers that the filter leaves.
func (v *graphList) matching() int {
	n := 0
	for i, line := range v.lines {
		if line.text == "" && v.filter.Match(v.label(i)) {
			n++
		}
	}
	return n
}

func (v *graphList) Keys() []ui.Key {
	return append(append(v.keys(),
		ui.K(";", "other side", "jump to the other side"),
		ui.K("i", "members", "members of the layer, below it"),
		ui.K("e", "expand", "attributes and epilogue program of the layer, below it")),
		v.list.Keys()...)
}

func (v *graphList) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case *report.Snapshot:
		v.take(msg)
		v.build()
	case tea.KeyPressMsg:
		switch name := msg.String(); name {
		case ";":
			return v.jump()
		case "i", "e":
			v.unfold(name)
		case "P":
			v.graphLink.side = v.side
			return v.key(name)
		default:
			if v.list.Update(msg) {
				v.graphLink.side, v.ofPass = v.side, false
				v.follow()
				return nil
			}
			return v.key(name)
		}
	case showLayerMsg:
		return v.showLayer(msg.layer)
	case ui.FilterMsg:
		v.filter = msg.Filter
		v.move(msg)
	case ui.MatchMsg:
		v.move(msg)
	}
	return nil
}

// showLayerMsg asks the graph to put the cursor on a layer of either network.
type showLayerMsg struct{ layer string }

// showLayer returns a command that goes to a layer on the graph.
func showLayer(layer string) tea.Cmd {
	return func() tea.Msg { return showLayerMsg{layer} }
}

// showLayer goes to a layer and puts the cursor on it: on this side if it has one of that name, the engine's side first.
func (v *graphList) showLayer(name string) tea.Cmd {
	named := func(l graphLine, layers []report.Layer) bool { return layers[l.layer].Name == name }
	if v.side == engineSide && v.step != engineStep && v.snap.Passes != nil {
		v.show(len(v.snap.Passes.Steps))
	}
	at := slices.IndexFunc(v.lines, func(l graphLine) bool { return named(l, v.layers) })
	if at < 0 {
		return nil
	}
	if engine := v.lists[engineSide]; v.side == sourceSide && slices.ContainsFunc(engine.lines, func(l graphLine) bool { return named(l, engine.layers) }) {
		return nil // it is the engine's too
	}
	v.list.Select(at)
	v.graphLink.side, v.ofPass = v.side, false
	v.follow()
	return func() tea.Msg { return ui.GotoMsg{Screen: "2", View: v.side + 1} }
}

// move gives the list a message that may move its cursor, and takes the other side along.
func (v *graphList) move(msg tea.Msg) {
	v.list.Update(msg)
	v.graphLink.side, v.ofPass = v.side, false
	v.follow()
}

// layer returns the layer under the cursor, or nil.
func (v *graphList) layer() *report.Layer {
	if at := v.list.At(); at >= 0 && at < len(v.lines) {
		return &v.layers[v.lines[at].layer]
	}
	return nil
}

// build makes the lines anew and keeps the cursor on its layer, or where that is gone on what its first member went to.
func (v *graphList) build() {
	name, members := "", []string(nil)
	if l := v.layer(); l != nil {
		name, members = l.Name, l.From[:min(1, len(l.From))]
	}
	v.lines, v.names, v.shapes, v.ops = v.lines[:0:0], 0, 0, 0
	before := map[string]string{}
	if p := v.snap.Passes; p == nil {
		v.layers = nil
	} else if v.side == sourceSide {
		v.layers = p.Source
		v.fates = make(map[string]report.LedgerEntry, len(p.Ledger))
		for _, e := range p.Ledger {
			v.fates[e.Layer] = e
		}
	} else {
		var was []report.Layer
		v.layers, was = v.network()
		for _, l := range was {
			before[l.Name] = l.Text
		}
	}
	v.times = nil
	if t := v.snap.Timings; t != nil && v.side == engineSide && v.step == engineStep {
		v.times = make(map[string]report.LayerTiming, len(t.Layers))
		for _, l := range t.Layers {
			v.times[l.Name] = l
		}
	}
	for i := range v.layers {
		v.add(i, before)
	}
	v.list.Lines = len(v.lines)
	v.list.Refresh()
	at := slices.IndexFunc(v.lines, func(l graphLine) bool { return v.layers[l.layer].Name == name })
	if at < 0 {
		at = slices.IndexFunc(v.lines, func(l graphLine) bool { return v.belongs(&v.layers[l.layer], members) })
	}
	v.list.Select(max(0, at))
}

// add appends layer i and what is unfolded below it.
func (v *graphList) add(i int, before map[string]string) {
	l := &v.layers[i]
	line := graphLine{layer: i}
	if v.side == engineSide && v.step != engineStep {
		if text, was := before[l.Name]; !was {
			line.changed = '+'
		} else if text != l.Text {
			line.changed = '~'
		}
	}
	if v.affected && !v.isAffected(l, line) {
		return
	}
	v.lines = append(v.lines, line)
	v.names, v.shapes = max(v.names, ui.Width(shortName(l.Name))), max(v.shapes, min(ui.Width(v.dims(l)), 24))
	v.ops = max(v.ops, ui.Width(l.Op))
	for _, text := range v.below(l) {
		v.lines = append(v.lines, graphLine{layer: i, text: text})
	}
	v.lines[len(v.lines)-1].last = true
}

// isAffected reports whether anything happened to a layer: on the left in all, on the right in the pass that is shown.
func (v *graphList) isAffected(l *report.Layer, line graphLine) bool {
	switch {
	case v.side == sourceSide:
		return v.fates[l.Name].Fate != "kept" || len(v.off[l.Name]) > 0
	case v.step != engineStep:
		return line.changed != 0
	}
	return len(l.From) > 1
}

// below returns what is unfolded below a layer.
func (v *graphList) below(l *report.Layer) []string {
	var lines []string
	if v.unfolded[unfold{v.side, l.Name, "i"}] {
		if v.side == sourceSide {
			lines = append(lines, fateText(v.fates[l.Name]))
		} else {
			lines = append(lines, l.From...)
		}
	}
	if v.unfolded[unfold{v.side, l.Name, "e"}] {
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

// unfold shows or hides something below the layer under the cursor.
func (v *graphList) unfold(what string) {
	if l := v.layer(); l != nil {
		key := unfold{v.side, l.Name, what}
		v.unfolded[key] = !v.unfolded[key]
		v.build()
	}
}

// follow moves the cursor of the other side to the first layer that belongs to this one.
func (v *graphList) follow() {
	other := v.lists[1-v.side]
	names := v.selected()
	for i, line := range other.lines {
		if other.belongs(&other.layers[line.layer], names) && other.list.Select(i) {
			return
		}
	}
}

// belongs reports whether a layer of this side is, or has as members, any of the source layers.
func (v *graphList) belongs(l *report.Layer, names []string) bool {
	if v.side == sourceSide {
		return slices.Contains(names, l.Name)
	}
	return slices.ContainsFunc(l.From, func(n string) bool { return slices.Contains(names, n) })
}

func (v *graphList) jump() tea.Cmd {
	v.graphLink.side = 1 - v.side
	return func() tea.Msg { return ui.GotoMsg{Screen: "2", View: 2 - v.side} }
}

// The cells of a time in a list, and what a name may be cut to so that time and shape have room.
const (
	listTime  = 10
	leastName = 20
)

func (v *graphList) Render(w, h int) string {
	return v.Look.Render(w, h, func(c *ui.Canvas) {
		if v.snap.Passes == nil {
			v.wait(c, "graph")
			return
		}
		v.list.Draw(c)
	})
}
