package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

func execCommand(t tables) *cobra.Command {
	o := &execRun{modelFlags: onBackends(t), now: time.Now}
	c := &cobra.Command{
		Use:        "exec --onnx=MODEL [FLAGS OF TRTEXEC]",
		SuggestFor: []string{"trtexec"},
		Short:      "Build and measure as trtexec does, by its flags and with its report",
		Long: `Build and measure as trtexec does, by its flags, with one dash or two, and with its report: --onnx, --loadEngine, --saveEngine,
--fp16, --int8, --best, --calib, --shapes and the like, --loadInputs, --iterations, --duration, --warmUp, --avgRuns, --percentile,
--dumpOutput, --exportOutput, --dumpProfile, --exportTimes, --exportProfile, --exportLayerInfo. Those that TensorRT 11 dropped are
taken, too. A flag without a meaning here is said in a line, and one that trtexec does not have is an error; flags of trtui build may
stand beside them. --layout=trt10, trt11 or list is the form of --exportLayerInfo.

Of --minShapes, --optShapes and --maxShapes those that are missing are, as with trtexec, the best ones, or else the largest, or else the
least. A flag without a value may have =false, which is as if it were not there.

With --best, or --fp16 and --int8, each layer may run in FP32, FP16 or INT8: the model is built in each, their layers are measured
in the same rounds, and a layer that is faster in another precision than INT8, beyond noise, gets that one, unless all of it is no
faster then than one precision for all. With --fp16 or --int8 alone all layers that can have that precision.`,
		Example: examples("measure in FP16 and keep the engine", "trtui exec --onnx=model.onnx --fp16 --saveEngine=model.engine",
			"what TREx and trtui show", "trtui exec --loadEngine=m.engine --exportProfile=p.json",
			"what it makes of inputs as bytes", "trtui exec --loadEngine=m.engine --loadInputs=x:x.bin --exportOutput=out.json"),
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, func(a string) bool { return slices.Contains([]string{"-h", "-help", "--help"}, a) }) {
				return c.Help()
			}
			out := c.OutOrStdout()
			fmt.Fprintf(out, "&&&& RUNNING trtui.exec # exec %s\n", ui.VisibleName(strings.Join(args, " ")))
			p, err := parseExec(args, c.Flags())
			if err == nil {
				err = c.Flags().Parse(p.args)
			}
			if err == nil {
				err = p.spareInputs(c.Flags())
			}
			if err != nil {
				err = usageError{err}
			} else {
				err = named(o.exec(c.Context(), out, c.ErrOrStderr(), p), p.model)
			}
			switch {
			case err == nil:
				fmt.Fprintln(out, "&&&& PASSED trtui.exec")
			case !errors.Is(err, context.Canceled):
				fmt.Fprintln(out, "&&&& FAILED trtui.exec") // the error is on standard error, as those of all commands are
			}
			return err
		},
	}
	o.register(c, takeAll)
	return c
}

// execRun does what a command line of trtexec asks for, and prints its report.
type execRun struct {
	*modelFlags
	now    func() time.Time
	out    io.Writer
	random bool // it is said that ranges come from random input
}

func (o *execRun) say(grave, format string, args ...any) {
	fmt.Fprintln(o.out, exchange.LogLine(o.now(), grave, ui.VisibleName(fmt.Sprintf(format, args...))))
}

func (o *execRun) section(s exchange.Section) {
	o.say("I", "=== %s ===", s.Heading)
	for _, l := range s.Lines {
		o.say("I", "%s", l)
	}
	o.say("I", "")
}

func (o *execRun) exec(ctx context.Context, stdout, stderr io.Writer, p *execPlan) error {
	o.out = stdout
	if !slices.Contains(exchange.Layouts(), p.layout) {
		return usageError{fmt.Errorf("--layout %q: want %s", p.layout, orList(exchange.Layouts()))}
	}
	if err := o.check(); err != nil {
		return err
	}
	switch {
	case p.inputs != nil && o.data.data != "":
		return usageError{errors.New("--loadInputs and --data both give the inputs; give one of the two")}
	case p.model == "":
		return usageError{errors.New("nothing to measure: --onnx=FILE names a model, or --loadEngine=FILE an engine")}
	}
	for _, note := range p.notes {
		o.say("W", "%s", note)
	}
	work := o.work
	if p.ranged && !p.skip {
		work = o.overRange
	}
	return work(ctx, stderr, p)
}

