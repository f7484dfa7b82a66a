package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// How long the commands measure.
const (
	warmUp   = 200 * time.Millisecond
	evalTime = 300 * time.Millisecond
)

// benchFlags are the flags of trtui bench.
type benchFlags struct {
	*modelFlags
	perLayer       bool
	roofline       bool
	precisions     string // several, side by side
	iterations     int
	duration, warm time.Duration
	ablated        bool          // each rule off in turn
	axes           string        // of --sweep
	limit          time.Duration // of a sweep's latency
	split          bool          // whether the sweep's range is served better by two profiles
}

func benchCommand(t tables) *cobra.Command {
	o := &benchFlags{modelFlags: onBackends(t)}
	o.usual = true
	o.output.also = []string{"csv"}
	c := &cobra.Command{
		Use:        "bench [MODEL|ENGINE|RECORDING]",
		SuggestFor: []string{"latency", "throughput", "speed", "slow", "sweep", "roofline", "ablate", "measure", "profile", "time"},
		Short:      "Measure latency and throughput, and with --per-layer the time of every layer",
		Long: "Measure latency and throughput, and with --per-layer the time of every layer. Inputs and outputs stay in the device's\n" +
			"memory. On a GPU a sample is the mean of as many consecutive inferences as take 5 ms. The split is of separate inferences,\n" +
			"whose inputs and outputs are copied from and to the caller's memory.\n\n" +
			"With --roofline every layer stands under a ceiling: the least time in which the device can do its arithmetic, or move its bytes\n" +
			"from the nearest level of memory that can have kept them.\n\n" +
			"With --sweep one engine is measured at every combination of some extents, on random input: latency, throughput, and the\n" +
			"memory that each shape needs. A model is built for the range; an engine is taken as it is. The axis contexts is how many\n" +
			"contexts of the engine run at the same time, each on a share of the CPU's threads or a stream of the GPU's. With --split engines\n" +
			"whose tactics are timed elsewhere in the range are measured beside that of the range, in the same rounds, and where a part of\n" +
			"it is faster with tactics of its own the flags that build two profiles are printed.",
		Example: examples("latency of a model in INT8, calibrated on images", "trtui bench model.onnx --precision int8 --data images/",
			"the time of every layer of an engine, for a script", "trtui bench model.engine --per-layer --format json",
			"the same for a spreadsheet", "trtui bench model.engine --per-layer --format csv",
			"on the second GPU, for ten seconds at least", "trtui bench model.onnx --backend cuda:1 --duration 10s",
			"which layers are far from what the processor could do", "trtui bench model.onnx --roofline",
			"what FP16 and INT8 win, layer by layer", "trtui bench model.onnx --precisions fp32,fp16,int8 --data images/",
			"what each fusion is worth", "trtui bench model.onnx --ablate",
			"which batch gives the most in 10 ms", "trtui bench model.onnx --sweep batch=1..64 --latency-limit 10ms",
			"whether short and long texts are to have tactics of their own", "trtui bench model.onnx --sweep seq=1..512 --split",
			"how many inferences at a time are worth it", "trtui bench model.onnx --sweep contexts=1..4"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := o.profiling(c.Flags().Changed)
			if err != nil {
				return err
			}
			if o.ablated {
				return o.ablate(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), p)
			}
			if o.roofline {
				return o.underRoofline(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), p)
			}
			if o.precisions != "" {
				return o.beside(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), p)
			}
			if o.axes == "" {
				return bench(c.Context(), o.modelFlags, c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), p)
			}
			if o.config.sweep, err = parseSweep(o.axes); err != nil {
				return usageError{err}
			}
			if err := o.check(); err != nil {
				return err
			}
			if o.split {
				return o.overSplit(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), c.Flags().Changed, p)
			}
			return o.sweep(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args), p)
		},
	}
	o.register(c, takeAll&^takeLabels)
	f := c.Flags()
	f.BoolVar(&o.perLayer, "per-layer", false, "time every layer as well, in runs that alternate with whole ones")
	f.BoolVar(&o.roofline, "roofline", false, "time every layer, and show what it reaches of the ceiling that the device's peaks put over it; these are measured once, and kept beside the timing cache; also of a recording, behind @ which state of it")
	f.StringVar(&o.precisions, "precisions", "", "time every layer in several `PRECISIONS` in the same rounds, and set them side by side, as in fp32,fp16,int8")
	f.IntVar(&o.iterations, "iterations", 50, "minimum number of samples; of each point of a sweep 10")
	f.DurationVar(&o.duration, "duration", 2*time.Second, "minimum time to measure; each point of a sweep 200 ms")
	f.DurationVar(&o.warm, "warm-up", warmUp, "time to run before measuring; before each point of a sweep 50 ms")
	f.BoolVar(&o.ablated, "ablate", false, "switch each rewriting rule off in turn and measure what it is worth, beside the engine with all of them; each for 600 ms at least")
	under(c, "Measurement", "ablate", "per-layer", "precisions", "roofline", "iterations", "duration", "warm-up")
	f.StringVar(&o.axes, "sweep", "", "`AXES` to vary, as in batch=1..64,seq=16..512:16: by doubling, or in steps; open axes by their names, batch for the first, contexts for inferences at a time")
	f.DurationVar(&o.limit, "latency-limit", 0, "the longest median latency of the points that a sweep marks: the batch or number of contexts with the most items/s, of other axes the largest extents; 0: any")
	f.BoolVar(&o.split, "split", false, "tell whether the range of the axis that --sweep has is served better by two profiles, each with tactics of its own; an engine at a point is measured for 90 ms")
	under(c, "Sweep", "sweep", "latency-limit", "split")
	return c
}

