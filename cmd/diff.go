package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// diffDuration is how long each of two is measured, at least, unless a person says so.
const diffDuration = 2 * time.Second

// diffFlags are the flags of trtui diff.
type diffFlags struct {
	*modelFlags
	backends []string
	timesOf  bool // no accuracy
	all      bool
	duration time.Duration
}

func diffCommand(t tables) *cobra.Command {
	o := &diffFlags{modelFlags: onBackends(t)}
	o.output.also = []string{"markdown"}
	c := &cobra.Command{
		Use:        "diff A B [C...]",
		SuggestFor: []string{"compare", "slower", "faster", "regression", "difference"},
		Short:      "What B changes of A, layer by layer, and whether that is more than noise: models, engines, configurations, recordings, files of trtexec",
		Long: "Compare two things layer by layer. Each is a file, and behind @ which of what it holds: of a recording a state, by\n" +
			"its number, time or configuration, or else the last that is complete; of a model or an engine a configuration, by its\n" +
			"precision, with a calibrator behind a slash, or by its file. Without a file it is the built-in model. What is not\n" +
			"recorded is built with the flags below and measured now, two of these in the same rounds. A file may also be what\n" +
			"trtexec wrote of an engine of TensorRT, its profile with layers and times behind commas, or a profile of ONNX Runtime.\n\n" +
			"Layers are aligned by the source layers that they compute; where those were fused otherwise, as groups; where names say\n" +
			"nothing of it, by op, window and shape in their order. A difference of times counts where medians of rounds differ by\n" +
			"Mann and Whitney's U test, and where the layer's percentiles from 10 to 75 % all moved, beyond what all layers have in\n" +
			"common, by more than those of layers with the same kernels do, with a false discovery rate of 5 % (Benjamini and\n" +
			"Hochberg) among these and among all others, and by 2 % and 0.25 µs at least. What is measured on two occasions has to differ by more than\n" +
			"what is measured in turns: from what ratio on a layer is told is said.\n\n" +
			"Three and more are set side by side as a matrix: latency, accuracy and memory of each, which are worth having since no other\n" +
			"is faster and as good, and the layers whose times differ most.",
		Example: examples("what INT8 makes of each layer", "trtui diff m.onnx@fp32 m.onnx@int8 --data test.npz --calib-data calib.npz",
			"two recordings", "trtui diff monday.trtui tuesday.trtui",
			"two configurations of a recording, for a pull request", "trtui diff s.trtui@fp32 s.trtui@int8/mse --format markdown",
			"two engines of TensorRT, by trtexec's files", "trtui diff layers.json,profile.json new/layers.json,new/profile.json",
			"ONNX Runtime's profile and this program", "trtui diff onnxruntime_profile.json model.onnx",
			"two engine files, for a script", "trtui diff old.engine new.engine --format json",
			"three precisions of a model", "trtui diff model.onnx@fp32 model.onnx@fp16 model.onnx@int8 --data images/",
			"the CPU and a simulated GPU", "trtui diff model.onnx model.onnx --backends cpu,cudasim"),
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) < 2:
				return fmt.Errorf("two are compared, A and B; %d given", len(args))
			case len(args) > mostSides:
				return fmt.Errorf("up to %d are compared; %d given", mostSides, len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return o.diff(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), parseOperands(args))
		},
		ValidArgsFunction: ending(append(append(recordingFiles, modelFiles...), "json")...),
	}
	o.register(c, takeAll)
	f := c.Flags()
	f.StringSliceVar(&o.backends, "backends", nil, "the backends of A, of B and so on, comma separated: "+backendNames(t.backends)+"; default: --backend for all")
	f.BoolVar(&o.timesOf, "times-only", false, "compare times and memory, not accuracy")
	f.BoolVar(&o.all, "all", false, "list all layers, also those that hardly changed")
	f.DurationVar(&o.duration, "duration", diffDuration, "how long each of the two is measured, at least")
	under(c, "Comparison", "backends", "times-only", "all", "duration")
	return c
}

// mostSides is how many are set side by side: their engines are in memory together.
const mostSides = 12