// work builds what is to be built and measures it.
func (o *execRun) work(ctx context.Context, stderr io.Writer, p *execPlan) error {
	o.data.raw = p.inputs
	return o.with(p.model, stderr, func(at *place, r *sessions.Runner) error {
		cfg, err := o.build(ctx, r, p, at)
		if err != nil {
			return err
		}
		if err := model.Served(at.model, cfg); err != nil {
			return err
		}
		if p.save != "" {
			size, err := o.save(ctx, r, cfg, p.save)
			if err != nil {
				return err
			}
			o.say("I", "Engine built: %s, %s", p.save, bytesText(size))
		}
		if p.skip && p.save != "" {
			return nil
		}
		return o.measure(ctx, r, cfg, p)
	})
}

// overRange builds an engine of a range, whose tactics are timed at its best shapes, and measures it at others.
func (o *execRun) overRange(ctx context.Context, stderr io.Writer, p *execPlan) error {
	path := p.save
	if path == "" {
		dir, err := os.MkdirTemp("", "trtui-exec")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		name := filepath.Base(p.model)
		path = filepath.Join(dir, strings.TrimSuffix(name, filepath.Ext(name))+".engine")
	}
	err := o.with(p.model, stderr, func(at *place, r *sessions.Runner) error {
		cfg, err := o.build(ctx, r, p, at)
		if err != nil {
			return err
		}
		size, err := o.save(ctx, r, cfg, path)
		if err == nil {
			o.say("I", "Engine built: %s, %s", cmp.Or(p.save, "of a range"), bytesText(size))
		}
		return err
	})
	if err != nil {
		return err
	}
	at, err := o.at(p)
	if err != nil {
		return err
	}
	return at.with(path, stderr, func(on *place, r *sessions.Runner) error {
		cfg, err := at.configFor(on.model)
		if err != nil {
			return err
		}
		at.random = o.random
		return at.measure(ctx, r, cfg, p)
	})
}

// at returns what measures the engine that was built at the shapes of inferences: none of its flags says how it is built.
func (o *execRun) at(p *execPlan) (*execRun, error) {
	at := &execRun{modelFlags: onBackends(tables{backends: o.device.table, own: o.own, live: o.live}), now: o.now, out: o.out}
	c := &cobra.Command{}
	at.register(c, takeAll)
	args := p.running()
	for _, a := range p.args {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		if f := c.Flags().Lookup(name); f != nil && !slices.Contains(f.Annotations[headingKey], configHeading) {
			args = append(args, a)
		}
	}
	if err := c.Flags().Parse(args); err != nil {
		return nil, err
	}
	at.data.raw = p.inputs
	return at, at.check()
}

// batch returns that of inferences, which in an engine of a range may be another than the one that tactics are timed at.
func (p *execPlan) batch(at *place, cfg config.Config) int {
	if !p.ranged {
		return max(1, cfg.Batch)
	}
	if k, err := strconv.Atoi(p.profile); err == nil && k > 0 && k <= len(cfg.Profiles) {
		cfg = config.OfProfile(cfg, k)
	}
	shapes, err := parseShapes("shapes", p.shapes)
	if dims, unnamed := shapes[""]; unnamed && len(at.model.Network.Inputs) == 1 {
		shapes = map[string][]int{at.model.Network.Inputs[0].Name: dims}
	}
	if err != nil || shapes == nil {
		shapes = cfg.Shapes
	}
	batch, _ := at.model.BatchOfShapes(shapes)
	return batch
}

