package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run/suite"
	"github.com/trtui/trtui/sessions"
)

// selftestOptions are the flags of trtui gpu selftest.
type selftestOptions struct {
	gpuOptions
	filter      string
	pairs       string // all, or tactic: one of each
	repetitions int    // none: times alone
	resume      string
	skip        []string // tactics, of the worker
	sweep       bool     // the layers of networks are timed, those of the suite are not checked
}

func selftestCommand() *cobra.Command { return (&selftestOptions{}).command() }

func (o *selftestOptions) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Run every tactic on every layer of the suite and compare with the layers' definition; exit code 1 where they differ",
		Long: "Run every tactic of a backend on every layer of the suite that it computes, and compare with the layer's\n" +
			"definition: on new random inputs in each repetition, into poisoned outputs, twice each, bit by bit the same.\n" +
			"Then, where outputs are quantised, on ranges that hold few of the numbers, infinities and NaN among them; these\n" +
			"layers' names begin with saturated.\n" +
			"Each tactic runs once before any runs twice, so that what --budget SECONDS cuts off is the least; the summary\n" +
			"says how much ran. --filter TEXT leaves only pairs with that in their names, as --filter softmax. Both are for\n" +
			"cudasim, on which the whole takes hours.\n" +
			"On a GPU the work is done by another process: a kernel that hangs or takes the device down is a failure like\n" +
			"others, and the rest goes on.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.repetitions < 1 {
				return usageError{fmt.Errorf("--reps %d: want 1 at least", o.repetitions)}
			}
			return o.run(c)
		},
	}
	o.registerPairs(c)
	c.Flags().IntVar(&o.repetitions, "reps", 10, "repetitions on inputs of their own")
	return c
}

// registerPairs adds the flags of what works on pairs.
func (o *selftestOptions) registerPairs(c *cobra.Command) {
	o.register(c)
	f := c.Flags()
	f.StringVar(&o.filter, "filter", "", "only pairs of a tactic and a layer with this in their names: TACTIC LAYER")
	f.StringVar(&o.pairs, "pairs", "all", "all, or tactic: one of each, on the smallest layer that it computes, and one of each family with ranges that saturate")
	f.StringVar(&o.resume, "resume", "", "go on behind the rows in this file, which an earlier run with the same flags printed as JSON")
	f.StringSliceVar(&o.skip, "skip", nil, "tactics that the worker leaves out")
	_ = f.MarkHidden("skip") // it is there
}

func (o *selftestOptions) run(c *cobra.Command) error {
	if o.pairs != "all" && o.pairs != "tactic" {
		return usageError{fmt.Errorf("--pairs %q: want all or tactic", o.pairs)}
	}
	if o.worker {
		return o.work(c.Context(), c.OutOrStdout())
	}
	return o.selftest(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
}

// name is the command's, and its summary's.
func (o *selftestOptions) name() string {
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

// selftesting is a selftest under way.
type selftesting struct {
	*selftestOptions
	stdout, stderr io.Writer
	begin          time.Time
	tell           func(sessions.Progress) // nil: nobody asks
	sum            selftestSummary
	seen           map[string]bool // tactics
	pending        *suite.Row      // the pair that is being checked
	last           suite.Row       // that was reported
	losses         map[string]int  // by tactic: how often it lost the device
	headed         bool            // the head is printed
	failure        error           // of printing
}

func (o *selftestOptions) selftest(ctx context.Context, stdout, stderr io.Writer) error {
	s := &selftesting{
		selftestOptions: o, stdout: stdout, stderr: stderr, begin: time.Now(), seen: map[string]bool{}, losses: map[string]int{},
		sum: selftestSummary{Summary: o.name(), Reps: o.repetitions},
	}
	if err := s.readEarlier(); err != nil {
		return err
	}
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	var stop func()
	s.tell, stop = o.reporter(stderr)
	err := s.all(ctx)
	stop()
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the budget's end
	}
	s.sum.Complete, s.sum.TacticsRan, s.sum.Seconds = s.sum.Ran == s.sum.Pairs, len(s.seen), time.Since(s.begin).Seconds()
	if err = errors.Join(err, s.failure); err != nil && s.sum.Ran == 0 {
		return err
	}
	if s.sum.Pairs == 0 && err == nil {
		return fmt.Errorf("no tactic of %s and layer have %q in their names", o.backend, o.filter)
	}
	if err = errors.Join(err, o.print(stdout, s.sum, s.sum.String())); err != nil {
		return err
	}
	if s.sum.Failed > 0 {
		fmt.Fprintf(stderr, "trtui: %s\n", s.sum)
		return errNo
	}
	return nil
}

// readEarlier counts the rows of an earlier run.
func (s *selftesting) readEarlier() error {
	if s.resume == "" {
		return nil
	}
	f, err := os.Open(s.resume)
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r suite.Row
		if json.Unmarshal(in.Bytes(), &r) == nil && r.Tactic != "" {
			s.count(r)
		}
	}
	return in.Err()
}

