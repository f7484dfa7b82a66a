package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
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
		Use:        "diff A B",
		SuggestFor: []string{"compare", "slower", "faster", "regression", "difference"},
		Short:      "What B changes of A, layer by layer, and whether that is more than noise: models, engines, configurations, recordings, files of trtexec",
		Long: "Compare two things layer by layer. Each is a file, and behind @ which of what it holds: of a recording a state, by\n" +
			"its number, time or configuration, or else the last that is complete; of a model or an engine a configuration, by its\n" +
			"precision, with a calibrator behind a slash, or by its file. Without a file it is the built-in model. What is not\n" +
			"recorded is built with the flags below and measured now, two of these in the same rounds. A file may also be what\n" +
			"trtexec wrote of an engine of TensorRT, its profile with layers and times behind commas, or a profile of ONNX Runtime.\n\n" +
			"Layers are aligned by the source layers that they compute; where those were fused otherwise, as groups. A difference\n" +
			"of times counts where medians of rounds differ by Mann and Whitney's U test, with a false discovery rate of 5 % among\n" +
			"all layers (Benjamini and Hochberg), and by 2 % and 0.25 µs at least.",
		Example: examples("what INT8 makes of each layer", "trtui diff model.onnx@fp32 model.onnx@int8 --calib-data images/",
			"two recordings", "trtui diff monday.trtui tuesday.trtui",
			"two configurations of a recording, for a pull request", "trtui diff s.trtui@fp32 s.trtui@int8/mse --format markdown",
			"two engines of TensorRT, by trtexec's files", "trtui diff layers.json,profile.json new/layers.json,new/profile.json",
			"ONNX Runtime's profile and this program", "trtui diff onnxruntime_profile.json model.onnx",
			"two engine files, for a script", "trtui diff old.engine new.engine --format json",
			"the CPU and a simulated GPU", "trtui diff model.onnx model.onnx --backends cpu,cudasim"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("two are compared, A and B; %d given", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return o.diff(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), [2]operand{parseOperand(args[0]), parseOperand(args[1])})
		},
		ValidArgsFunction: ending(append(append(recordingFiles, modelFiles...), "json")...),
	}
	o.register(c, takeAll)
	f := c.Flags()
	f.StringSliceVar(&o.backends, "backends", nil, "the backends of A and of B, comma separated: "+backendNames(t.backends)+"; default: --backend for both")
	f.BoolVar(&o.timesOf, "times-only", false, "compare times and memory, not accuracy")
	f.BoolVar(&o.all, "all", false, "list all layers, also those that hardly changed")
	f.DurationVar(&o.duration, "duration", diffDuration, "how long each of the two is measured, at least")
	under(c, "Comparison", "backends", "times-only", "all", "duration")
	return c
}

// operand is one of two things to compare, as a person named it.
type operand struct {
	text, path, which string
}

// parseOperand cuts a name at its last @, unless a file has all of it as its name.
func parseOperand(text string) operand {
	at := strings.LastIndexByte(text, '@')
	if _, err := os.Stat(text); err == nil || at < 0 {
		return operand{text, text, ""}
	}
	return operand{text, text[:at], text[at+1:]}
}

// same reports whether two operands are the same of the same file.
func (x operand) same(y operand) bool {
	return x.which == y.which && sameFile(x.path, y.path)
}

// sameFile reports whether two paths lead to one file.
func sameFile(x, y string) bool {
	a, err := os.Stat(x)
	if err != nil {
		return x == y
	}
	b, err := os.Stat(y)
	return err == nil && os.SameFile(a, b)
}

