package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/ui"
)

func exportCommand(t tables) *cobra.Command {
	o := onBackends(t)
	var output string
	var how exportFlags
	c := &cobra.Command{
		Use:        "export [MODEL|ENGINE] -o FILE",
		SuggestFor: []string{"save", "html", "csv", "onnx", "perfetto", "netron", "trex", "markdown"},
		Short:      "Write a network as an ONNX model, or with a subcommand what is known of an engine for other tools",
		Long: `Write a network as an ONNX model: as it was imported, or with --optimized as the passes leave it that depend on neither
device nor precision. Fused layers become the operators that they are made of. A layer that has no form in ONNX is an error
that names it.

With --qdq it is written as a configuration in INT8 quantises it: QuantizeLinear and DequantizeLinear around the layers that
compute in 8 bits on the device, with the ranges that calibration finds and corrected biases, for any runtime that reads them. Activations with zero
points are unsigned bytes, whichever --activations names: OpenVINO (2026.4) computes signed ones wrongly where they are concatenated. Read again
they are the same engine. --activations symmetric writes signed bytes without zero points, as TensorRT takes them.

On processors that have AVX2 and no VNNI, ONNX Runtime (1.32) and OpenVINO add two products of bytes in 16 bits, where large
ones saturate: results are worse there than is said here. Weights of 7 bits (--weight-ranges minmax/7bit) cure both. In ONNX
Runtime so do --activations symmetric, and, with the file as it is, the session option session.x64quantprecision, set to 1,
which makes it exact, and slower.`,
		Example: examples("what the passes make of a model", "trtui export model.onnx --optimized -o optimized.onnx",
			"the built-in digit classifier", "trtui export -o digits.onnx",
			"a quantised model for other runtimes", "trtui export model.onnx --qdq --calib-data images/ -o model.qdq.onnx"),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if _, err := os.Stat(args[0]); err != nil && c.Flags().Lookup(args[0]) != nil {
				return fmt.Errorf("%q is no model, and a flag: --%s", args[0], args[0])
			}
			if len(args) == 1 {
				return nil
			}
			var forms []string
			for _, sub := range c.Commands() {
				forms = append(forms, sub.Name())
			}
			return fmt.Errorf("%q is neither a model alone nor a form of an export: name one of %s", args[0], strings.Join(forms, ", "))
		},
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("-o FILE is missing")}
			}
			if !how.optimized && !how.qdq && (o.config.changed("rules") || o.config.changed("disable") || o.config.changed("passes-until")) {
				return usageError{errors.New("--rules, --disable and --passes-until say how the network is optimised; add --optimized")}
			}
			if how.qdq && how.optimized {
				return usageError{errors.New("--qdq writes an optimised network: leave --optimized out")}
			}
			if !how.qdq && o.config.changed("precision") {
				return usageError{errors.New("--precision says how the network is quantised; add --qdq")}
			}
			return exportModel(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), output, how)
		},
	}
	o.register(c, takeInputs|takeRandom|takeShapes|takePrecision|takeInt8|takePasses|takeBackend|takeThreads|takeOutput)
	takesStandardOutput(c)
	c.Flags().StringVarP(&output, "output", "o", "", "the ONNX `FILE` to write; "+standardOutput+" for standard output")
	c.Flags().BoolVar(&how.optimized, "optimized", false, "as the passes leave it that do not depend on precision")
	c.Flags().BoolVar(&how.qdq, "qdq", false, "as it is quantised in int8, with QuantizeLinear and DequantizeLinear; --precision int8 goes without saying")
	under(c, outputHeading, "output")
	under(c, configHeading, "optimized", "qdq")
	for _, f := range exchange.Formats() {
		if f.Name != reportForm { // which is among the pictures
			c.AddCommand(shareCommand(t, f))
		}
	}
	for _, f := range ui.PictureForms() {
		c.AddCommand(pictureCommand(t, f))
	}
	return c
}

// exportFlags say in which of its forms a network is written; as it was imported without any.
type exportFlags struct{ optimized, qdq bool }

// exportOutput is the JSON of trtui export.
type exportOutput struct {
	File   string
	Bytes  int64
	Layers int
}

func exportModel(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path, output string, how exportFlags) error {
	if err := o.check(); err != nil {
		return err
	}
	if how.qdq {
		return o.exportQuantised(ctx, stdout, stderr, path, output)
	}
	m, err := o.openModel(path)
	if err != nil {
		return err
	}
	n := m.Network
	if how.optimized {
		if n, err = o.optimized(ctx, n); err != nil {
			return err
		}
	}
	return o.writeNetwork(stdout, m, n, output)
}

// writeNetwork writes a network of a model as ONNX, and what it wrote to stdout.
func (f *modelFlags) writeNetwork(stdout io.Writer, m *model.Model, n *graph.Network, output string) error {
	if output == standardOutput {
		return onnx.Export(underlying(stdout), n)
	}
	size, err := host.WriteFile(output, func(w io.Writer) error { return onnx.Export(w, n) })
	if err != nil {
		return err
	}
	if f.output.json() {
		return writeReport(stdout, m.Head(), exportOutput{output, size, len(n.Layers)})
	}
	_, err = fmt.Fprintf(stdout, "%s: %s, %s, %s\n", output, m.Name(), count(len(n.Layers), "layer"), bytesText(int(size)))
	return err
}

// exportQuantised writes the model as a configuration quantises it.
func (f *modelFlags) exportQuantised(ctx context.Context, stdout, stderr io.Writer, path, output string) error {
	return f.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := f.configFor(p.model)
		if err != nil {
			return err
		}
		if !f.config.changed("precision") && !cfg.Quantizes() {
			cfg.Precision = config.INT8
		}
		if !f.config.changed("activations") && config.ChoosesRows(cfg.Quantization) { // ONNX has no product of rows by ranges of their own
			cfg.Quantization.Activations = cfg.Quantization.WithRows(false)
			if stages.MultipliesTokens(p.model.Network) {
				writeNote(stderr, "%s", withoutRows(cfg.Quantization))
			}
		}
		warnOfRandomRanges(stderr, r, cfg)
		n, err := r.Quantised(ctx, cfg)
		if err != nil {
			return err
		}
		if cfg.Quantization.Saturates() {
			writeNote(stderr, "without VNNI, ONNX Runtime and OpenVINO saturate sums of these bytes; --weight-ranges minmax/7bit cures that, and in ONNX Runtime --activations symmetric or session.x64quantprecision=1")
		}
		return f.writeNetwork(stdout, p.model, n, output)
	})
}

// withoutRows says that an export of sequences is not what other commands may choose by default, and how they are made to agree.
func withoutRows(q config.Quantization) string {
	return "ranges are of tensors, as --activations " + q.Activations + " has them everywhere; by default other commands take ranges by token where these win, of which ONNX has no product, and --activations " + q.WithRows(true) + " writes them for nodes of their own"
}

// optimized returns the network after the passes that do not depend on precision, for a device that computes all they make.
func (f *modelFlags) optimized(ctx context.Context, n *graph.Network) (*graph.Network, error) {
	cfg := pass.Config{Until: f.config.until, Extra: f.config.passes()}
	cfg.Disable(splitDisabled(f.config.disable, f.config.passes()...))
	opt, err := build.Optimize(ctx, n, cfg)
	if err != nil {
		return nil, err
	}
	return opt.Network, nil
}
