package stages

import (
	"context"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// leastRangeGain is the share of the noise that another range of a tensor must take away to be worth saying.
const leastRangeGain = 0.005

// chooseRanges chooses the calibrator of each quantised tensor by the error of the outputs, one tensor after the other in the order in
// which they are computed, those before it being as they were chosen. The study goes on with them, its biases corrected anew; where
// that is not better than the calibrator of the configuration everywhere, it stays with that. It ends after a share of the search's time.
func (g *searching) chooseRanges(ctx context.Context, until float64) error {
	chosen, err := g.rangesByOutput(ctx, until)
	if err != nil || len(chosen) == 0 {
		return err
	}
	cfg := g.config.Clone()
	if cfg.Quantization.Ranges == nil {
		cfg.Quantization.Ranges = map[string][]float64{}
	}
	typ := cfg.Quantization.Scheme().DataType()
	for name, r := range chosen {
		lo, hi := quant.Limits(r, typ)
		if !cfg.Quantization.Scheme().Asymmetric {
			lo, hi = -quant.AMax(r), quant.AMax(r)
		}
		cfg.Quantization.Ranges[name] = []float64{lo, hi}
	}
	t, err := g.studies.open(ctx, cfg)
	if err != nil {
		return err
	}
	if t.noise < g.study.noise {
		g.study, g.config = t, cfg
	}
	return nil
}

// rangesByOutput returns the ranges that are better than those of the configuration.
func (g *searching) rangesByOutput(ctx context.Context, until float64) (map[string]numeric.Range, error) {
	t := g.study
	candidates, err := t.rangeCandidates(ctx)
	if err != nil {
		return nil, err
	}
	chosen, noise := map[string]numeric.Range{}, t.noise
	names := quantisedTensors(t.base.Quantised)
	for i, name := range names {
		if g.late(until) {
			break
		}
		g.studies.told.Progress(report.Progress{Phase: "choosing ranges", Item: name, Done: i, Total: len(names)})
		if t.config.Quantization.Ranges[name] != nil { // a person did
			continue
		}
		better := false
		before, had := chosen[name]
		for _, r := range candidates[name] {
			chosen[name] = r
			n, err := g.noiseOf(ctx, variant{ranges: chosen})
			if err != nil {
				return nil, err
			}
			if n < noise*(1-leastRangeGain) {
				noise, before, had, better = n, r, true, true
			}
		}
		delete(chosen, name)
		if had {
			chosen[name] = before
		}
		if better { // what follows runs from here on
			n, err := t.quantised(ctx, variant{ranges: chosen})
			if err != nil {
				return nil, err
			}
			if err := t.hold(ctx, n); err != nil {
				return nil, err
			}
		}
	}
	return chosen, nil
}

// hold makes variants run from where they differ from a network.
func (t *study) hold(ctx context.Context, n *graph.Network) error {
	t.calibration.device.Busy.Lock()
	defer t.calibration.device.Busy.Unlock()
	return t.variants.Hold(ctx, t.source.Network, n)
}

// rangeCandidates returns the ranges that calibrators find for each tensor, other than the one that the study has: for asymmetric
// ranges symmetric ones, too.
func (t *study) rangeCandidates(ctx context.Context) (map[string][]numeric.Range, error) {
	if t.in.Ranges == nil {
		return nil, nil
	}
	list := map[string][]numeric.Range{}
	for _, m := range t.model.Methods() {
		name := m.New(m.Value, quant.Scheme{}).String()
		for _, activations := range []string{t.in.Ranges.By.Activations, symmetricOf(t.in.Ranges.By.Activations)} {
			ranges, err := t.calibration.Ranges.Of(ctx, ranging{t.in.Ranges.Of, finder{name, activations, t.in.Ranges.By.Given}})
			if err != nil {
				return nil, err
			}
			for tensor, r := range ranges {
				same := func(o numeric.Range) bool { return slices.Equal(o.Scale, r.Scale) && slices.Equal(o.Zero, r.Zero) }
				if len(r.Scale) == 1 && !same(t.how.Ranges[tensor]) && !slices.ContainsFunc(list[tensor], same) {
					list[tensor] = append(list[tensor], r)
				}
			}
		}
	}
	return list, nil
}

// symmetricOf returns the symmetric scheme of the same integers.
func symmetricOf(activations string) string {
	s, err := config.ParseScheme(activations)
	if err == nil && s.DataType() == numeric.U8 {
		return "symmetric:u8"
	}
	return "symmetric"
}

// quantisedTensors returns the names of the tensors that are quantised, in order, as ranges have them.
func quantisedTensors(n *graph.Network) []string {
	var names []string
	for _, l := range n.Layers {
		if l.Op == graph.Quantize {
			names = append(names, quant.SourceTensor(l.Inputs[0].Name))
		}
	}
	return names
}
