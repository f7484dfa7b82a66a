package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/internal/suite"
	"github.com/trtui/trtui/kernels/cuda/supervisor"
	"github.com/trtui/trtui/sessions/report"
)

// selftestFlags are the flags of trtui gpu selftest.
type selftestFlags struct {
	gpuFlags
	filter      string
	pairs       string // all, or tactic: one of each
	repetitions int    // none: times alone
	resume      string
	skip        []string // tactics, of the worker
	sweep       bool     // the layers of networks are timed, those of the suite are not checked
}

func selftestCommand(t tables) *cobra.Command {
	return (&selftestFlags{gpuFlags: onGPU(t)}).command()
}

func (o *selftestFlags) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Run every tactic on every layer of the suite and compare with the definition of the layers",
		Long: "Run every tactic of a backend on every layer of the suite that it computes, and compare with the layer's\n" +
			"definition: on new random inputs in each repetition, into poisoned outputs, twice each, bit for bit the same.\n" +
			"Then, where outputs are quantised, on ranges that hold few of the numbers, infinities and NaN among them; the\n" +
			"names of these layers begin with saturated.\n\n" +
			"Each tactic runs once before any runs twice, so that --budget SECONDS cuts off as little as possible; the summary\n" +
			"says how much ran. --filter TEXT selects pairs by name, as in --filter softmax. Both are for cudasim, on which the\n" +
			"whole takes hours.\n\n" +
			"On a GPU the work is done by another process: a kernel that hangs or takes the device down is a failure like\n" +
			"any other, and the rest goes on.",
		Example: examples("every kernel on the first GPU", "trtui gpu selftest --backend cuda",
			"one of each, for five minutes", "trtui gpu selftest --pairs tactic --budget 300",
			"the softmax kernels, on a simulated GPU", "trtui gpu selftest --backend cudasim --filter softmax --reps 1"),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.repetitions < 1 {
				return usageError{fmt.Errorf("--reps %d: want at least 1", o.repetitions)}
			}
			return o.run(c)
		},
	}
	o.registerPairs(c)
	c.Flags().IntVar(&o.repetitions, "reps", 10, "repetitions, each on inputs of its own")
	under(c, "Pairs", "reps")
	return c
}

// registerPairs adds the flags of what works on pairs.
func (o *selftestFlags) registerPairs(c *cobra.Command) {
	o.register(c)
	f := c.Flags()
	f.StringVar(&o.filter, "filter", "", "only pairs of a tactic and a layer with this `TEXT` in their names: TACTIC LAYER")
	f.StringVar(&o.pairs, "pairs", "all", "all, or tactic: one of each, on the smallest layer that it computes, and one of each family with ranges that saturate")
	f.StringVar(&o.resume, "resume", "", "continue after the rows in this `FILE`, which an earlier run with the same flags printed as JSON")
	f.StringSliceVar(&o.skip, "skip", nil, "tactics that the worker leaves out")
	under(c, "Pairs", "filter", "pairs", "resume")
	_ = f.MarkHidden("skip") // it is there
}

