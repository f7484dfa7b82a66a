package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run/suite"
)

// selftestOptions are the flags of trtui gpu selftest.
type selftestOptions struct {
	gpuOptions
	filter      string
	repetitions int
}

func selftestCommand() *cobra.Command { return (&selftestOptions{}).command() }

func (o *selftestOptions) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Run every tactic on every layer of the suite and compare with the layers' definition; exit code 1 where they differ",
		Long: "Run every tactic of a backend on every layer of the suite that it computes, and compare with the layer's\n" +
			"definition: on new random inputs in each repetition, into poisoned outputs, twice each, bit by bit the same.\n" +
			"Each tactic runs once before any runs twice, so that a budget cuts off the least; the summary says how much ran.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.repetitions < 1 {
				return usageError{fmt.Errorf("--reps %d: want 1 at least", o.repetitions)}
			}
			return o.selftest(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.register(c)
	f := c.Flags()
	f.StringVar(&o.filter, "filter", "", "only pairs of a tactic and a layer with this in their names")
	f.IntVar(&o.repetitions, "reps", 10, "repetitions on inputs of their own")
	return c
}

// selftestSummary is the last row of a selftest.
type selftestSummary struct {
	Summary    string  `json:"summary"`  // "selftest"
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

// progressEvery is how often a long command says how far it is.
const progressEvery = 5 * time.Second

func (o *selftestOptions) selftest(ctx context.Context, stdout, stderr io.Writer) error {
	begin := time.Now()
	ctx, cancel := o.bounded(ctx)
	defer cancel()
	layers := suite.Layers()
	sum := selftestSummary{Summary: "selftest", Reps: o.repetitions}
	seen, told := map[string]bool{}, begin
	var failure error // of printing
	report := func(r suite.Row) {
		seen[r.Tactic] = true
		sum.Ran++
		if !r.OK {
			sum.Failed++
			fmt.Fprintf(stderr, "trtui: %s on %s: %s\n", r.Tactic, r.Layer, r.Error)
		}
		if !r.OK || o.json {
			failure = errors.Join(failure, o.print(stdout, r, "FAILED "+r.Tactic+" on "+r.Layer+": "+r.Error))
		}
		if time.Since(told) > progressEvery {
			told = time.Now()
			fmt.Fprintf(stderr, "%d of %d pairs, %d failed, %.0f s\n", sum.Ran, sum.Pairs, sum.Failed, time.Since(begin).Seconds())
		}
	}
	err := suite.ErrLost
	for next := 0; errors.Is(err, suite.ErrLost); {
		if next, err = o.sweep(ctx, layers, next, &sum, report); errors.Is(err, suite.ErrLost) {
			sum.Lost++
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil // the budget's end
	}
	sum.Complete, sum.TacticsRan, sum.Seconds = sum.Ran == sum.Pairs, len(seen), time.Since(begin).Seconds()
	if err = errors.Join(err, failure); err != nil {
		return err
	}
	if sum.Pairs == 0 {
		return fmt.Errorf("no tactic of %s and layer have %q in their names", o.backend, o.filter)
	}
	if err := o.print(stdout, sum, sum.String()); err != nil {
		return err
	}
	if sum.Failed > 0 {
		fmt.Fprintf(stderr, "trtui: %s\n", sum)
		return errReported
	}
	return nil
}

// sweep opens the backend and runs the pairs from index next on; it returns how far it came.
func (o *selftestOptions) sweep(ctx context.Context, layers []suite.Case, next int, sum *selftestSummary, report func(suite.Row)) (int, error) {
	b, err := o.openBackend(o.backend)
	if err != nil {
		return next, err
	}
	defer b.Close()
	s := suite.NewSweep(b, layers, func(layer, tactic string) bool { return strings.Contains(tactic+" "+layer, o.filter) })
	sum.Pairs, sum.Tactics, sum.Estimated = s.Len(), s.Tactics(), b.Info().Estimated
	return s.Run(ctx, next, o.repetitions, report)
}
