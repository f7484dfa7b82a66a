package graph

import (
	"fmt"

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

// walk moves the cursor along the edges of the networks.
type walk struct {
	sides *sides
	trail trail
}

// along goes along an edge to a layer that the one under the cursor reads from, or that reads it: a person chooses among several.
func (w *walk) along(readers bool) tea.Cmd {
	n := w.sides.list()
	line := n.line()
	if line == nil {
		return nil
	}
	list := outside(n.edges.of(n.layers), line, readers)
	what, none := "reads from", "it reads from no layer"
	if readers {
		what, none = "is read by", "no layer reads it"
	}
	switch len(list) {
	case 0:
		return pane.Say(ui.Warn, none)
	case 1:
		return w.to(n.layers[list[0]].Name)
	}
	items := make([]string, len(list))
	for i, at := range list {
		l := &n.layers[at]
		items[i] = fmt.Sprintf("%s  %s %s", words.ShortName(l.Name), l.Op, dimsOf(l))
	}
	return ui.Open(&ui.Choice{Name: words.ShortName(n.layers[line.layer].Name) + " " + what, Items: items, Active: -1,
		Pick: func(i int) tea.Cmd { return w.to(n.layers[list[i]].Name) }})
}

// to puts the cursor of its side on a layer, or on the blocks that it is folded into, and notes where it was.
func (w *walk) to(layer string) tea.Cmd {
	now, ok := w.here()
	if !ok || !w.put(step{w.sides.state.side, layer}) {
		return pane.Say(ui.Warn, words.ShortName(layer)+" is not listed: it does not match the filter, or no pass changed it")
	}
	w.trail.leave(now)
	return nil
}

// turn goes back or forth on the way that was walked.
func (w *walk) turn(by int) tea.Cmd {
	now, _ := w.here()
	to, ok := w.trail.turn(by, now)
	if !ok {
		if by < 0 {
			return pane.Say(ui.Warn, "this is where the walk began")
		}
		return pane.Say(ui.Warn, "this is where the walk has come to")
	}
	if !w.put(to) {
		return pane.Say(ui.Warn, words.ShortName(to.layer)+" is not listed")
	}
	return nil
}

// here is what the cursor is on.
func (w *walk) here() (step, bool) {
	n := w.sides.list()
	line := n.line()
	if line == nil {
		return step{}, false
	}
	return step{w.sides.state.side, n.layers[line.layer].Name}, true
}

// put puts the cursor on a layer, or on what it is folded into; it reports whether that is listed.
func (w *walk) put(s step) bool {
	n := w.sides.lists[s.side]
	at := n.find(func(l *report.Layer) bool { return l.Name == s.layer })
	if at < 0 || !n.list.Select(at) {
		return false
	}
	w.sides.moved(s.side)
	return true
}