// profiling returns how long to measure; changed reports whether a flag was given.
func (b *benchFlags) profiling(changed func(string) bool) (run.Profiling, error) {
	p := run.Profiling{WarmUp: b.warm, Iterations: b.iterations, Duration: b.duration, PerStep: b.perLayer || b.roofline || b.precisions != ""}
	switch {
	case b.iterations < 1:
		return p, usageError{fmt.Errorf("--iterations %d: want at least 1", b.iterations)}
	case b.duration < 0:
		return p, usageError{fmt.Errorf("--duration %s: want a time of 0 or more", b.duration)}
	case b.warm < 0:
		return p, usageError{fmt.Errorf("--warm-up %s: want a time of 0 or more", b.warm)}
	case b.limit < 0:
		return p, usageError{fmt.Errorf("--latency-limit %s: want a time of 0 or more", b.limit)}
	case b.axes == "" && b.limit > 0:
		return p, usageError{errors.New("--latency-limit is for a sweep: give --sweep too")}
	case b.axes == "" && b.split:
		return p, usageError{errors.New("--split is of a range: give --sweep too")}
	case b.split && b.limit > 0:
		return p, usageError{errors.New("--split and --latency-limit: give one of the two")}
	case b.axes != "" && b.perLayer:
		return p, usageError{errors.New("--per-layer and --sweep: give one of the two")}
	case b.roofline && (b.ablated || b.axes != "" || b.perLayer):
		return p, usageError{errors.New("--roofline times every layer of one engine: give neither --per-layer, --sweep nor --ablate")}
	case b.precisions != "" && (b.ablated || b.axes != "" || b.perLayer || b.roofline || changed("precision")):
		return p, usageError{errors.New("--precisions times every layer of several engines: give neither --precision, --per-layer, --roofline, --sweep nor --ablate")}
	case b.ablated && (b.axes != "" || b.perLayer):
		return p, usageError{errors.New("--ablate measures whole engines: give neither --sweep nor --per-layer")}
	case b.ablated && !changed("duration"):
		p.Duration = ablationDuration
	}
	if b.axes == "" {
		return p, nil
	}
	if !changed("warm-up") {
		p.WarmUp = sweepWarmUp
	}
	if !changed("iterations") {
		p.Iterations = sweepIterations
	}
	if !changed("duration") {
		p.Duration = sweepDuration
	}
	return p, nil
}

