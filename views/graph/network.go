package graph

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

func newNetworkView(g *graphs, side int) *networkView {
	v := &networkView{g: g, net: g.sides.lists[side]}
	v.net.list.Line, v.net.list.Fit = func(i int) ui.ListLine { return v.line(i, 0) }, v.line
	return v
}

func (v *networkView) Title() string {
	if v.net.side == sourceSide {
		return "Source"
	}
	return v.g.state.passTitle()
}

func (v *networkView) Note() (string, ui.Style) {
	if v.g.snap().Passes == nil {
		return "", ui.Muted
	}
	text := words.Plural(len(v.net.layers), "layer")
	if v.net.filter != nil || v.g.state.affected {
		text = fmt.Sprintf("%d of %s", v.net.matching(), text)
	}
	if v.g.state.affected {
		text += ", affected"
	}
	if n := len(v.g.state.off); n > 0 && v.net.side == sourceSide {
		text += fmt.Sprintf(", %d with a rule off", n)
	}
	return v.g.state.in.Note(text)
}

func (v *networkView) Keys() []ui.Key {
	keys := append(v.g.keys(), ui.K(";", "other side", "jump to the other side"))
	if line := v.net.line(); line != nil && (line.layers > 0 || v.net.hasInside(line.layer)) {
		keys = append(keys, ui.K("enter", "unfold", "the blocks, the layers of a block, or those inside the layer, below their line"))
	}
	return append(append(keys,
		ui.K("i", "members", "members of the layer, below it"),
		ui.K("e", "expand", "attributes and epilogue program of the layer, below it")),
		v.net.list.Keys()...)
}

func (v *networkView) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case *report.Snapshot:
		v.g.state.take(msg)
		v.net.take()
	case tea.KeyPressMsg:
		switch name := msg.String(); name {
		case ";":
			return v.jump()
		case "i", "e", "enter":
			v.unfold(name)
		case "P", "<", ">":
			v.g.state.side, v.g.state.ofPass = v.net.side, false
			return v.g.key(name)
		default:
			if v.net.list.Update(msg) {
				v.g.sides.moved(v.net.side)
				return nil
			}
			return v.g.key(name)
		}
	case pane.ShowLayerMsg:
		return v.showLayer(msg.Layer)
	case ui.FilterMsg:
		v.net.filter = msg.Filter
		v.net.list.Update(msg)
		v.net.build()
		v.g.sides.moved(v.net.side)
	default: // a click, a match
		if v.net.list.Update(msg) {
			v.g.sides.moved(v.net.side)
		}
	}
	return nil
}

// Layer implements pointing.
func (v *networkView) Layer() (pane.LayerRef, bool) {
	if l := v.net.layer(); l != nil {
		return pane.RefOf(l), true
	}
	return pane.LayerRef{}, false
}

// ToLayer implements following; the cursor goes to blocks that the layer is folded into.
func (v *networkView) ToLayer(l pane.LayerRef) bool {
	i := pane.Nearest(l, len(v.net.layers), func(i int) pane.LayerRef { return pane.RefOf(&v.net.layers[i]) })
	if i < 0 {
		return false
	}
	at := v.net.find(func(other *report.Layer) bool { return other.Name == v.net.layers[i].Name })
	return at >= 0 && v.net.list.Select(at)
}

// showLayer goes to a layer and puts the cursor on it: on this side if it has one of that name, the engine's side first.
func (v *networkView) showLayer(name string) tea.Cmd {
	named := func(l graphLine, layers []report.Layer) bool { return l.layers == 0 && layers[l.layer].Name == name }
	if v.net.side == engineSide && v.g.state.step != engineStep && v.g.snap().Passes != nil {
		v.g.show(len(v.g.snap().Passes.Steps))
	}
	v.net.reveal(name)
	at := slices.IndexFunc(v.net.lines, func(l graphLine) bool { return named(l, v.net.layers) })
	if at < 0 {
		return nil
	}
	if engine := v.g.sides.lists[engineSide]; v.net.side == sourceSide && slices.ContainsFunc(engine.lines, func(l graphLine) bool { return named(l, engine.layers) }) {
		return nil // it is the engine's too
	}
	v.net.list.Select(at)
	v.g.sides.moved(v.net.side)
	return func() tea.Msg { return ui.GotoMsg{Screen: pane.GraphKey, View: v.net.side + 1} }
}

// unfold shows or hides something below the layer under the cursor, or what blocks consist of.
func (v *networkView) unfold(what string) {
	line := v.net.line()
	switch {
	case line == nil:
	case line.layers > 0:
		what = line.below()
	case what == "enter" && v.net.hasInside(line.layer):
		what = unfoldInside
	}
	if line != nil && what != "enter" {
		key := unfold{v.net.side, v.net.layers[line.layer].Name, what}
		v.g.state.unfolded[key] = !v.g.state.unfolded[key]
		v.net.build()
	}
}

func (v *networkView) jump() tea.Cmd {
	v.g.state.side = 1 - v.net.side
	return func() tea.Msg { return ui.GotoMsg{Screen: pane.GraphKey, View: 2 - v.net.side} }
}

func (v *networkView) Render(w, h int) string {
	return v.g.look().Render(w, h, func(c *ui.Canvas) {
		if v.g.snap().Passes == nil {
			v.g.state.in.Wait(c, "graph")
			return
		}
		if v.g.state.side != v.net.side {
			v.links.find(v.g.sides.selected(), v.net.side, v.net.layers)
		}
		v.net.list.Empty = c.Keys("no layer was changed: press {Graph a} for all")
		v.net.list.Draw(c)
	})
}
