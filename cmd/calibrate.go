package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

func calibrateCommand(t tables) *cobra.Command {
	o := &calibrateFlags{modelFlags: onBackends(t)}
	c := &cobra.Command{
		Use:        "calibrate [MODEL]",
		SuggestFor: []string{"int8", "quantize", "quantise", "ranges", "histogram", "threshold", "scale", "amax", "calibration", "calib"},
		Short:      "Find the ranges of activations, with --compare by every calibrator side by side",
		Example: examples("the range of every tensor by every calibrator", "trtui calibrate model.onnx --data images/ --compare",
			"what 8 bits do to the weights of each layer", "trtui calibrate model.onnx --weights",
			"ranges and histograms, to build with them without data", "trtui calibrate model.onnx --data images/ -o ranges.json",
			"the same ranges for TensorRT", "trtui calibrate model.onnx --data images/ --calibration-cache calib.cache"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if o.file != "" && o.cache != "" {
				return usageError{errors.New("-o and --calibration-cache: give one of the two")}
			}
			return o.calibrate(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args))
		},
	}
	o.register(c, takeInputs|takeLabels|takeRandom|takeShapes|takeState|takeInt8|takePasses|takeBackend|takeThreads|takeOutput)
	c.Flags().BoolVar(&o.compare, "compare", false, "all calibrators, not only --calibrator")
	c.Flags().BoolVar(&o.weights, "weights", false, "the weights of every layer as well, with a scale per output channel and with a single one")
	c.Flags().StringVarP(&o.file, "output", "o", "", "the `FILE` of JSON to write ranges, histograms and means to, for --ranges")
	c.Flags().StringVar(&o.cache, "calibration-cache", "", "the `FILE` to write the ranges to as a calibration cache of TensorRT, which trtexec --calib and ONNX Runtime read")
	c.Flags().StringVar(&o.version, "trt-version", "10.3.0", "the `VERSION` of TensorRT that is to read the cache; another one calibrates anew")
	c.Flags().StringVar(&o.algorithm, "trt-calibrator", exchange.CacheAlgorithms()[0], "the calibrator of TensorRT that is to read the cache: "+orList(exchange.CacheAlgorithms()))
	under(c, "Report", "compare", "weights")
	under(c, outputHeading, "output", "calibration-cache", "trt-version", "trt-calibrator")
	return c
}

// calibrateFlags are the flags of trtui calibrate.
type calibrateFlags struct {
	*modelFlags
	compare, weights bool
	file             string // of JSON
	cache            string // of TensorRT
	version          string // of TensorRT
	algorithm        string
}

// unused names the flags about labels that were given and change nothing; labels that are boxes say how images are brought to size.
func (o *calibrateFlags) unused() string {
	var list []string
	for _, name := range []string{"labels", "label-offset", "task"} {
		if o.data.changed(name) && !(name == "labels" && dataset.HasBoxes(o.data.labels)) {
			list = append(list, "--"+name)
		}
	}
	return strings.Join(list, ", ")
}

// header returns the first line of the cache that is to be written, "" where none is.
func (o *calibrateFlags) header() (string, error) {
	if o.cache == "" {
		return "", nil
	}
	if !slices.Contains(exchange.CacheAlgorithms(), o.algorithm) {
		return "", usageError{fmt.Errorf("--trt-calibrator %q: want %s", o.algorithm, orList(exchange.CacheAlgorithms()))}
	}
	header, err := exchange.CacheHeader(o.version, o.algorithm)
	if err != nil {
		err = usageError{fmt.Errorf("--trt-version: %w", err)}
	}
	return header, err
}