// benchOutput is the JSON of trtui bench.
type benchOutput struct {
	Precision  config.Precision
	Batch      int
	Profile    string `json:",omitempty"` // of an engine that has several, the one that it ran in
	Latency    report.Latency
	Throughput float64                `unit:"items_per_s"`
	Gap        *time.Duration         `json:",omitempty"` // where layers were timed
	GapRuns    int                    `json:",omitempty"` // of which it is the median
	Inference  *report.InferenceSplit `json:",omitempty"`
	Memory     report.MemoryNumbers
	Badges     []report.Badge
	Unchanged  string               `json:",omitempty"` // why the precision changes no layer
	Layers     []report.LayerTiming `json:",omitempty"`
	Forks      []report.Fork        `json:",omitempty"` // of steps that run side by side
}

func bench(ctx context.Context, o *modelFlags, stdout, stderr io.Writer, path string, p run.Profiling) error {
	snap, err := o.report(ctx, stderr, path, report.PartOverview|report.PartTimings, p)
	if err != nil {
		return err
	}
	t, v := snap.Timings, snap.Overview
	switch {
	case o.output.csv() && p.PerStep:
		return writeCSV(stdout, exchange.LayersCSV, t)
	case o.output.csv():
		return writeCSV(stdout, exchange.LatencyCSV, snap)
	case o.output.json():
		out := benchOutput{
			Precision: snap.Config.Precision, Batch: v.Batch, Profile: v.Profile, Unchanged: v.Unchanged, Badges: v.Badges,
			Latency: t.EndToEnd, Throughput: v.Throughput, Inference: t.Inference, Memory: snap.Memory.MemoryNumbers,
		}
		if p.PerStep {
			out.Layers, out.Gap, out.GapRuns, out.Forks = t.Layers, &t.Gap, t.GapRuns, t.Forks
		}
		return writeReport(stdout, snap.Head(), out)
	}
	writeLatency(stdout, snap)
	if !p.PerStep {
		return nil
	}
	writeLayerTimes(stdout, t)
	return nil
}

