package views

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// layerCursor is the one cursor that all screens share: the layer that a person has put a cursor on, in whichever pane, is under
// the cursor of every screen that is shown after it.
type layerCursor struct {
	at    pane.LayerRef
	set   bool       // a person has moved it
	pane  ui.View    // that had the focus after the message before
	seen  string     // the layer under its cursor then
	shown *ui.Screen // and the screen
	trail []visit
}

// visit is a place that a layer led from to another screen.
type visit struct {
	from ui.GotoMsg
	at   pane.LayerRef
	to   string // the screen, see screenOf
}

// screenOf names the screen of a place.
func screenOf(p ui.GotoMsg) string { return fmt.Sprint(p.Screen, ".", p.Page) }

// update looks at what a message has done to the panes: where a person moved a cursor to another layer, the other panes of the
// screen follow, and so do those of a screen that comes to be shown.
func (c *layerCursor) update(app *ui.App, snap *report.Snapshot, msg tea.Msg) {
	if show, ok := msg.(pane.ShowLayerMsg); ok { // a screen's own way to a layer
		c.leave(app, pane.GraphLayer(snap, show.Layer), ui.GotoMsg{Screen: pane.GraphKey, Page: 1})
	}
	at, screen := app.Focused(), app.Shown()
	l, ok := pane.LayerAt(at)
	_, reports := msg.(*report.Snapshot)
	switch {
	case ok && at == c.pane && l.Name != c.seen && ui.ByHand(msg):
		c.at, c.set = l, true
		c.spread(screen, snap, at)
	case c.set && (screen != c.shown || reports || !ui.ByHand(msg) && ok && l.Name != c.seen):
		c.spread(screen, snap, nil)
	}
	if l, _ = pane.LayerAt(at); at != nil {
		c.pane, c.seen, c.shown = at, l.Name, screen
	}
}

// spread puts the cursors of a screen's panes on the layer, or next to it, but for that of one pane.
func (c *layerCursor) spread(screen *ui.Screen, snap *report.Snapshot, but ui.View) {
	for _, v := range screen.Views {
		if v != but {
			put(v, snap, c.at)
		}
	}
	screen.Touch()
}

// put puts the cursor of a pane on a layer, or on what stands for it; it reports whether the pane has the layer.
func put(v ui.View, snap *report.Snapshot, l pane.LayerRef) bool {
	follows, ok := v.(pane.Following)
	if !ok || follows.ToLayer(l) {
		return ok
	}
	for _, other := range pane.Neighbours(snap, l) {
		if follows.ToLayer(other) {
			break
		}
	}
	return false
}

// leave notes that a layer leads from the pane that has the focus to another screen.
func (c *layerCursor) leave(app *ui.App, l pane.LayerRef, to ui.GotoMsg) {
	const most = 32
	at, _ := pane.LayerAt(app.Focused())
	c.trail = append(c.trail, visit{app.Place(), at, screenOf(to)})
	c.trail = c.trail[max(0, len(c.trail)-most):]
	c.at, c.set = l, true
}

// choose asks on which screen to show the layer under the cursor of the focused pane.
func (c *layerCursor) choose(app *ui.App, snap *report.Snapshot) tea.Cmd {
	l, ok := pane.LayerAt(app.Focused())
	if !ok {
		return nil
	}
	var items []string
	var pick []func() tea.Cmd
	for _, s := range app.Screens() {
		for i, v := range s.Views {
			if _, ok := v.(pane.Following); !ok || s == app.Shown() {
				continue
			}
			name, to := s.Name, app.PlaceOf(s, i)
			items = append(items, s.Key+" "+name)
			pick = append(pick, func() tea.Cmd { return c.visit(app, snap, v, l, to, name) })
			break
		}
	}
	return ui.Open(&ui.Choice{Name: "Go to " + words.ShortName(l.Name) + " on", Items: items, Active: -1, Digits: true, Pick: func(i int) tea.Cmd { return pick[i]() }})
}

// visit shows a layer in a pane of another screen.
func (c *layerCursor) visit(app *ui.App, snap *report.Snapshot, v ui.View, l pane.LayerRef, to ui.GotoMsg, name string) tea.Cmd {
	c.leave(app, l, to)
	show := func() tea.Msg { return to }
	if to.Screen == pane.GraphKey {
		if name := graphName(snap, l); name != "" {
			c.trail = c.trail[:len(c.trail)-1] // the message notes it
			return pane.ShowLayer(name)
		}
	}
	if put(v, snap, l) {
		return show
	}
	return tea.Batch(show, pane.Say(ui.Warn, name+" does not show "+words.ShortName(l.Name)+": the cursor is next to where it would be"))
}

// back shows again where a layer led from to the screen that is shown.
func (c *layerCursor) back() tea.Cmd {
	last := len(c.trail) - 1
	if last < 0 {
		return nil
	}
	v := c.trail[last]
	c.trail = c.trail[:last]
	if v.at.Name != "" {
		c.at = v.at
	}
	return func() tea.Msg { return v.from }
}

// leads reports whether a layer led to the screen that is shown.
func (c *layerCursor) leads(app *ui.App) bool {
	last := len(c.trail) - 1
	return last >= 0 && c.trail[last].to == screenOf(app.Place())
}

// graphName returns the name by which the graph has a layer: of the engine, or else of the source; "": of neither.
func graphName(s *report.Snapshot, l pane.LayerRef) string {
	if s.Passes == nil {
		return ""
	}
	for _, side := range [][]report.Layer{s.Passes.Engine, s.Passes.Source} {
		if i := pane.Nearest(l, len(side), func(i int) pane.LayerRef { return pane.RefOf(&side[i]) }); i >= 0 {
			return side[i].Name
		}
	}
	return ""
}

// lacks says why a key of the cursor does nothing; ok is false where it is no such key.
func (c *layerCursor) lacks(app *ui.App, i ui.Intent) (why string, ok bool) {
	switch i {
	case ui.GoTo:
		if _, on := pane.LayerAt(app.Focused()); !on {
			return "no layer under the cursor here", true
		}
	case ui.Return:
		if !c.leads(app) {
			return "no layer led here", true
		}
	default:
		return "", false
	}
	return "", true
}
