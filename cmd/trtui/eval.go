package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
)

// evalRow is one configuration's result in the JSON of trtui eval.
type evalRow struct {
	Precision    string   `json:"precision"`
	Calibrator   string   `json:"calibrator"`
	Top1         *float64 `json:"top1"`      // percent; null without labels
	Agreement    float64  `json:"agreement"` // percent of items whose first class is FP32's
	SQNR         float64  `json:"sqnr_db"`   // of the first output; 200 stands for equality
	Latency      float64  `json:"latency_ms"`
	LatencyP99   float64  `json:"latency_p99_ms"`
	WeightsBytes int      `json:"weights_bytes"`
	ArenaBytes   int      `json:"arena_bytes"`
	Ranges       string   `json:"ranges,omitempty"` // of activations: where they come from
	Random       bool     `json:"random_data,omitempty"`
	RandomRanges bool     `json:"random_ranges,omitempty"`
	Estimated    bool     `json:"estimated,omitempty"` // latencies are a cost model's
}

func evalCommand() *cobra.Command {
	o := &options{}
	var precisions, calibrators []string
	var perLayer bool
	c := &cobra.Command{
		Use:   "eval [MODEL]",
		Short: "Compare precisions and calibrators: label accuracy, agreement with FP32, SQNR, latency, memory",
		Long: "Compare precisions and calibrators: label accuracy, agreement with FP32, SQNR, latency, memory.\n\n" +
			"An engine is compared with FP32 as it is, with the ranges that it was built with. They are found anew where\n" +
			"--calib-data names data for that, where --calibrator lists several, which are compared on the same data, and\n" +
			"where they come from random input and --data does not. The output says where ranges come from.\n" +
			"A configuration of --config, too, is compared with FP32 alone, unless --precision or --calibrator list others.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.eval(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), precisions, calibrators, perLayer)
		},
	}
	o.register(c)
	f := c.Flags()
	replaceList(c, "precision", &precisions, []string{"fp32", "int8"}, "precisions to compare: fp32, fp16, int8")
	replaceList(c, "calibrator", &calibrators, []string{"minmax", "entropy", "percentile", "mse"}, "calibrators to compare for int8")
	f.BoolVar(&perLayer, "per-layer", false, "the error of every layer, local and accumulated, for the last configuration named (default int8, entropy)")
	return c
}

// eval prints a row for each precision and, for int8, each calibrator.
func (o *options) eval(ctx context.Context, stdout, stderr io.Writer, path string, precisions, calibrators []string, perLayer bool) error {
	if _, err := o.configs(precisions, calibrators); err != nil {
		return err
	}
	o.anew = len(calibrators) > 1 && o.changed("calibrator")
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		precisions, calibrators := o.listed(p.model, precisions, calibrators)
		alone := !o.changed("precision") && precisions[0] != string(sessions.FP32)
		if alone {
			precisions = append([]string{string(sessions.FP32)}, precisions...)
		}
		configs, err := o.configsFor(p.model, precisions, calibrators)
		if err == nil && alone {
			configs[0].LayerPrecisions = nil // what the configuration is compared with
		}
		if err != nil {
			return err
		}
		if perLayer {
			return o.evalLayers(ctx, stdout, r, o.layered(p.model, configs))
		}
		rows, offset, err := evalConfigs(ctx, r, p, configs)
		if err != nil {
			return err
		}
		if offset != 0 {
			fmt.Fprintf(stderr, "trtui: hint: with %d added to every label FP32 is right far more often: the model may have a class for the background; pass --label-offset %d\n", offset, o.labelOffset+offset)
		}
		if o.format == "json" {
			return writeJSON(stdout, struct {
				Schema int       `json:"schema"`
				Rows   []evalRow `json:"rows"`
			}{sessions.OutputSchema, rows})
		}
		return writeEval(stdout, p, rows)
	})
}

// evalConfigs returns a row for each configuration, and by how much the labels seem to be off.
func evalConfigs(ctx context.Context, r *sessions.Runner, p *place, configs []sessions.Config) (rows []evalRow, offset int, err error) {
	for _, cfg := range configs {
		row, acc, err := evalConfig(ctx, r, p, cfg)
		if err != nil {
			return nil, 0, err
		}
		rows, offset = append(rows, row), acc.Labels.Offset
	}
	return rows, offset, nil
}

func evalConfig(ctx context.Context, r *sessions.Runner, p *place, cfg sessions.Config) (evalRow, *sessions.AccuracyReport, error) {
	snap, err := r.Report(ctx, cfg, sessions.PartOverview, run.Profiling{WarmUp: warmUp, Iterations: 50, Duration: evalTime, PerStep: false})
	if err != nil {
		return evalRow{}, nil, err
	}
	acc, err := r.Score(ctx, cfg)
	if err != nil {
		return evalRow{}, nil, err
	}
	row := evalRow{
		Precision: string(cfg.Precision), Calibrator: acc.Calibrator, Ranges: acc.Ranges, Agreement: 100 * acc.Labels.Agreement,
		Latency: float64(snap.Overview.Latency.Median) / 1e6, LatencyP99: float64(snap.Overview.Latency.P99) / 1e6,
		WeightsBytes: snap.Memory.Weights, ArenaBytes: snap.Memory.Peak, Random: acc.Random, RandomRanges: acc.RandomRanges,
		Estimated: snap.Timings.Estimated,
	}
	if len(acc.Outputs) > 0 {
		row.SQNR = acc.Outputs[0].SQNR
	}
	if p.model.Quantized && cfg.Precision == sessions.INT8 {
		row.Calibrator = "the model's"
	}
	if acc.Labels.Top1 >= 0 {
		top1 := 100 * acc.Labels.Top1
		row.Top1 = &top1
	}
	return row, acc, nil
}