// writeCSV prints a report as the table that a function makes of it.
func writeCSV[T any](w io.Writer, table func(T) ([]byte, error), of T) error {
	data, err := table(of)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// mediansText says what the medians of layers sum up to where that is not what runs spend in layers.
func mediansText(t *report.Timings) string {
	if !t.Apart() {
		return ""
	}
	return fmt.Sprintf(" (whose medians sum to %s)", ms(t.SumMedian))
}

// writeLayerTimes prints the time of every layer; of times that were estimated, which do not vary, the one that there is.
func writeLayerTimes(w io.Writer, t *report.Timings) {
	header := []string{"@layer", "type", "tactic", ">mean µs", ">median", ">p99", ">CV %", ">share %", "~", "~>GFLOP/s"}
	if t.Estimated {
		fmt.Fprintf(w, "\nestimated sum of layers %s ms\n\n", ms(t.SumMedian))
		header = []string{"@layer", "type", "tactic", ">estimated µs", ">share %", "~", "~>GFLOP/s"}
	} else {
		fmt.Fprintf(w, "\nend to end %s ms = %s ms in layers%s and a gap of %s ms (by %s)%s\n\n", ms(t.EndToEnd.Median), ms(t.InLayers()), mediansText(t), ms(t.Gap), count(t.GapRuns, "run"), besideText(t.Forks))
	}
	var rows [][]string
	for _, l := range t.Layers {
		gflops := ""
		if l.GFLOPS > 0 {
			gflops = fmt.Sprintf("%.0f", l.GFLOPS)
		}
		row := []string{short(l.Name), l.Precision, l.How(), us(l.Median)}
		if !t.Estimated {
			row = []string{row[0], row[1], row[2], us(l.Mean), us(l.Median), us(l.P99), fmt.Sprintf("%.1f", 100*l.CV)}
		}
		rows = append(rows, append(row, fmt.Sprintf("%.1f", 100*l.Share), bar(l.Share/maxShare(t.Layers), 20), gflops))
		for _, x := range l.Inside {
			inside := make([]string, len(header))
			copy(inside, []string{"  " + short(x.Name), x.Precision, fmt.Sprintf("%s, %.4g times", x.Tactic, x.Runs), us(x.Mean)})
			rows = append(rows, inside)
		}
	}
	writeTable(w, header, rows)
	writeForks(w, t.Forks, nil)
}

func maxShare(layers []report.LayerTiming) float64 {
	m := 1e-9
	for _, l := range layers {
		m = max(m, l.Share)
	}
	return m
}

// estimatedMark is what stands before times that were not measured.
func estimatedMark(estimated bool) string {
	if estimated {
		return "estimated "
	}
	return ""
}

// writeHeading prints which model this is about, under which configuration, and on what.
func writeHeading(w io.Writer, snap *report.Snapshot) {
	device := snap.Device.Device
	if n := snap.Device.Threads; n > 0 {
		device += ", " + count(n, "thread")
	}
	cfg, profile := snap.Config, ""
	if v := snap.Overview; v != nil && v.Profile != "" {
		profile = ", profile " + v.Profile
	}
	fmt.Fprintf(w, "%s, %s, batch %d%s, on %s (%s)\n", snap.Model.Name, cfg.Precision, max(1, cfg.Batch), profile, snap.Device.Backend, device)
	if snap.At != nil {
		writeNote(w, "as recorded in %s, %s: %s", snap.Replay, snap.At, pane.Label(snap))
	}
}

// writeLatency prints what was measured end to end.
func writeLatency(w io.Writer, snap *report.Snapshot) {
	t, v := snap.Timings, snap.Overview
	writeHeading(w, snap)
	if t.Estimated {
		fmt.Fprintf(w, "estimated latency ms: %s, computed from what the simulator counted; nothing was measured\n", ms(t.EndToEnd.Median))
		fmt.Fprintf(w, "estimated throughput: %.1f items/s\n", v.Throughput)
	} else {
		fmt.Fprintf(w, "latency ms: median %s, mean %s, min %s, p90 %s, p99 %s, max %s, CV %.1f %%, %d inferences\n", ms(t.EndToEnd.Median), ms(t.EndToEnd.Mean), ms(t.EndToEnd.Min), ms(t.EndToEnd.P90), ms(t.EndToEnd.P99), ms(t.EndToEnd.Max), 100*t.EndToEnd.CV, t.EndToEnd.Count)
		fmt.Fprintf(w, "throughput: %.1f items/s, at the median latency\n", v.Throughput)
	}
	if s := t.Inference; s != nil {
		fmt.Fprintf(w, "split µs: %s\n", splitText(s))
	}
	if v.Unchanged != "" {
		writeNote(w, "%s", v.Unchanged)
	}
	for _, b := range v.Badges {
		writeNote(w, "%s: %s", b.Text, b.Why)
	}
}

// splitText writes where the time of an inference goes with its copies.
func splitText(s *report.InferenceSplit) string {
	enqueue := us(s.Enqueue)
	if s.InPlace {
		enqueue = "n/a (CPU backend)"
	}
	return fmt.Sprintf("enqueue %s; H2D %s (%d bytes), compute %s, D2H %s (%d bytes)", enqueue,
		us(s.H2D), s.InputBytes, us(s.Compute), us(s.D2H), s.OutputBytes)
}

// report opens the model and makes parts of a snapshot; of a recording it takes those of the state that path names.
func (o *modelFlags) report(ctx context.Context, stderr io.Writer, path string, parts report.Parts, profiling run.Profiling) (snap *report.Snapshot, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if snap, err = o.recorded(path, parts); snap != nil || err != nil {
		return snap, err
	}
	err = o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		snap, err = r.Report(ctx, cfg, parts, profiling)
		return err
	})
	return snap, err
}