func (o *diffFlags) check(operands [2]operand) error {
	switch {
	case len(o.backends) > 0 && len(o.backends) != 2:
		return usageError{fmt.Errorf("--backends names %s: want one for A and one for B", count(len(o.backends), "backend"))}
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
	for i, x := range operands {
		if x.text == "" {
			return usageError{fmt.Errorf("%c is empty: want a file, with @ behind it and what of it, or @fp32", "AB"[i])}
		}
	}
	if len(o.backends) > 0 {
		o.device.compared = o.backends
	}
	return o.modelFlags.check()
}

// diff prints what the second operand changes of the first.
func (o *diffFlags) diff(ctx context.Context, stdout, stderr io.Writer, operands [2]operand) error {
	sides, err := o.sides(ctx, stderr, operands)
	if err != nil {
		return err
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

// sides returns what is known of both operands: what was recorded, and what is measured now.
func (o *diffFlags) sides(ctx context.Context, stderr io.Writer, operands [2]operand) (sides [2]diff.Side, err error) {
	if err := o.check(operands); err != nil {
		return sides, err
	}
	if operands[0].same(operands[1]) && (len(o.backends) == 0 || o.backends[0] == o.backends[1]) {
		warner(stderr)("A and B are the same: a difference between them is noise")
	}
	var snaps [2]*report.Snapshot
	for i, x := range operands {
		if snaps[i], err = x.read(); err != nil {
			return sides, err
		}
	}
	both := snaps == [2]*report.Snapshot{}
	if err := o.measure(ctx, stderr, operands, &snaps); err != nil {
		return sides, err
	}
	for i, x := range operands {
		sides[i] = diff.Side{Name: x.text, Snapshot: snaps[i]}
	}
	if both {
		sides[1].Rival = snaps[0]
	}
	return sides, nil
}

// files returns the files that an operand names: several with commas between them, where no file is called so.
func (x operand) files() []string {
	if _, err := os.Stat(x.path); err == nil || x.path == "" {
		return []string{x.path}
	}
	return strings.Split(x.path, ",")
}

// read returns what is known of an operand without building anything: a state of a recording, or what files of other programs say;
// nil where it is neither.
func (x operand) read() (*report.Snapshot, error) {
	files := x.files()
	kind, err := kindOf(files)
	if err != nil {
		return nil, err
	}
	if kind == viewedFiles {
		snap, err := openViewed(files)
		if exchange.IsUnknown(err) && len(files) == 1 {
			return nil, nil // what opens models says what it is
		}
		if err == nil && x.which != "" {
			err = usageError{fmt.Errorf("%s: the files are of one engine, and have nothing called %s", x.path, x.which)}
		}
		if err == nil && snap.Timings == nil {
			err = fmt.Errorf("%s has no times: name the profile beside it, as in layers.json,profile.json", x.path)
		}
		return snap, err
	}
	return x.recorded()
}

// recorded returns the state of a recording that an operand names; nil where its file is none.
func (x operand) recorded() (*report.Snapshot, error) {
	if x.path == "" {
		return nil, nil
	}
	r, err := recording.Open(x.path)
	if errors.Is(err, recording.ErrNotRecording) || errors.Is(err, fs.ErrNotExist) { // what opens models says so
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	state := r.Last()
	if x.which != "" {
		if state, err = r.Find(x.which); err != nil {
			return nil, err
		}
	}
	return r.At(state)
}

// measure makes the snapshots that were not recorded: of two in the same rounds.
func (o *diffFlags) measure(ctx context.Context, stderr io.Writer, operands [2]operand, snaps *[2]*report.Snapshot) error {
	progress, stop := o.output.reporter(stderr)
	defer stop()
	var rivals []sessions.Rival
	var first *place
	for i, x := range operands {
		if snaps[i] != nil {
			continue
		}
		p, err := o.place(x, i, operands, first)
		if err != nil {
			return named(err, x.path)
		}
		if p != first {
			defer p.close()
			p.warn(stderr)
			if o.output.verbose {
				p.work.Log = func(l report.LogLine) { fmt.Fprintln(stderr, l) }
			}
		}
		cfg, err := o.configOf(p.model, x)
		if err != nil {
			return named(err, x.path)
		}
		runner := sessions.NewRunner(p.model, p.work, progress)
		if p == first {
			runner = rivals[0].Runner
		}
		first = p
		rivals = append(rivals, sessions.Rival{Runner: runner, Config: cfg})
	}
	parts, profiling := report.PartTimings|report.PartOverview|report.PartPasses|report.PartMemory, run.Profiling{WarmUp: warmUp, Iterations: 50, Duration: o.duration, PerStep: true}
	if !o.timesOf {
		parts |= report.PartAccuracy
	}
	var err error
	switch {
	case len(rivals) == 2:
		snaps[0], snaps[1], err = sessions.Duel(ctx, rivals[0], rivals[1], parts, profiling)
	case len(rivals) == 1:
		i := 0
		if snaps[0] != nil {
			i = 1
		}
		snaps[i], err = rivals[0].Report(ctx, rivals[0].Config, parts, profiling)
	}
	return err
}

// place opens the model of an operand: with the device of the first one, where both are to be on the same, and as the first one
// where they are the same file.
func (o *diffFlags) place(x operand, i int, operands [2]operand, first *place) (*place, error) {
	if len(o.backends) > 0 {
		o.device.backend = o.backends[i]
	}
	same := first != nil && (len(o.backends) == 0 || o.backends[0] == o.backends[1])
	if same && x.path == operands[0].path {
		return first, nil
	}
	if !same {
		p, err := o.open(x.path)
		if err == nil && first != nil {
			p.work.Cache = first.work.Cache
		}
		return p, err
	}
	p, err := o.reopen(first, x.path)
	if err == nil {
		p.close = func() {} // the device is the first one's
	}
	return p, err
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