func writeEval(w io.Writer, p *place, rows []evalRow) error {
	fmt.Fprintf(w, "%s on %s: %d items\n", p.model.Network.Name, p.work.Data.Name(), p.work.Data.Len())
	if p.work.Data.Random() {
		fmt.Fprintln(w, "random data: none was given, so accuracy is agreement with FP32 only")
	}
	if slices.ContainsFunc(rows, func(r evalRow) bool { return r.RandomRanges }) {
		fmt.Fprintln(w, "random calibration: ranges come from random input and say nothing about real ones")
	}
	said := ""
	for _, r := range rows {
		if r.Ranges != said && r.Ranges != "" {
			said = r.Ranges
			fmt.Fprintf(w, "ranges of %s: %s\n", r.Calibrator, said)
		}
	}
	if rows[0].Estimated {
		fmt.Fprintln(w, "estimated: latencies are a cost model's, not measured")
	}
	fmt.Fprintln(w)
	var lines [][]string
	for _, r := range rows {
		top1 := "-"
		if r.Top1 != nil {
			top1 = fmt.Sprintf("%.2f", *r.Top1)
		}
		lines = append(lines, []string{
			r.Precision, r.Calibrator, top1, fmt.Sprintf("%.2f", r.Agreement), decibels(r.SQNR),
			fmt.Sprintf("%.3f", r.Latency), fmt.Sprintf("%.3f", r.LatencyP99), fmt.Sprintf("%.2f×", rows[0].Latency/r.Latency), kib(r.WeightsBytes), kib(r.ArenaBytes),
		})
	}
	writeTable(w, []string{"precision", "calibrator", ">top-1 %", ">agree %", ">SQNR dB", ">median ms", "~>p99 ms", "~>speed", "~>weights KiB", ">arena KiB"}, lines)
	return nil
}

// layered returns the configuration whose layers are looked at: the last one, and where a model was given and nothing asked
// for INT8 with the calibrator that every command begins with.
func (o *options) layered(m *sessions.Model, configs []sessions.Config) sessions.Config {
	cfg := configs[len(configs)-1]
	if m.Engine == nil && o.file == nil && !o.changed("precision", "calibrator") {
		cfg.Calibrator = "entropy"
	}
	return cfg
}

// evalLayers prints the errors of every layer of one configuration.
func (o *options) evalLayers(ctx context.Context, w io.Writer, r *sessions.Runner, cfg sessions.Config) error {
	snap, err := r.Report(ctx, cfg, sessions.PartAccuracy, run.Profiling{})
	if err != nil {
		return err
	}
	a := snap.Accuracy
	if o.format == "json" {
		return writeReport(w, a)
	}
	fmt.Fprintf(w, "%s %s: error of each layer against FP32, on %d items\n\n", a.Precision, a.Calibrator, a.TapItems)
	var rows [][]string
	for _, l := range a.Layers {
		mark := ""
		if l.Name == a.FirstBad {
			mark = fmt.Sprintf("first under %.0f dB", a.Tolerance)
		}
		rows = append(rows, []string{
			short(l.Name), l.Precision, decibels(l.Local.SQNR), decibels(l.Accumulated.SQNR), bar(min(1, max(0, l.Accumulated.SQNR/60)), 20),
			fmt.Sprintf("%.4g", l.Accumulated.MaxAbs), fmt.Sprintf("%.4g", l.Accumulated.MeanAbs), fmt.Sprintf("%.6f", l.Accumulated.Cosine), mark,
		})
	}
	writeTable(w, []string{"layer", "type", ">own dB", ">SQNR dB", "~", ">max abs", ">mean abs", ">cosine", ""}, rows)
	fmt.Fprintln(w)
	for _, out := range a.Outputs {
		fmt.Fprintf(w, "output %s: SQNR %s, max abs %.4g, cosine %.6f\n", out.Name, ratio(out.SQNR), out.MaxAbs, out.Cosine)
	}
	fmt.Fprintf(w, "labels: top-1 %s %% (FP32 %s %%), agreement %s %% of %d items\n", percent(a.Labels.Top1), percent(a.Labels.FP32Top1), percent(a.Labels.Agreement), a.Items)
	return nil
}

// replaceList makes a flag of a single value one of a comma-separated list.
func replaceList(c *cobra.Command, name string, list *[]string, def []string, usage string) {
	*list = def
	f := c.Flags().Lookup(name)
	f.Usage = usage + ", comma separated"
	f.DefValue = strings.Join(def, ",")
	f.Value = &listValue{list}
}

// listValue is a pflag.Value of comma-separated words.
type listValue struct{ list *[]string }

func (v *listValue) String() string { return strings.Join(*v.list, ",") }
func (v *listValue) Type() string   { return "strings" }

func (v *listValue) Set(s string) error {
	*v.list = nil
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return fmt.Errorf("a word of the list is empty")
		}
		*v.list = append(*v.list, word)
	}
	return nil
}
