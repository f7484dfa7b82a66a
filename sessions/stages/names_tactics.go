package stages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
)

// checkTactics returns an error that names every layer of a pin or ban that the engine lacks, and every tactic that the
// backend lacks for its layer.
func checkTactics(b run.Backend, cfg config.Config, l *build.Lowered) error {
	c := tacticNames{backend: b, layers: map[string]*graph.Layer{}}
	for _, layer := range l.Network.AllLayers() {
		c.layers[layer.Name] = layer
		c.names = append(c.names, layer.Name)
		for _, from := range layer.From {
			if from != layer.Name {
				c.parts = append(c.parts, part{from, layer.Name})
			}
		}
	}
	named := choicesOf(cfg.Pin, cfg.Forbid, l.Network)
	for _, layer := range slices.Sorted(maps.Keys(named.Pin)) {
		c.check("pinned", layer, named.Pin[layer])
	}
	for _, layer := range slices.Sorted(maps.Keys(named.Forbid)) {
		for _, tactic := range named.Forbid[layer] {
			c.check("forbidden", layer, tactic)
		}
	}
	return model.Unknown("tactics", c.unknown)
}

// choicesOf returns pins and bans by the engine's layers. A source layer stands for the one that computes it, so long as that is one.
func choicesOf(pin map[string]string, forbid map[string][]string, n *graph.Network) build.TacticChoices {
	layers, owners := map[string]bool{"": true}, map[string][]string{}
	for _, layer := range n.AllLayers() {
		layers[layer.Name] = true
		for _, from := range layer.From {
			owners[from] = append(owners[from], layer.Name)
		}
	}
	named := func(name string) string {
		if of := owners[name]; !layers[name] && len(of) == 1 {
			return of[0]
		}
		return name
	}
	c := build.TacticChoices{Pin: map[string]string{}, Forbid: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(pin)) {
		if layer := named(name); layer == name || pin[layer] == "" { // what is said of the layer by its own name holds
			c.Pin[layer] = pin[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(forbid)) {
		layer := named(name)
		c.Forbid[layer] = append(c.Forbid[layer], forbid[name]...)
	}
	return c
}

// containing lists the first few layers whose names have text in them, as one types the part that tells them apart.
func (c *tacticNames) containing(text string) string {
	const few = 3
	var list []string
	for _, name := range c.names {
		if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			list = append(list, fmt.Sprintf("%q", name))
		}
	}
	if len(list) == 0 {
		return ""
	}
	more := ""
	if len(list) > few {
		more = fmt.Sprintf(" and %d more", len(list)-few)
	}
	return "; with that in their names there are " + strings.Join(list[:min(few, len(list))], ", ") + more
}

// tacticNames looks for names of layers and tactics.
type tacticNames struct {
	backend run.Backend
	layers  map[string]*graph.Layer // of the engine
	names   []string
	parts   []part
	unknown []string
}

// part is a source layer that an engine layer of another name computes.
type part struct{ source, engine string }

// check notes a layer or its tactic if there is no such one. Without a layer any tactic of the backend will do, whether the
// engine has layers for it or not: one that a selftest found wrong is forbidden for all models alike.
func (c *tacticNames) check(what, name, tactic string) {
	layer := c.layers[name]
	if layer == nil && name != "" {
		text := fmt.Sprintf("%s is %s for layer %s, which the engine does not have", tactic, what, config.Quoted(name))
		if i := slices.IndexFunc(c.parts, func(p part) bool { return p.source == name }); i >= 0 {
			text += fmt.Sprintf(": parts of it are in %q and others", c.parts[i].engine)
		} else {
			text += cmp.Or(config.DidYouMean(name, c.names), c.containing(name))
		}
		c.unknown = append(c.unknown, text)
		return
	}
	var tactics []string
	for _, l := range c.layers { // the order is that of the names in the end
		if layer == nil || l == layer {
			for _, t := range c.backend.Tactics(l.Op) {
				tactics = append(tactics, t.Name)
			}
		}
	}
	if slices.Contains(tactics, tactic) || layer == nil && c.has(tactic) {
		return
	}
	slices.Sort(tactics)
	of := "any layer"
	if layer != nil {
		of = fmt.Sprintf("%s (%s)", layer.Name, layer.Op.Name)
	}
	c.unknown = append(c.unknown, fmt.Sprintf("%s is %s, but %s has no such tactic for %s%s", tactic, what, c.backend.Info().Name, of, config.DidYouMean(tactic, slices.Compact(tactics))))
}

// has reports whether the backend has a tactic for some op.
func (c *tacticNames) has(tactic string) bool {
	return slices.ContainsFunc(graph.Ops().All(), func(op *graph.Op) bool {
		return slices.ContainsFunc(c.backend.Tactics(op), func(t kernels.Tactic) bool { return t.Name == tactic })
	})
}
