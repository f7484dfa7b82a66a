package cmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

func calibrateCommand(t tables) *cobra.Command {
	o := onBackends(t)
	var compare, weights bool
	var output string
	c := &cobra.Command{
		Use:   "calibrate [MODEL]",
		Short: "Find the ranges of activations, with --compare by every calibrator side by side",
		Example: examples("the range of every tensor by every calibrator", "trtui calibrate model.onnx --data images/ --compare",
			"what 8 bits do to the weights of each layer", "trtui calibrate model.onnx --weights",
			"ranges and histograms, to build with them without data", "trtui calibrate model.onnx --data images/ -o ranges.json"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return calibrate(c.Context(), o, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), compare, weights, output)
		},
	}
	o.register(c, takeInputs|takeRandom|takeShapes|takeState|takeCalibrator|takePasses|takeBackend|takeThreads|takeOutput)
	c.Flags().BoolVar(&compare, "compare", false, "all calibrators, not only --calibrator")
	c.Flags().BoolVar(&weights, "weights", false, "the weights of every layer as well, with a scale per output channel and with a single one")
	c.Flags().StringVarP(&output, "output", "o", "", "the `FILE` of JSON to write ranges, histograms and means to, for --ranges")
	under(c, "Report", "compare", "weights")
	under(c, outputHeading, "output")
	return c
}

func calibrate(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path string, compare, weights bool, output string) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		cfg.Precision = config.INT8
		if output != "" {
			return writeCalibrationFile(ctx, o, stdout, p, r, cfg, output)
		}
		snap, err := r.Report(ctx, cfg, report.PartCalibration, run.Profiling{})
		if err != nil {
			return err
		}
		c := snap.Calibration
		if !weights {
			short := *c
			short.Weights = nil
			c = &short
		}
		if o.output.json() {
			return writeReport(stdout, snap.Head(), c)
		}
		fmt.Fprintf(stdout, "%s: %s of %s\n", p.model.Name(), count(c.Batches, "item"), p.work.CalData.Name())
		if c.Random {
			fmt.Fprintln(stdout, "random calibration: no data was given, so the ranges say nothing about real inputs")
		}
		fmt.Fprintln(stdout)
		writeCalibration(stdout, c, compare)
		if weights {
			writeWeights(stdout, c.Weights)
		}
		return nil
	})
}

// calibrateOutput is the JSON of trtui calibrate -o.
type calibrateOutput struct {
	File    string
	Bytes   int64
	Tensors int
}

// writeCalibrationFile writes what calibration finds to a file, and what it wrote to stdout.
func writeCalibrationFile(ctx context.Context, o *modelFlags, stdout io.Writer, p *place, r *sessions.Runner, cfg config.Config, output string) error {
	f, err := r.Calibration(ctx, cfg)
	if err != nil {
		return err
	}
	size, err := f.Write(output)
	if err != nil {
		return err
	}
	if o.output.json() {
		return writeReport(stdout, r.Head(&cfg), calibrateOutput{output, size, len(f.Tensors)})
	}
	_, err = fmt.Fprintf(stdout, "%s: %s by %s on %s, %s KiB\n", output, count(len(f.Tensors), "tensor"), f.Calibrator, f.Data, kib(int(size)))
	return err
}

// writeCalibration prints what the active calibrator, or each of them, makes of every tensor.
func writeCalibration(w io.Writer, c *report.Calibration, compare bool) {
	var rows [][]string
	for _, t := range c.Tensors {
		name := t.Tensor
		for i, r := range t.By {
			if !compare && c.Calibrators[i] != c.Active {
				continue
			}
			rows = append(rows, []string{
				name, c.Calibrators[i], fmt.Sprintf("%.5g", r.Amax), fmt.Sprintf("%.5g", r.Scale), fmt.Sprintf("%.4f", 100*r.Clip),
				fmt.Sprintf("%.5f", r.KL), decibels(r.SQNR), best(t, i),
			})
			name = ""
		}
	}
	writeTable(w, []string{"tensor", "calibrator", ">amax", ">scale", ">clip %", ">KL", ">SQNR dB", ""}, rows)
}

// writeWeights prints what 8 bits make of each layer's weights.
func writeWeights(w io.Writer, list []report.WeightCalibration) {
	var rows [][]string
	for _, l := range list {
		use := "-"
		switch {
		case l.Given:
			use = "the model's own"
		case l.Used:
			use = "int8"
		}
		rows = append(rows, []string{
			short(l.Layer), fmt.Sprint(l.Channels), fmt.Sprintf("%.2f", l.Spread), fmt.Sprint(l.DeadCount),
			decibels(l.PerChannel), decibels(l.PerTensor), fmt.Sprintf("%.1f", l.PerChannel-l.PerTensor), use,
		})
	}
	fmt.Fprintln(w)
	writeTable(w, []string{"weights of", "~>channels", ">max/median", ">nearly dead", ">per-channel dB", ">per-tensor dB", ">loss dB", "used in"}, rows)
}

// best marks the calibrator with the highest SQNR.
func best(t report.TensorCalibration, i int) string {
	for _, r := range t.By {
		if r.SQNR > t.By[i].SQNR {
			return ""
		}
	}
	return "best"
}
