package stages

import (
	"fmt"
	"maps"
	"slices"

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
	for _, layer := range slices.Sorted(maps.Keys(cfg.Pin)) {
		c.check("pinned", layer, cfg.Pin[layer])
	}
	for _, layer := range slices.Sorted(maps.Keys(cfg.Forbid)) {
		for _, tactic := range cfg.Forbid[layer] {
			c.check("forbidden", layer, tactic)
		}
	}
	return model.Unknown("tactics", c.unknown)
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
			text += fmt.Sprintf(": it is a part of %q", c.parts[i].engine)
		} else {
			text += config.DidYouMean(name, c.names)
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
