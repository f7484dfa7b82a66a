package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
)

// CheckConfig returns an error for rules, places and inputs that a configuration names and that there are not. Layers and
// tactics of the engine are checked when it is built.
func (m *Model) CheckConfig(cfg config.Config) error {
	_, err := m.SymbolsIfAny(cfg)
	return errors.Join(CheckDisabled(m, cfg.Disable), CheckState(m, cfg), err)
}

// CheckState returns an error for a state of a configuration that the model does not have, and for one that batches cannot have.
func CheckState(m *Model, cfg config.Config) error {
	if len(cfg.State) == 0 || m.Network == nil {
		return nil
	}
	if cfg.Batch > 1 {
		return fmt.Errorf("state: it goes from item to item, which a batch of %d computes at once; want a batch of 1", cfg.Batch)
	}
	return run.State(cfg.State).Check(m.Network)
}

// CheckDisabled returns an error that names every rule that no pass has and every place whose layers the model lacks.
func CheckDisabled(m *Model, disabled []string) error {
	rules, layers := config.RuleNames(m.Rules.All(m.Passes)...), layerNames(m.Network)
	var unknown []string
	for _, text := range disabled {
		site, err := pass.ParseSite(text)
		if err != nil {
			site.Rule = text
		}
		if !slices.Contains(rules, site.Rule) {
			unknown = append(unknown, fmt.Sprintf("no rule or pass is called %s%s", config.Quoted(site.Rule), config.DidYouMean(site.Rule, rules)))
			continue
		}
		for _, name := range site.Layers {
			if !slices.Contains(layers, name) {
				unknown = append(unknown, fmt.Sprintf("%s: the model has no layer %s%s", site.Rule, config.Quoted(name), config.DidYouMean(name, layers)))
			}
		}
	}
	return Unknown("disable", unknown)
}

func layerNames(n *graph.Network) []string {
	layers := n.AllLayers()
	names := make([]string, len(layers))
	for i, l := range layers {
		names[i] = l.Name
	}
	return names
}

// sourceNames returns the names by which a network's layers can be set: their own and those of the source layers in them.
func sourceNames(n *graph.Network) []string {
	var names []string
	for _, l := range n.AllLayers() {
		names = append(append(names, l.Name), l.From...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// CheckLayerPrecisions returns an error that names every rule that is for no layer.
func CheckLayerPrecisions(model string, cfg config.Config, o *build.Optimized) error {
	rules, err := cfg.Rules()
	if err != nil {
		return err
	}
	var unknown []string
	for _, r := range rules {
		if slices.ContainsFunc(o.Network.Layers, r.Matches) {
			continue
		}
		text := fmt.Sprintf("no layer of %s is called %s", model, config.Quoted(r.Pattern))
		if !strings.Contains(r.Pattern, "*") {
			text += config.DidYouMean(r.Pattern, sourceNames(o.Network))
		}
		unknown = append(unknown, text)
	}
	return Unknown("layer precisions", unknown)
}