// build says what is built, and returns its configuration: of several precisions that are allowed the fastest, layer by layer.
func (o *execRun) build(ctx context.Context, r *sessions.Runner, p *execPlan, at *place) (config.Config, error) {
	switch is := at.model.Engine != nil; {
	case is && !p.loads:
		return config.Config{}, usageError{fmt.Errorf("--onnx: %s is an engine: --loadEngine=%s measures it", at.model.Name(), p.model)}
	case !is && p.loads:
		return config.Config{}, usageError{fmt.Errorf("--loadEngine: %s is no engine: --onnx=%s builds one of it", at.model.Name(), p.model)}
	}
	cfg, err := o.configFor(at.model)
	if err != nil {
		return cfg, err
	}
	allowed := p.allowed()
	if at.model.Engine != nil {
		allowed = nil
	}
	o.options(p, at, cfg, allowed)
	if allowed == nil {
		return cfg, nil
	}
	best, err := sessions.BestOf(ctx, r, cfg, allowed, run.Profiling{WarmUp: warmUp, Iterations: 50, Duration: evalTime})
	if err != nil {
		return cfg, err
	}
	for _, c := range best.Alone.Columns {
		o.say("I", "All layers in %s: %s ms", c.Config.Precision, ms(c.Latency.Median))
	}
	own := at.model.Quantized
	o.say("I", "%s", execBestText(best, own))
	if best.Mixed != nil && best.Config.SameEngine(*best.Mixed, own) {
		o.say("I", "LayerPrecisions: %s", strings.Join(best.Config.LayerPrecisions, ","))
	}
	return best.Config, nil
}

// execBestText says what is built of several precisions that are allowed, and why.
func execBestText(best *sessions.Best, own bool) string {
	if best.Mixed == nil {
		return fmt.Sprintf("No layer is faster in another precision than %s, beyond noise: it is built", best.Config.Label(own))
	}
	text := fmt.Sprintf("Each layer in its fastest precision (%s): %s ms beside %s ms of the fastest of these, %s", best.Mixed.Label(own), ms(best.Times[1]), ms(best.Times[0]), best.Said().AsFast())
	if best.Config.SameEngine(*best.Mixed, own) {
		return text + "; it is built"
	}
	return fmt.Sprintf("%s, which is noise or slower: %s is built", text, best.Config.Label(own))
}

// options says what is built and how long it is measured.
func (o *execRun) options(p *execPlan, at *place, cfg config.Config, allowed []config.Precision) {
	format := "ONNX"
	if at.model.Engine != nil {
		format = "Engine"
	}
	o.section(exchange.Section{Heading: "Model Options", Lines: []string{"Format: " + format, "Model: " + at.model.Path, "Output:"}})
	precision := map[config.Precision]string{config.FP32: "FP32", config.FP16: "FP32+FP16", config.INT8: "FP32+INT8"}[cfg.Precision]
	if allowed != nil {
		precision = "FP32+FP16+INT8"
	}
	calibration := cfg.Calibrator
	switch {
	case !cfg.Quantizes():
		calibration = ""
	case o.config.fixed():
		calibration = o.config.quantization.path
	}
	o.section(exchange.Section{Heading: "Build Options", Lines: []string{"Precision: " + precision, "LayerPrecisions: " + strings.Join(cfg.LayerPrecisions, ","), "Calibration: " + calibration}})
	o.section(exchange.Section{Heading: "Inference Options", Lines: []string{fmt.Sprintf("Batch: %d", p.batch(at, cfg)), fmt.Sprintf("Iterations: %d", p.iterations), fmt.Sprintf("Duration: %gs (+ %gms warm up)", p.duration, p.warmUp)}})
	info := at.work.Backend.Info()
	o.section(exchange.Section{Heading: "Device Information", Lines: []string{"Selected Device: " + info.Device, "Backend: " + info.Name}})
}