func (o *selftestFlags) run(c *cobra.Command) error {
	if o.pairs != "all" && o.pairs != "tactic" {
		return usageError{fmt.Errorf("--pairs %q: want all or tactic", o.pairs)}
	}
	if o.worker {
		return o.work(c.Context(), c.OutOrStdout())
	}
	return o.selftest(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
}

// name is the command's, and its summary's.
func (o *selftestFlags) name() string {
	if o.sweep {
		return "sweep"
	}
	return "selftest"
}

// selftestSummary is the last row of a selftest.
type selftestSummary struct {
	Summary    string  `json:"summary"`  // "selftest" or "sweep"
	Complete   bool    `json:"complete"` // nothing was cut off
	Estimated  bool    `json:"estimated,omitempty"`
	Ran        int     `json:"ran"` // pairs of a tactic and a layer
	Pairs      int     `json:"pairs"`
	TacticsRan int     `json:"tactics_ran"`
	Tactics    int     `json:"tactics"`
	Failed     int     `json:"failed"`
	Lost       int     `json:"contexts_lost,omitempty"`
	Reps       int     `json:"reps"`
	Seconds    float64 `json:"seconds"`
}

func (s selftestSummary) String() string {
	text := fmt.Sprintf("%d of %d pairs of a tactic and a layer ran, %d of %d tactics; %d failed", s.Ran, s.Pairs, s.TacticsRan, s.Tactics, s.Failed)
	if s.Lost > 0 {
		text += fmt.Sprintf("; the device's context was lost %d times", s.Lost)
	}
	return text
}

// selftesting is a selftest under way: it prints what the sweep tells.
type selftesting struct {
	*selftestFlags
	supervisor.Sweep
	stdout, stderr io.Writer
	tell           func(report.Progress) // nil: nobody asks
	headed         bool                  // the head is printed
	failure        error                 // of printing
}

func (o *selftestFlags) selftest(ctx context.Context, stdout, stderr io.Writer) error {
	s, begin := &selftesting{selftestFlags: o, stdout: stdout, stderr: stderr}, time.Now()
	s.Check, s.Tell = o.check, s.told
	if o.isolated() {
		s.Worker = o.sweepWorker(stderr)
	}
	if o.resume != "" {
		f, err := host.Open(o.resume)
		if err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		err = s.Resume(f)
		f.Close()
		if err != nil {
			return err
		}
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	var stop func()
	s.tell, stop = o.output.reporter(stderr)
	err := s.Run(ctx)
	stop()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = nil // the budget's end
	case errors.Is(err, supervisor.ErrNoDevice):
		err = errReported // by the worker
	}
	if err = errors.Join(err, s.failure); err != nil && s.Ran == 0 {
		return err
	}
	if s.Pairs == 0 && err == nil {
		return fmt.Errorf("no pair of a tactic of %s and a layer has %q in its name", o.device.backend, o.filter)
	}
	sum := o.summary(s.Counts, time.Since(begin))
	if err = errors.Join(err, o.print(stdout, sum, sum.String())); err != nil {
		return err
	}
	if s.Failed > 0 {
		fmt.Fprintf(stderr, "trtui: %s\n", sum)
		return errNo
	}
	return nil
}

func (o *selftestFlags) summary(c supervisor.Counts, took time.Duration) selftestSummary {
	return selftestSummary{
		Summary: o.name(), Complete: c.Ran == c.Pairs, Estimated: c.Estimated, Ran: c.Ran, Pairs: c.Pairs, TacticsRan: c.TacticsRan,
		Tactics: c.Tactics, Failed: c.Failed, Lost: c.Lost, Reps: o.repetitions, Seconds: took.Seconds(),
	}
}

// sweepWorker returns what makes processes that do the command's work.
func (o *selftestFlags) sweepWorker(stderr io.Writer) func(from int, skip []string) supervisor.Worker {
	return func(from int, skip []string) supervisor.Worker {
		args := []string{"--filter", o.filter, "--pairs", o.pairs, "--from", fmt.Sprint(from), "--skip", strings.Join(skip, ",")}
		if !o.sweep {
			args = append(args, "--reps", fmt.Sprint(o.repetitions))
		}
		return o.workerFor(stderr, o.name(), args...)
	}
}

// told prints what there is to print of an event.
func (s *selftesting) told(e supervisor.Event) {
	switch {
	case e.Size != nil && s.output.json() && !s.headed:
		s.headed = true
		s.failure = errors.Join(s.failure, s.print(s.stdout, e.Head, ""))
	case e.Begin != nil && s.tell != nil:
		s.tell(s.progress(*e.Begin))
	case e.Row != nil:
		s.row(*e.Row)
	}
}

// progress says at which pair the selftest is.
func (s *selftesting) progress(at suite.Row) report.Progress {
	p := report.Progress{Phase: "checking pairs", Item: at.Tactic + " on " + at.Layer, Done: s.Ran, Total: s.Pairs}
	if s.Failed > 0 {
		p.Item = fmt.Sprintf("%d failed; %s", s.Failed, p.Item)
	}
	return p
}

// row prints what became of a pair.
func (s *selftesting) row(r suite.Row) {
	if !r.OK {
		fmt.Fprintf(s.stderr, "trtui: %s on %s: %s\n", r.Tactic, r.Layer, r.Error)
	}
	if s.sweep {
		s.reportTime(r)
		return
	}
	if !r.OK || s.output.json() {
		s.failure = errors.Join(s.failure, s.print(s.stdout, r, "FAILED "+r.Tactic+" on "+r.Layer+": "+r.Error))
	}
}

// work is the worker's side: it writes events.
func (o *selftestFlags) work(ctx context.Context, stdout io.Writer) error {
	return supervisor.Serve(stdout, func(event func(supervisor.Event)) error { return o.check(ctx, o.from, o.skip, event) })
}

// check opens the backend and checks the pairs from index from on.
func (o *selftestFlags) check(ctx context.Context, from int, skip []string, event func(supervisor.Event)) error {
	b, err := o.device.open(o.device.backend)
	if err != nil {
		return err
	}
	defer b.Close()
	s := o.pairsOf(b)
	head, err := o.head(b)
	if err != nil {
		return err
	}
	event(supervisor.Event{Head: head, Size: &supervisor.Size{Pairs: s.Len(), Tactics: s.Tactics(), Estimated: b.Info().Estimated}})
	return supervisor.Check(ctx, s, from, o.repetitions, skip, event)
}