func (o *diffFlags) check(operands []operand) error {
	switch {
	case len(o.backends) > 0 && len(o.backends) != len(operands):
		want := "one for A and one for B"
		if n := len(operands); n > 2 {
			want = "one for each of A to " + letter(n-1)
		}
		return usageError{fmt.Errorf("--backends names %s: want %s", count(len(o.backends), "backend"), want)}
	case len(o.backends) > 0 && o.device.changed("backend"):
		return usageError{errors.New("--backend is for both, --backends for each: give one of the two")}
	case o.duration < 0:
		return usageError{fmt.Errorf("--duration %s: want a time of 0 or more", o.duration)}
	}
	for _, name := range o.backends {
		if _, _, err := findBackend(o.device.table, "backends", name); err != nil {
			return err
		}
	}
	if len(o.backends) > 0 {
		o.device.compared = o.backends
	}
	return o.modelFlags.check()
}

// diff prints what the second operand changes of the first, or more of them side by side.
func (o *diffFlags) diff(ctx context.Context, stdout, stderr io.Writer, operands []operand) error {
	sides, err := o.sides(ctx, stderr, operands)
	if err != nil {
		return err
	}
	if len(sides) > 2 {
		return o.matrix(stdout, sides)
	}
	d, err := diff.Of(sides[0], sides[1])
	if err != nil {
		return err
	}
	switch o.output.format {
	case "json":
		return writeReport(stdout, report.Head{}, d)
	case "markdown":
		writeDiffMarkdown(stdout, d, o.all)
		return nil
	}
	writeDiff(stdout, d, o.all)
	return nil
}

// sides returns what is known of the operands: what was recorded, and what is measured now.
func (o *diffFlags) sides(ctx context.Context, stderr io.Writer, operands []operand) ([]diff.Side, error) {
	if err := o.check(operands); err != nil {
		return nil, err
	}
	for i, x := range operands {
		for k, y := range operands[:i] {
			if x.same(y) && (len(o.backends) == 0 || o.backends[i] == o.backends[k]) {
				warner(stderr)(fmt.Sprintf("%s and %s are the same: a difference between them is noise", letter(k), letter(i)))
			}
		}
	}
	snaps := make([]*report.Snapshot, len(operands))
	for i, x := range operands {
		var err error
		if snaps[i], err = x.read(); err != nil {
			return nil, err
		}
	}
	warnOfStates(warner(stderr), operands, snaps)
	measured, err := o.measure(ctx, stderr, operands, snaps)
	if err != nil {
		return nil, err
	}
	sides := make([]diff.Side, len(operands))
	for i, x := range operands {
		sides[i] = diff.Side{Name: x.text, Snapshot: snaps[i]}
	}
	for _, i := range measured[min(1, len(measured)):] {
		sides[i].Rival = snaps[measured[0]]
	}
	return sides, nil
}

// warnOfStates warns of recordings that are compared by their last states where these are of other precisions.
func warnOfStates(warn func(string), operands []operand, snaps []*report.Snapshot) {
	for i := range operands[1:] {
		a, b := operands[0], operands[i+1]
		x, y := snaps[0], snaps[i+1]
		if x == nil || y == nil || len(x.Tried) == 0 || len(y.Tried) == 0 || a.which+b.which != "" || x.Config.Precision == y.Config.Precision {
			continue
		}
		text := fmt.Sprintf("the last state of %s is in %s, that of %s in %s", a.path, x.Config.Precision, b.path, y.Config.Precision)
		if name := inPrecision(x.Tried, y.Config.Precision); name != "" {
			text += fmt.Sprintf("; %s@%s is as the latter", a.path, name)
		} else if name := inPrecision(y.Tried, x.Config.Precision); name != "" {
			text += fmt.Sprintf("; %s@%s is as the former", b.path, name)
		}
		warn(text)
	}
}

// inPrecision names the first configuration of a recording in a precision; "" where there is none.
func inPrecision(tried []report.RecordedConfig, p config.Precision) string {
	for _, c := range tried {
		if c.Config.Precision == p && !c.Aside {
			name, _, _ := strings.Cut(c.Name, ",")
			return name
		}
	}
	return ""
}

// letter is what the i-th of several is called.
func letter(i int) string { return string(rune('A' + i)) }

