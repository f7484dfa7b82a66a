package sessions

import (
	"context"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// equalization returns how channels are equalised, nil where they are not.
func (c *calibration) equalization(ctx context.Context, in lowering) (*build.Equalization, error) {
	by := in.Quantized.Equalizer()
	if in.Ranges == nil || by.IsOff() {
		return nil, nil
	}
	e := &build.Equalization{By: by, Given: map[string]bool{}}
	for name := range in.Ranges.By.Given {
		e.Given[name] = true
	}
	if e.Known = c.orders.stored.equalized(in.Ranges.By, in.Quantized); e.Known != nil {
		return e, nil
	}
	if _, kept := c.data.(collected); kept || c.items() == 0 || c.data.Random() && c.orders.stored.ranges(in.Ranges.By) != nil {
		c.told.log.say("warning", "", "channels are not equalised: that needs the data that the model was calibrated on")
		return nil, nil
	}
	if by.NeedsActivations() {
		found, err := c.hist.of(ctx, *in.Means)
		if err != nil {
			return nil, err
		}
		e.Spreads = found.Spreads()
	}
	e.Ranges = func(ctx context.Context, n *graph.Network, names []string) (map[string]graph.Range, error) {
		calibrator, err := c.model.calibrators().Parse(in.Ranges.By.Calibrator, in.Quantized.Scheme())
		if err != nil {
			return nil, err
		}
		found, err := build.CollectOf(ctx, n, in.Means.Symbols, c.host, c.batches, in.Means.State, names, func(done int) {
			c.told.progress(report.Progress{Phase: "equalising channels", Done: done, Total: c.items()})
		})
		if err != nil {
			return nil, err
		}
		return build.Ranges(found.Histograms, calibrator), nil
	}
	return e, nil
}

// sourceOf returns what the source network has for a tensor of an engine, its channels divided as the engine's are.
func sourceOf(all map[string]graph.Value, t *graph.Tensor, scaled build.Equalized) (graph.Value, bool) {
	name := quant.SourceTensor(t.Name)
	if _, ok := scaled[t.Name]; ok {
		name = t.Name
	}
	s, ok := scaled[name]
	if !ok {
		return compare.SourceTensor(all, t)
	}
	v, ok := all[s.Tensor]
	if !ok || !t.RealType().IsFloat() {
		return v, false
	}
	return scaled.Divide(name, v), true
}