func (o *calibrateFlags) calibrate(ctx context.Context, stdout, stderr io.Writer, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	header, err := o.header()
	if err != nil {
		return err
	}
	if unused := o.unused(); unused != "" {
		writeNote(stderr, "%s: ranges are found without labels; trtui eval judges by them", unused)
	}
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		cfg.Precision = config.INT8
		if header != "" {
			cfg.Quantization.Activations = "symmetric" // as TensorRT's
		}
		if o.file != "" {
			return writeCalibrationFile(ctx, o.modelFlags, stdout, p, r, cfg, o.file)
		}
		snap, err := r.Report(ctx, cfg, report.PartCalibration, run.Profiling{})
		if err != nil {
			return err
		}
		c := snap.Calibration
		if header != "" {
			return o.writeCache(stdout, stderr, p, snap, header)
		}
		if !o.weights {
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
		writeCalibration(stdout, c, o.compare)
		if o.weights {
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
	_, err = fmt.Fprintf(stdout, "%s: %s by %s on %s, %s\n", output, count(len(f.Tensors), "tensor"), f.Calibrator, f.Data, bytesText(int(size)))
	return err
}

// writeCache writes the ranges of a report as a calibration cache of TensorRT, and what it wrote to stdout.
func (o *calibrateFlags) writeCache(stdout, stderr io.Writer, p *place, snap *report.Snapshot, header string) error {
	c, err := exchange.NewCalibrationCache(header, snap)
	if err != nil {
		return err
	}
	size, err := host.WriteFile(o.cache, host.Bytes(c.Bytes()))
	if err != nil {
		return err
	}
	for _, doubt := range c.Doubts() {
		writeNote(stderr, "%s: %s", o.cache, doubt)
	}
	if o.modelFlags.output.json() {
		return writeReport(stdout, snap.Head(), calibrateOutput{o.cache, size, len(c.Scales)})
	}
	_, err = fmt.Fprintf(stdout, "%s: %s by %s on %s, as %s, %s\n", o.cache, count(len(c.Scales), "tensor"), snap.Calibration.Active, p.work.CalData.Name(), header, bytesText(int(size)))
	return err
}

// writeCalibration prints what the active calibrator, or each of them, makes of every tensor.
func writeCalibration(w io.Writer, c *report.Calibration, compare bool) {
	var rows [][]string
	for _, t := range c.Tensors {
		name := t.Tensor
		for i, r := range t.Results() {
			if !compare && i < len(t.By) && c.Calibrators[i] != c.Active {
				continue
			}
			low, high := r.Ends()
			rows = append(rows, []string{
				name, c.Name(i), fmt.Sprintf("%.5g", low), fmt.Sprintf("%.5g", high), fmt.Sprintf("%.5g", r.Scale), fmt.Sprint(r.Zero), fmt.Sprintf("%.4f", 100*r.Clip),
				fmt.Sprintf("%.1f", 100*r.Loss), fmt.Sprintf("%.5f", r.KL), decibels(r.SQNR), heldOut(r), rangeRemark(&t, i),
			})
			name = ""
		}
	}
	writeTable(w, []string{"@tensor", "calibrator", ">low", ">high", ">scale", ">zero", ">clip %", "~>of error %", ">KL", ">SQNR dB", ">held out dB", ""}, rows)
	if c.Shared > 0 {
		fmt.Fprintf(w, "\n%d of the %s are evaluated, too\n", c.Shared, count(c.Batches, "item"))
	}
	if c.HasOwn() {
		fmt.Fprintf(w, "\n%s: ranges that the model brings; where one is an activation too, on what that leaves\n", report.OwnName)
	}
	if c.HeldOut > 0 {
		fmt.Fprintf(w, "\nheld out: SQNR of %s that calibration did not see, by which the best is told\n", count(c.HeldOut, "item"))
	}
	for _, t := range c.Tensors {
		if t.Used && t.Reach != nil && len(t.Reach.Outliers) > 0 {
			fmt.Fprintf(w, "\n%s: %s", ui.VisibleName(t.Tensor), reachText(t.Reach))
		}
	}
	fmt.Fprintln(w)
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
			decibels(l.PerChannel), decibels(l.PerTensor), fmt.Sprintf("%.1f", l.PerChannel-l.PerTensor), use, outlierList(l.Outliers),
		})
	}
	fmt.Fprintln(w)
	writeTable(w, []string{"@weights of", "~>channels", ">max/median", ">nearly dead", ">per-channel dB", ">per-tensor dB", ">loss dB", "used in", "~outliers"}, rows)
}

// outlierList lists channels of weights that reach at least twice as far as all others.
func outlierList(channels []int) string {
	var list []string
	for _, c := range channels {
		list = append(list, fmt.Sprint(c))
	}
	return strings.Join(list, ", ")
}

// rangeRemark marks the result that loses least of what was held out, and tells of a model's own what integers it is of.
func rangeRemark(t *report.TensorCalibration, i int) string {
	var list []string
	if t.Best(i) {
		list = append(list, "best")
	}
	if i == len(t.By) {
		list = append(list, t.Own.Type)
		if t.Own.Clamps {
			list = append(list, "an activation too")
		}
	}
	return strings.Join(list, ", ")
}

// heldOut writes the SQNR of what was held out.
func heldOut(r *report.CalibratorResult) string {
	if r.HeldOut == nil {
		return ""
	}
	return decibels(*r.HeldOut)
}
