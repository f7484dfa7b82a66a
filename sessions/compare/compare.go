// Package compare sets engines side by side: what several runs make of the same items, element by element ([Run]), and how
// long they take in rounds of the same measurement ([Alternate], [PairedSpeed]). It is given engines that are ready to run,
// and knows nothing of how they are built. Start with compare.go.
package compare

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/report"
)

// Run runs all batches on all, and compares the first with each of the others. A state is that of the first, for all. What FP32 makes of them, if it is there,
// explains how they differ.
func Run(ctx context.Context, r *report.Comparison, all Batches, runs []*Contestant, fp32 *Reference, c Options, progress func(report.Progress)) error {
	var pairs []*pair
	for _, other := range runs[1:] {
		pairs = append(pairs, newPair(runs[0], other, c))
	}
	var before map[string]numeric.Value
	for i := range all.Count() {
		b := all.At(i)
		b.state, b.before = c.State, before
		if err := compareBatch(ctx, b, runs, pairs, fp32, c, progress); err != nil {
			return err
		}
		r.Items += b.Count
		before = runs[0].outputs
	}
	for _, one := range runs {
		r.Runs = append(r.Runs, one.report())
	}
	for _, p := range pairs {
		r.Pairs = append(r.Pairs, p.report())
		r.Passed = r.Passed && r.Pairs[len(r.Pairs)-1].Passed
	}
	return nil
}

// compareBatch runs a batch on all, and on FP32 where it is there, and compares what they make of it.
func compareBatch(ctx context.Context, b Batch, runs []*Contestant, pairs []*pair, fp32 *Reference, c Options, progress func(report.Progress)) error {
	in, err := b.Inputs()
	if err != nil {
		return err
	}
	for _, one := range runs {
		one.now, one.batch = report.Progress{Phase: "running on " + one.name, Done: b.first, Total: b.items}, b
		progress(one.now)
		if err := one.run(ctx, in, c.PerLayer); err != nil {
			return fmt.Errorf("%s: %w", one.said(), err)
		}
	}
	if err := save(b, in, runs, c); err != nil {
		return err
	}
	if fp32 != nil {
		progress(report.Progress{Phase: "running FP32", Done: b.first, Total: b.items})
		if err := fp32.run(ctx, b, in); err != nil {
			return fmt.Errorf("FP32: %w", err)
		}
	}
	for _, p := range pairs {
		if err := p.add(b, fp32); err != nil {
			return err
		}
	}
	return nil
}

// save gives a batch's inputs and outputs to those who want them.
func save(b Batch, in map[string]numeric.Value, runs []*Contestant, c Options) error {
	if c.SaveInputs != nil {
		if err := c.SaveInputs(b.first, b.of(b.network.Inputs, in)); err != nil {
			return err
		}
	}
	for i, one := range runs {
		if c.Save == nil {
			break
		}
		if err := c.Save(i, b.first, one.outputs); err != nil {
			return err
		}
	}
	return nil
}
