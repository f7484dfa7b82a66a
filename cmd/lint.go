package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/advice"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// lintFlags are the flags of trtui lint.
type lintFlags struct {
	*modelFlags
	failOn string
}

// neverFail is the value of --fail-on with which no finding is an answer of no.
const neverFail = "none"

func lintCommand(t tables) *cobra.Command {
	o := &lintFlags{modelFlags: onBackends(t)}
	o.peaks = true
	c := &cobra.Command{
		Use:        "lint [MODEL|ENGINE|RECORDING]",
		SuggestFor: []string{"advice", "hints", "findings", "warnings"},
		Short:      "Find what is worth changing in an engine: lost time, memory and accuracy, with figures and what helps",
		Long: "Find what is worth changing in an engine: lost time, memory and accuracy, with figures and what helps. A model is built\n" +
			"and measured; of a recording, the last state that is complete is looked at, or the one that is named behind @ by its number,\n" +
			"time or configuration, and neither model nor device is needed. Ends with 1 where\n" +
			"something is found that is as grave as --fail-on says.",
		Example: examples("what is wrong with a model in INT8", "trtui lint model.onnx --precision int8 --data test.npz",
			"of a recorded session, for a script", "trtui lint session.trtui --format json",
			"of one of its configurations", "trtui lint session.trtui@int8/mse",
			"let a script fail on warnings, too", "trtui lint model.engine --fail-on warning"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.lint(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args))
		},
	}
	o.register(c, takeAll)
	o.usual = true
	c.Flags().StringVar(&o.failOn, "fail-on", string(report.Problem), "the least grave `SEVERITY` that ends with 1: problem, warning, hint or none")
	under(c, outputHeading, "fail-on")
	return c
}

func (o *lintFlags) lint(ctx context.Context, stdout, stderr io.Writer, path string) error {
	least := slices.Index(report.Severities(), report.Severity(o.failOn))
	if least < 0 && o.failOn != neverFail {
		return usageError{fmt.Errorf("--fail-on %q: want problem, warning, hint or none", o.failOn)}
	}
	snap, err := o.snapshot(ctx, stderr, path)
	if err != nil {
		return err
	}
	o.tellUsual(stderr)
	a := advice.On(snap)
	if o.output.json() {
		err = writeReport(stdout, snap.Head(), a)
	} else {
		writeAdvice(stdout, snap, a)
	}
	if err == nil && slices.ContainsFunc(a.Findings, func(f report.Finding) bool { return slices.Index(report.Severities(), f.Severity) <= least }) {
		return errNo
	}
	return err
}

// snapshot returns a state of a recording, or makes all that rules look at of a model or an engine.
func (o *lintFlags) snapshot(ctx context.Context, stderr io.Writer, path string) (snap *report.Snapshot, err error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if snap, err = o.recorded(path, report.PartPasses); snap != nil || err != nil {
		return snap, err
	}
	err = o.with(path, stderr, func(p *place, r *sessions.Runner) error {
		cfg, err := o.configFor(p.model)
		if err != nil {
			return err
		}
		parts := report.PartPasses | report.PartOverview | report.PartTimings | report.PartMemory | report.PartTactics | report.PartScore
		if !p.model.Stripped && cfg.Quantizes() && !p.model.Quantized {
			parts |= report.PartCalibration
		}
		snap, err = r.Report(ctx, cfg, parts, run.Profiling{WarmUp: warmUp, Iterations: 50, Duration: evalTime, PerStep: true})
		return err
	})
	return snap, err
}

// writeAdvice prints findings, the gravest first, each with what helps.
func writeAdvice(w io.Writer, snap *report.Snapshot, a *report.Advice) {
	if snap.Model != nil {
		writeHeading(w, snap)
	}
	var latency float64
	if snap.Timings != nil {
		latency = float64(snap.Timings.EndToEnd.Median)
	}
	for i, f := range a.Findings {
		head := fmt.Sprintf("%-8s %s", f.Severity, f.Rule)
		if f.Layer != "" {
			head += ": " + short(f.Layer)
		}
		if share := float64(f.Time) / max(latency, 1); f.Time > 0 && latency > 0 {
			head += fmt.Sprintf("  %s ms %s", ms(f.Time), bar(share, 20))
		}
		fmt.Fprintln(w)
		writeNote(w, "%s", head)
		writeIndented(w, ui.VisibleName(f.Text))
		if !a.GoesOn(i) {
			writeIndented(w, "-> "+hintOnRemedy(f.Remedy, f.Raise))
		}
	}
	fmt.Fprintf(w, "\n%s by %s\n", count(len(a.Findings), "finding"), count(a.Asked(), "rule"))
	for _, text := range a.Unasked() {
		writeNote(w, "%s", text)
	}
}

// writeIndented prints a text below a line's first words, broken to the terminal's width.
func writeIndented(w io.Writer, text string) {
	const indent = "         "
	width := terminalWidth(w) - len(indent)
	if width < leastText {
		width = 120
	}
	for _, part := range ui.Wrap(text, width) {
		fmt.Fprintln(w, indent+part)
	}
}
