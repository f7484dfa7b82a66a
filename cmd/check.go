package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/budget"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// checkFlags are the flags of trtui check.
type checkFlags struct {
	*modelFlags
	budget   string
	baseline string
	duration time.Duration
	longest  time.Duration
	perRound time.Duration // what a round of one engine took, on average
}

func checkCommand(t tables) *cobra.Command {
	o := &checkFlags{modelFlags: onBackends(t)}
	o.rounds = budget.Rounds
	o.output.also = []string{"junit", "markdown"}
	c := &cobra.Command{
		Use:        "check [MODEL|ENGINE|RECORDING] --budget FILE",
		SuggestFor: []string{"budget", "gate", "ci", "junit", "limit"},
		Short:      "Hold an engine to a budget of latency, accuracy, memory and size; ends with 1 where it is over one",
		Long: "Hold an engine to a budget of latency, accuracy, memory and size; ends with 1 where it is over one. Limits are absolute or\n" +
			"against a baseline: another engine or model, which is measured in the same rounds, or a recording. A baseline that is an engine is\n" +
			"measured as it was built, a model in the configuration that flags say, and either, with @ behind it, in that of trtui diff, as in\n" +
			"main.onnx@fp32. What is checked may be recorded, too: behind @ which configuration, or else its last; the baseline is then that\n" +
			"of the same configuration, or its last, and the rounds that were recorded decide. A latency is over its\n" +
			"limit where that is so with 99 % confidence. As long as its rounds do not tell on which side of the limit it is, the measurement\n" +
			"goes on, to --max-duration. It ends with 2 where a figure that is limited is not known, and no limit is exceeded.\n\n" +
			"A budget is a file of YAML: what limits refer to, if they do to anything, and the limits.\n\n" +
			"\tbaseline: main.engine\n" +
			"\tlimits:\n" +
			"\t  latency_p50: baseline + 5 %\n" +
			"\t  latency_p99: 4 ms\n" +
			"\t  top1: 97 %\n" +
			"\t  arena: 12 MiB\n\n" +
			"There are limits on " + strings.Join(budget.Names(), ", ") + ".",

		Example: examples("hold a model to the limits of a file", "trtui check model.onnx --precision int8 --data test.npz --budget budget.yaml",
			"against the engine of the main branch, for a CI", "trtui check model.engine --budget b.yaml --baseline main.engine --format junit",
			"what was recorded of one configuration", "trtui check s.trtui@int8 --budget b.yaml --baseline main.trtui@int8"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args))
		},
	}
	o.register(c, takeAll)
	f := c.Flags()
	f.StringVar(&o.budget, "budget", "", "`FILE` of limits, in YAML")
	f.StringVar(&o.baseline, "baseline", "", "`FILE` that limits refer to, in place of the budget's own: an engine, a model, or a recording, behind @ which configuration of it")
	f.DurationVar(&o.duration, "duration", 3*time.Second, "how long times are measured, at least")
	f.DurationVar(&o.longest, "max-duration", 2*time.Minute, "how long an engine's times are measured where they do not tell before")
	under(c, "Budget", "budget", "baseline", "duration", "max-duration")
	return c
}

