package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/internal/host"
)

func exportCommand(t tables) *cobra.Command {
	o := &modelFlags{own: t.own, lookOnly: true}
	var output string
	var optimized bool
	c := &cobra.Command{
		Use:   "export [MODEL|ENGINE] -o FILE",
		Short: "Write a network as an ONNX model",
		Long: `Write a network as an ONNX model: as it was imported, or with --optimized as the passes leave it that depend on neither
device nor precision. Fused layers become the operators that they are made of. A layer that has no form in ONNX is an error
that names it.`,
		Example: examples("what the passes make of a model", "trtui export model.onnx --optimized -o optimized.onnx",
			"the built-in digit classifier", "trtui export -o digits.onnx"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("-o FILE is missing")}
			}
			if !optimized && (o.config.changed("disable") || o.config.changed("passes-until")) {
				return usageError{errors.New("--disable and --passes-until say how the network is optimised; add --optimized")}
			}
			return exportModel(c.Context(), o, c.OutOrStdout(), modelArg(args), output, optimized)
		},
	}
	o.register(c, takePasses|takeFormat)
	c.Flags().StringVarP(&output, "output", "o", "", "the ONNX `FILE` to write")
	c.Flags().BoolVar(&optimized, "optimized", false, "as the passes leave it that do not depend on precision")
	under(c, outputHeading, "output")
	under(c, configHeading, "optimized")
	return c
}

// exportOutput is the JSON of trtui export.
type exportOutput struct {
	File   string
	Bytes  int64
	Layers int
}

func exportModel(ctx context.Context, o *modelFlags, stdout io.Writer, path, output string, optimized bool) error {
	if err := o.check(); err != nil {
		return err
	}
	m, err := o.openModel(path)
	if err != nil {
		return err
	}
	n := m.Network
	if optimized {
		if n, err = o.optimized(ctx, n); err != nil {
			return err
		}
	}
	size, err := host.WriteFile(output, func(w io.Writer) error { return onnx.Export(w, n) })
	if err != nil {
		return err
	}
	if o.output.json() {
		return writeReport(stdout, m.Head(), exportOutput{output, size, len(n.Layers)})
	}
	_, err = fmt.Fprintf(stdout, "%s: %s, %s, %s KiB\n", output, m.Name(), count(len(n.Layers), "layer"), kib(int(size)))
	return err
}

// optimized returns the network after the passes that do not depend on precision, for a device that computes all they make.
func (f *modelFlags) optimized(ctx context.Context, n *graph.Network) (*graph.Network, error) {
	cfg := pass.Config{Until: f.config.until, Extra: f.own.Passes}
	for _, d := range splitDisabled(f.config.disable, f.own.Passes...) {
		if site, err := pass.ParseSite(d); err == nil {
			cfg.DisableSites = append(cfg.DisableSites, site)
		} else {
			cfg.DisableRules = append(cfg.DisableRules, d)
		}
	}
	opt, err := build.Optimize(ctx, n, cfg)
	if err != nil {
		return nil, err
	}
	return opt.Network, nil
}