// save writes the engine and returns how many bytes it is.
func (o *execRun) save(ctx context.Context, r *sessions.Runner, cfg config.Config, path string) (int, error) {
	if why := sessions.RandomCalibration(r, cfg); why != "" {
		o.random = true
		o.say("W", "%s", why)
	}
	e, err := r.Engine(ctx, cfg, false)
	if err != nil {
		return 0, err
	}
	e.Origin.Commit, e.Origin.Built = ownCommit(), buildDate()
	size, err := host.WriteFile(path, func(w io.Writer) error {
		_, err := e.WriteTo(w)
		return err
	})
	return int(size), err
}

// measure runs inferences and reports them, or with --skipInference plans the engine alone.
func (o *execRun) measure(ctx context.Context, r *sessions.Runner, cfg config.Config, p *execPlan) error {
	perStep := p.dumpProfile || p.exports["profile"] != "" || p.exports["layers"] != "" || p.dumpLayers
	how := run.Profiling{WarmUp: time.Duration(p.warmUp * 1e6), Iterations: p.iterations, Duration: time.Duration(p.duration * 1e9), PerStep: perStep}
	if p.skip {
		how = run.Profiling{Iterations: 1, PerStep: perStep}
	}
	snap, err := r.Report(ctx, cfg, report.PartTimings|report.PartOverview|report.PartPasses, how)
	if err != nil {
		return err
	}
	if p.dumpLayers {
		s := exchange.Section{Heading: "Layer Information"}
		for _, l := range snap.Timings.Layers {
			s.Lines = append(s.Lines, fmt.Sprintf("Name: %s, LayerType: %s, Precision: %s, TacticName: %s", l.Name, l.Op, l.Precision, l.Tactic))
		}
		o.section(s)
	}
	if !p.skip {
		if p.average > 0 {
			o.section(exchange.TraceSection(snap.Timings, p.average))
		}
		o.section(exchange.PerformanceSummary(snap.Timings, p.percentiles))
		for _, b := range snap.Overview.Badges {
			if o.random && b.Text == report.RandomCalibration {
				continue
			}
			o.say("W", "%s: %s", b.Text, b.Why)
		}
	}
	if p.dumpProfile && !p.skip {
		o.section(exchange.ProfileSection(snap.Timings))
	}
	if err := o.export(snap, p); err != nil {
		return err
	}
	return o.outputs(ctx, r, cfg, p)
}

// export writes the files that were asked for.
func (o *execRun) export(snap *report.Snapshot, p *execPlan) error {
	for _, what := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{"layers", func() ([]byte, error) { return exchange.LayerInfoJSON(snap, p.layout) }},
		{"profile", func() ([]byte, error) { return exchange.ProfileJSON(snap.Timings) }},
		{"times", func() ([]byte, error) { return exchange.TimesJSON(exchange.Queries(snap.Timings)) }},
	} {
		path := p.exports[what.name]
		if path == "" {
			continue
		}
		if p.skip && what.name != "layers" {
			o.say("W", "no %s are written to %s: no inference was to be run", what.name, path)
			continue
		}
		data, err := what.make()
		if err != nil {
			return err
		}
		if _, err := host.WriteFile(path, host.Bytes(data)); err != nil {
			return err
		}
	}
	return nil
}

// outputs prints and writes what an inference computes of the inputs, where that was asked for.
func (o *execRun) outputs(ctx context.Context, r *sessions.Runner, cfg config.Config, p *execPlan) error {
	path := p.exports["output"]
	switch {
	case path == "" && !p.dumpOutput:
		return nil
	case p.skip:
		o.say("W", "there are no outputs: no inference was to be run")
		return nil
	}
	values, err := sessions.Outputs(ctx, r, cfg)
	if err != nil {
		return err
	}
	var list []exchange.NamedValue
	for _, name := range slices.Sorted(maps.Keys(values)) {
		list = append(list, exchange.NamedValue{Name: name, Value: values[name]})
	}
	if p.dumpOutput {
		s, err := exchange.OutputsSection(list)
		if err != nil {
			return err
		}
		o.section(s)
	}
	if path == "" {
		return nil
	}
	data, err := exchange.OutputsJSON(list)
	if err == nil {
		_, err = host.WriteFile(path, host.Bytes(data))
	}
	return err
}
