// Package compare sets engines side by side: what several runs make of the same items, element by element ([Run]), and how
// long they take in rounds of the same measurement ([Alternate], [PairedSpeed]). It is given engines that are ready to run,
// and knows nothing of how they are built. Start with compare.go.
package compare

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions/report"
)

// Options says how contenders are compared.
type Options struct {
	Tolerance report.Tolerance
	Half      report.Tolerance // of tensors that either run stores in f16 or bf16
	// Scaled takes the Abs of the tolerances as shares of the RMS of a tensor, as b has it over all items, and integers must
	// be equal. What is lowered to FP16 or INT8 is then compared by what its rounding explains, which is measured.
	Scaled   bool
	PerLayer bool // tensors of layers too
	// Outputs, if it is there, is given what the first run makes of each batch: the outputs of the items that count, from item
	// first on. Where runs are repeated, because a device was lost, it begins again with item 0.
	Outputs func(first int, values map[string]graph.Value) error
}

// tolerance returns the tolerance for a tensor that the two runs store in these types.
func (c Options) tolerance(types ...graph.DataType) report.Tolerance {
	for _, t := range types {
		if t == graph.F16 || t == graph.BF16 {
			return c.Half
		}
	}
	return c.Tolerance
}

// Run runs all batches on all, and compares the first with each of the others. What FP32 makes of them, if it is there,
// explains how they differ.
func Run(ctx context.Context, r *report.Comparison, all Batches, runs []*Contestant, fp32 *Reference, c Options, progress func(report.Progress)) error {
	var pairs []*pair
	for _, other := range runs[1:] {
		pairs = append(pairs, newPair(runs[0], other, c))
	}
	for i := range all.Count() {
		b := all.At(i)
		if err := compareBatch(ctx, b, runs, pairs, fp32, c, progress); err != nil {
			return err
		}
		r.Items += b.Count
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
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	if c.Outputs != nil {
		if err := c.Outputs(b.first, runs[0].outputs); err != nil {
			return err
		}
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