// measure makes the snapshots that were not recorded, in the same rounds, and returns which they are.
func (o *diffFlags) measure(ctx context.Context, stderr io.Writer, operands []operand, snaps []*report.Snapshot) (measured []int, err error) {
	progress, stop := o.output.reporter(stderr)
	defer stop()
	var rivals []sessions.Rival
	var opened []openedOperand
	for i, x := range operands {
		if snaps[i] != nil {
			continue
		}
		one, err := o.place(x, i, opened)
		if err != nil {
			return nil, named(err, x.path)
		}
		p := one.place
		if one.runner == nil {
			defer p.close()
			p.warn(stderr)
			if o.output.verbose {
				p.work.Log = func(l report.LogLine) { fmt.Fprintln(stderr, l) }
			}
			one.runner = sessions.NewRunner(p.model, p.work, progress)
			opened = append(opened, one)
		}
		cfg, err := o.configOf(p.model, x)
		if err != nil {
			return nil, named(err, x.path)
		}
		rivals, measured = append(rivals, sessions.Rival{Runner: one.runner, Config: cfg}), append(measured, i)
	}
	parts, profiling := report.PartTimings|report.PartOverview|report.PartPasses|report.PartMemory, run.Profiling{WarmUp: warmUp, Iterations: 50, Duration: o.duration, PerStep: true}
	if !o.timesOf {
		parts |= report.PartAccuracy
	}
	switch len(rivals) {
	case 0:
	case 1:
		snaps[measured[0]], err = rivals[0].Report(ctx, rivals[0].Config, parts, profiling)
	default:
		var made []*report.Snapshot
		made, err = sessions.Contest(ctx, rivals, parts, profiling)
		for k, snap := range made {
			snaps[measured[k]] = snap
		}
	}
	return measured, err
}

// openedOperand is a model that was opened, and on which backend.
type openedOperand struct {
	path, backend string
	place         *place
	runner        *sessions.Runner // nil: it was opened just now
}

// place opens the model of an operand: with the device of another one, where that is to be on the same, and as another one where they
// are the same file.
func (o *diffFlags) place(x operand, i int, opened []openedOperand) (one openedOperand, err error) {
	if len(o.backends) > 0 {
		o.device.backend = o.backends[i]
	}
	one = openedOperand{path: x.path, backend: o.device.backend}
	var beside *place
	for _, other := range opened {
		if other.backend != one.backend {
			continue
		}
		if other.path == one.path {
			return other, nil
		}
		beside = other.place
	}
	if beside == nil {
		if one.place, err = o.open(x.path); err == nil && len(opened) > 0 {
			one.place.work.Cache = opened[0].place.work.Cache
		}
		return one, err
	}
	if one.place, err = o.reopen(beside, x.path); err == nil {
		one.place.close = func() {} // the device is the other one's
	}
	return one, err
}

// configOf returns the configuration of a model that an operand names.
func (f *modelFlags) configOf(m *model.Model, x operand) (config.Config, error) {
	cfg, err := f.configFor(m)
	if err != nil || x.which == "" {
		return cfg, err
	}
	precision, calibrator, _ := strings.Cut(x.which, "/")
	switch p := config.Precision(precision); p {
	case config.FP32, config.FP16, config.INT8:
		if cfg.Precision != p {
			cfg.Precision, cfg.Pin, cfg.Forbid = p, nil, nil
		}
		if calibrator != "" {
			c, err := f.own.calibrators().Parse(calibrator, quant.Scheme{})
			if err != nil {
				return cfg, usageError{fmt.Errorf("%s: %w", x.text, err)}
			}
			cfg.Calibrator = c.String()
		}
		return cfg, nil
	}
	file, err := config.ReadFile(x.which, f.own.Calibrators...)
	if errors.Is(err, os.ErrNotExist) {
		return cfg, usageError{fmt.Errorf("%s: %q is neither fp32, fp16 nor int8, with a calibrator as in int8/mse, nor the file of a configuration", x.text, x.which)}
	}
	if err != nil {
		return cfg, err
	}
	cfg = file.Over(cfg)
	return cfg, m.CheckConfig(cfg)
}
