package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/plugin"
)

// pluginFlags name modules with ops that models may have.
type pluginFlags struct {
	paths  []string
	loaded []*plugin.Plugin
}

func (p *pluginFlags) addTo(c *cobra.Command) {
	c.Flags().StringArrayVar(&p.paths, "plugin", nil, "a WebAssembly module `FILE` with ops that the model has; may be repeated; trtui inspect plugins shows what is in one")
	under(c, configHeading, "plugin")
}

// loadPlugins loads the modules once, and adds their ops to the program's.
func (f *modelFlags) loadPlugins() error {
	for _, path := range f.plugins.paths[len(f.plugins.loaded):] {
		p, err := plugin.Open(path, plugin.DefaultLimits(), nil)
		if err != nil {
			return err
		}
		ops := slices.Concat(f.own.Ops, p.GraphOps())
		if _, err := graph.Ops().Plus(ops...); err != nil {
			return fmt.Errorf("plugin %s: %w", path, err)
		}
		f.own.Ops = ops
		f.plugins.loaded = append(f.plugins.loaded, p)
	}
	f.config.own = f.own
	return nil
}