func (s *selftesting) count(r suite.Row) {
	s.seen[r.Tactic] = true
	s.sum.Ran++
	if !r.OK {
		s.sum.Failed++
	}
}

// report counts and prints a row.
func (s *selftesting) report(r suite.Row) {
	s.pending, s.last = nil, r
	s.count(r)
	if !r.OK {
		fmt.Fprintf(s.stderr, "trtui: %s on %s: %s\n", r.Tactic, r.Layer, r.Error)
	}
	if s.sweep {
		s.reportTime(r)
		return
	}
	if !r.OK || s.format == "json" {
		s.failure = errors.Join(s.failure, s.print(s.stdout, r, "FAILED "+r.Tactic+" on "+r.Layer+": "+r.Error))
	}
}

// After so many failures in a row to get the device going again, with a pause before each, there is no device any more.
const (
	maxRestarts  = 3
	restartPause = time.Second
)

// maxLosses is how often a tactic may lose the device before it is left out: a new start takes seconds, and there are
// hundreds of layers.
const maxLosses = 2

// openPatience is how long a device may take to be opened.
const openPatience = time.Minute

// launchPatience is how long a kernel may take that is compiled.
const launchPatience = 15 * time.Second

// all checks every pair, with a new context, or a new process, where one was lost.
func (s *selftesting) all(ctx context.Context) error {
	restarts := 0
	for {
		from := s.sum.Ran
		lost, err := s.some(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.pending != nil { // it did not come back from this one
			r := *s.pending
			r.Error = fmt.Sprintf("the process that ran it ended: %v", err)
			s.report(r)
			lost = true
		}
		if lost && s.sum.Ran > from {
			s.losses[s.last.Tactic]++
		}
		switch {
		case !lost:
			return err
		case s.sum.Ran > from:
			restarts = 0
		default:
			if restarts++; restarts > maxRestarts {
				return fmt.Errorf("the device does not start again: %w", errors.Join(err, suite.ErrLost))
			}
		}
		s.sum.Lost++
		if s.isolated() {
			select {
			case <-time.After(restartPause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// some checks pairs until all are done or the device is lost.
func (s *selftesting) some(ctx context.Context) (lost bool, err error) {
	if !s.isolated() {
		err = s.check(ctx, s.sum.Ran, s.skipped(), s.handle)
		return errors.Is(err, suite.ErrLost), err
	}
	w := worker{program: s.program, patience: max(s.patience, openPatience), stderr: s.stderr, args: s.workerArgs(s.name(),
		"--filter", s.filter, "--pairs", s.pairs, "--from", fmt.Sprint(s.sum.Ran), "--skip", strings.Join(s.skipped(), ","))}
	if !s.sweep {
		w.args = append(w.args, "--reps", fmt.Sprint(s.repetitions))
	}
	opened := false
	err = w.run(ctx, func(line []byte) time.Duration {
		var e selftestEvent
		if json.Unmarshal(line, &e) != nil {
			return s.patience // not the worker's, but some library's
		}
		opened = true
		lost = lost || e.Lost
		s.handle(e)
		if e.Launch {
			return min(s.patience, launchPatience)
		}
		return s.patience
	})
	switch {
	case err == nil:
	case opened || s.sum.Lost > 0:
		lost = true
	case errors.As(err, new(*exec.ExitError)):
		err = errReported // by the worker
	}
	return lost, err
}

// skipped are the tactics to leave out, in order.
func (s *selftesting) skipped() []string {
	var list []string
	for _, tactic := range slices.Sorted(maps.Keys(s.losses)) {
		if s.losses[tactic] >= maxLosses {
			list = append(list, tactic)
		}
	}
	return list
}

// selftestEvent is what happens in a sweep: one of these.
type selftestEvent struct {
	Head  json.RawMessage  `json:"head,omitempty"`  // of all that follows, with Sweep
	Sweep *selftestSummary `json:"sweep,omitempty"` // what there is to do
	Begin *suite.Row       `json:"begin,omitempty"` // a pair
	Row   *suite.Row       `json:"row,omitempty"`
	Lost  bool             `json:"lost,omitempty"` // the device

	Launch bool `json:"launch,omitempty"` // the pair of the last Begin is compiled
}

// progress says at which pair the selftest is.
func (s *selftesting) progress() sessions.Progress {
	p := sessions.Progress{Phase: "checking pairs", Item: s.pending.Tactic + " on " + s.pending.Layer, Done: s.sum.Ran, Total: s.sum.Pairs}
	if s.sum.Failed > 0 {
		p.Item = fmt.Sprintf("%d failed; %s", s.sum.Failed, p.Item)
	}
	return p
}

func (s *selftesting) handle(e selftestEvent) {
	switch {
	case e.Sweep != nil:
		if s.format == "json" && !s.headed {
			s.headed = true
			s.failure = errors.Join(s.failure, s.print(s.stdout, e.Head, ""))
		}
		s.sum.Pairs, s.sum.Tactics, s.sum.Estimated = e.Sweep.Pairs, e.Sweep.Tactics, e.Sweep.Estimated
	case e.Begin != nil:
		s.pending = e.Begin
		if s.tell != nil {
			s.tell(s.progress())
		}
	case e.Row != nil:
		s.report(*e.Row)
	}
}

// work is the worker's side: it writes events.
func (o *selftestOptions) work(ctx context.Context, stdout io.Writer) error {
	out := json.NewEncoder(stdout)
	var failure error
	write := func(e selftestEvent) { failure = errors.Join(failure, out.Encode(e)) }
	err := o.check(ctx, o.from, o.skip, write)
	if errors.Is(err, suite.ErrLost) {
		write(selftestEvent{Lost: true})
		err = nil
	}
	return errors.Join(err, failure)
}

// check opens the backend and runs the pairs from index from on.
func (o *selftestOptions) check(ctx context.Context, from int, skip []string, event func(selftestEvent)) error {
	b, err := o.openBackend(o.backend)
	if err != nil {
		return err
	}
	defer b.Close()
	s := o.pairsOf(b)
	s.Skip = map[string]bool{}
	for _, tactic := range skip {
		s.Skip[tactic] = true
	}
	head, err := o.head(b)
	if err != nil {
		return err
	}
	event(selftestEvent{Head: head, Sweep: &selftestSummary{Pairs: s.Len(), Tactics: s.Tactics(), Estimated: b.Info().Estimated}})
	_, err = s.Run(ctx, min(from, s.Len()), o.repetitions, func(i int, launch bool) {
		if launch {
			event(selftestEvent{Launch: true})
			return
		}
		r := s.Pair(i)
		event(selftestEvent{Begin: &r})
	}, func(r suite.Row) { event(selftestEvent{Row: &r}) })
	return err
}