func (o *checkFlags) run(ctx context.Context, stdout, stderr io.Writer, path string) error {
	switch {
	case o.budget == "":
		return usageError{errors.New("--budget is missing: it names the file of limits")}
	case o.duration < 0:
		return usageError{fmt.Errorf("--duration %s: want a time of 0 or more", o.duration)}
	case o.longest < 0:
		return usageError{fmt.Errorf("--max-duration %s: want a time of 0 or more", o.longest)}
	}
	if err := o.check(); err != nil {
		return err
	}
	b, err := o.readBudget()
	if err != nil {
		return err
	}
	var recorded *budget.Measured // what limits refer to, where it is a recording's
	b.Looks = budget.Looks(o.duration, o.longest)
	o.more = func(rounds [][]report.Round, took time.Duration) int {
		n := len(rounds)
		own, baseline := budget.OfRounds(rounds[n-1]), recorded
		if n > 1 {
			baseline = budget.OfRounds(rounds[0])
		}
		o.perRound = took / time.Duration(n*len(rounds[0]))
		return b.More(own, baseline, took, time.Duration(n)*o.longest)
	}
	subject, err := o.modelFlags.recorded(path, report.PartTimings|report.PartMemory)
	if err != nil {
		return err
	}
	if subject != nil {
		return o.checkRecorded(stdout, stderr, b, subject)
	}
	return o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		if recorded, err = o.recorded(stderr, b, cfg, p.model.Quantized); err != nil {
			return err
		}
		own, baseline, err := o.measure(ctx, b, p, sessions.Rival{Runner: r, Config: cfg}, recorded)
		if err != nil {
			return err
		}
		return o.answer(stdout, b, own, baseline, nil)
	})
}

// checkRecorded holds what was recorded to the budget, beside a baseline that was recorded, too.
func (o *checkFlags) checkRecorded(stdout, stderr io.Writer, b *budget.Budget, subject *report.Snapshot) error {
	if b.Limits("engine_file") {
		return fmt.Errorf("%s limits engine_file, and a recording does not tell how large a file is: check the model", b.Path)
	}
	baseline, err := o.recorded(stderr, b, subject.Config, pane.OwnRanges(subject))
	if err == nil && baseline == nil && b.Baseline != "" {
		err = fmt.Errorf("the baseline %s is no recording, and cannot be measured beside one: check the model in place of %s", b.Baseline, subject.Replay)
	}
	if err != nil {
		return err
	}
	if baseline != nil && sameFile(baseline.Replay, subject.Replay) && baseline.At.State == subject.At.State {
		warner(stderr)(fmt.Sprintf("the baseline is what is checked, %s of %s: another configuration is named behind @", pane.Label(subject), subject.Replay))
	}
	var d *report.Diff
	if baseline != nil && baseline.Made().Has(report.PartTimings) && !baseline.Stale.Has(report.PartTimings) {
		if d, err = diff.Of(diff.Side{Name: b.Baseline, Snapshot: baseline.Snapshot}, diff.Side{Name: subject.Replay, Snapshot: subject}); err != nil {
			return err
		}
	}
	return o.answer(stdout, b, &budget.Measured{Snapshot: subject}, baseline, d)
}

// answer writes whether the limits are kept; they are not if it returns errNo, and another error says of which it cannot be told. d is
// what is known of the difference of two that were recorded.
func (o *checkFlags) answer(stdout io.Writer, b *budget.Budget, own, baseline *budget.Measured, d *report.Diff) error {
	c, err := b.Check(own, baseline, d)
	if err != nil {
		return err
	}
	if err := o.write(stdout, own.Snapshot, c); err != nil || c.Passed {
		return err
	}
	if c.Count(report.CheckFailed) > 0 {
		return errNo
	}
	return fmt.Errorf("%s: whether %s kept cannot be said", b.Path, config.CountOf(c.Count(report.CheckUnknown), "limit is", "limits are"))
}

