package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/sessions/config"
)

// CheckConfig returns an error for rules, places and inputs that a configuration names and that there are not. Layers and
// tactics of the engine are checked when it is built.
func (m *Model) CheckConfig(cfg config.Config) error {
	_, err := m.values(cfg)
	return errors.Join(m.checkDisabled(cfg.Disable), err)
}

// checkDisabled returns an error that names every rule that no pass has and every place whose layers the model lacks.
func (m *Model) checkDisabled(disabled []string) error {
	rules, layers := config.RuleNames(m.Passes...), layerNames(m.Network)
	var unknown []string
	for _, text := range disabled {
		site, err := pass.ParseSite(text)
		if err != nil {
			site.Rule = text
		}
		if !slices.Contains(rules, site.Rule) {
			unknown = append(unknown, fmt.Sprintf("no rule or pass is called %q%s", site.Rule, config.DidYouMean(site.Rule, rules)))
			continue
		}
		for _, name := range site.Layers {
			if !slices.Contains(layers, name) {
				unknown = append(unknown, fmt.Sprintf("%s: the model has no layer %q%s", site.Rule, name, config.DidYouMean(name, layers)))
			}
		}
	}
	return unknownError("disable", unknown)
}

// checkShapes returns an error that names every input that the model lacks, and every shape that its input cannot have.
func (m *Model) checkShapes(cfg config.Config) error {
	var inputs, typed, wrong []string
	for _, t := range m.Network.Inputs {
		inputs, typed = append(inputs, t.Name), append(typed, t.String())
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Shapes)) {
		i := slices.Index(inputs, name)
		if i < 0 {
			has := cmp.Or(config.DidYouMean(name, inputs), "; it has "+strings.Join(typed[:min(len(typed), 8)], ", "))
			wrong = append(wrong, fmt.Sprintf("the model has no input %q%s", name, has))
			continue
		}
		if text := misfit(m.Network.Inputs[i], cfg.Shapes[name]); text != "" {
			wrong = append(wrong, fmt.Sprintf("%s %s: %s", name, timesText(cfg.Shapes[name]), text))
		}
	}
	return unknownError("shapes", wrong)
}

// checkLayerPrecisions returns an error that names every rule that is for no layer.
func (s *stages) checkLayerPrecisions(cfg config.Config, o *build.Optimized) error {
	rules, err := cfg.Rules()
	if err != nil {
		return err
	}
	var unknown []string
	for _, r := range rules {
		if slices.ContainsFunc(o.Network.Layers, r.Matches) {
			continue
		}
		text := fmt.Sprintf("no layer of %s is called %q", s.model.Name(), r.Pattern)
		if !strings.Contains(r.Pattern, "*") {
			text += config.DidYouMean(r.Pattern, sourceNames(o.Network))
		}
		unknown = append(unknown, text)
	}
	return unknownError("layer precisions", unknown)
}

// checkTactics returns an error that names every layer of a pin or ban that the engine lacks, and every tactic that the
// backend lacks for its layer.
func (s *stages) checkTactics(cfg config.Config, l *build.Lowered) error {
	c := tacticNames{stages: s, layers: map[string]*graph.Layer{}}
	for _, layer := range l.Network.Layers {
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
	return unknownError("tactics", c.unknown)
}

// tacticNames looks for names of layers and tactics.
type tacticNames struct {
	*stages
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
		text := fmt.Sprintf("%s is %s for layer %q, which the engine does not have", tactic, what, name)
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
			for _, t := range c.Backend.Tactics(l.Op) {
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
	c.unknown = append(c.unknown, fmt.Sprintf("%s is %s, but %s has no such tactic for %s%s", tactic, what, c.Backend.Info().Name, of, config.DidYouMean(tactic, slices.Compact(tactics))))
}

// has reports whether the backend has a tactic for some op.
func (c *tacticNames) has(tactic string) bool {
	return slices.ContainsFunc(graph.Ops().All(), func(op *graph.Op) bool {
		return slices.ContainsFunc(c.Backend.Tactics(op), func(t kernels.Tactic) bool { return t.Name == tactic })
	})
}

// unknownNames is the error of a configuration that names what there is not.
type unknownNames struct {
	field string
	texts []string
}

func (u *unknownNames) Error() string { return u.field + ": " + strings.Join(u.texts, "; ") }

// unknownError joins what is not known to one error.
func unknownError(field string, unknown []string) error {
	if len(unknown) == 0 {
		return nil
	}
	return &unknownNames{field, unknown}
}

func layerNames(n *graph.Network) []string {
	names := make([]string, len(n.Layers))
	for i, l := range n.Layers {
		names[i] = l.Name
	}
	return names
}

// sourceNames returns the names by which a network's layers can be set: their own and those of the source layers in them.
func sourceNames(n *graph.Network) []string {
	var names []string
	for _, l := range n.Layers {
		names = append(append(names, l.Name), l.From...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