// readBudget reads the file of limits.
func (o *checkFlags) readBudget() (*budget.Budget, error) {
	text, err := host.ReadUpTo(o.budget, budget.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	b, err := budget.Read(bytes.NewReader(text), o.budget)
	if err == nil && o.baseline != "" {
		b.Baseline = o.baseline
	}
	if err == nil {
		err = b.Founded()
	}
	return b, err
}

// recorded returns what limits refer to where that is a recording's, nil where it is something else or nothing: the configuration that
// its name says behind @, or else the given one, or as for trtui diff its last state, which is said.
func (o *checkFlags) recorded(stderr io.Writer, b *budget.Budget, cfg config.Config, quantized bool) (*budget.Measured, error) {
	if b.Baseline == "" {
		return nil, nil
	}
	x := parseOperand(b.Baseline)
	last, err := x.recorded()
	if last == nil {
		return nil, err
	}
	if x.which == "" && !last.Config.SameEngine(cfg, quantized) {
		name := ""
		for _, c := range last.Tried {
			if c.Config.SameEngine(cfg, quantized) && c.Settled && !c.Aside {
				name = c.Name
			}
		}
		if name == "" {
			warner(stderr)(fmt.Sprintf("%s has nothing complete of %s: the baseline is its last state, of %s", b.Baseline, cfg.Label(quantized), pane.Label(last)))
		} else if last, err = (operand{x.text, x.path, name}).recorded(); err != nil {
			return nil, err
		}
	}
	return &budget.Measured{Snapshot: last}, nil
}

// measure makes all that the limits are on, and of the baseline what they refer to, unless that is recorded.
func (o *checkFlags) measure(ctx context.Context, b *budget.Budget, p *place, own sessions.Rival, recorded *budget.Measured) (m, baseline *budget.Measured, err error) {
	parts := b.Parts() | report.PartMemory
	profiling := run.Profiling{Iterations: 1}
	if b.Timed() {
		profiling = run.Profiling{WarmUp: warmUp, Iterations: budget.Rounds, Duration: o.duration}
	}
	m, baseline = &budget.Measured{}, recorded
	var other *sessions.Rival
	var otherModel *model.Model
	if b.Baseline != "" && recorded == nil {
		baseline = &budget.Measured{}
		if other, otherModel, err = o.rival(p, b.Baseline); err != nil {
			return nil, nil, named(err, b.Baseline)
		}
	}
	if other == nil {
		list, err := own.Compare(ctx, []config.Config{own.Config}, parts, profiling)
		if err != nil {
			return nil, nil, err
		}
		m.Snapshot = list[0].Snapshot
	} else if baseline.Snapshot, m.Snapshot, err = sessions.Duel(ctx, *other, own, parts, profiling); err != nil {
		return nil, nil, err
	}
	if !b.Limits("engine_file") {
		return m, baseline, nil
	}
	if err = engineFile(ctx, m, own, p.model, otherModel); err == nil && other != nil {
		err = engineFile(ctx, baseline, *other, otherModel, p.model)
	}
	return m, baseline, err
}

// rival opens a baseline that is no recording, with the devices and the data of the model that is held to the budget. An engine is
// measured as it was built, whatever flags make of that model, unless its name says behind @ what of it.
func (o *checkFlags) rival(p *place, name string) (*sessions.Rival, *model.Model, error) {
	x, work := parseOperand(name), p.work
	m, err := o.imported(x.path)
	if err != nil {
		return nil, nil, err
	}
	var cfg config.Config
	if m.Engine != nil && x.which == "" {
		work.Recalibrate = false
		cfg, err = o.asBuilt(m)
	} else if m, err = o.equipped(m, nil); err == nil {
		cfg, err = o.configOf(m, x)
	}
	if err != nil {
		return nil, nil, err
	}
	return &sessions.Rival{Runner: sessions.NewRunner(m, work, p.told), Config: cfg}, m, nil
}

// engineFile notes how large the file of an engine is: the one that it was read from, unless flags make another engine of it, or else the
// one that trtui build would write, with its source if the engine it is held against, which may be nil, has its own in its file.
func engineFile(ctx context.Context, m *budget.Measured, r sessions.Rival, of, against *model.Model) error {
	if of.Engine != nil {
		made, err := of.Making()
		if err != nil {
			return err
		}
		if made.Config.SameEngine(r.Config, of.Quantized) {
			m.EngineBytes, m.EngineFile = int(of.Bytes), "the file "+of.Name()
			return nil
		}
	}
	command, keep := "trtui build", against != nil && against.Engine != nil && !against.Stripped && !of.Stripped
	if keep {
		command += " --keep-source"
	}
	e, err := builtEngine(ctx, r.Runner, r.Config, keep)
	if err != nil {
		return err
	}
	n, err := e.WriteTo(io.Discard)
	m.EngineBytes, m.EngineFile = int(n), "what "+command+" would write"
	return err
}
