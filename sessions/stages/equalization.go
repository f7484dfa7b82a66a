package stages

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// equalization returns how channels are equalised by some way, nil where they are not.
func (c *calibration) equalization(ctx context.Context, in lowering, by quant.Equalizer) (*build.Equalization, error) {
	if in.Ranges == nil || by.IsOff() {
		return nil, nil
	}
	e := &build.Equalization{By: by}
	if in.Quantized.Equalizer().IsAuto() { // who asks for it has the ranges of what is scaled found anew
		e.Given = c.given(in)
	}
	if e.Known = c.orders.Stored.equalized(in.Ranges.By, in.Quantized); e.Known != nil {
		return e, nil
	}
	if kept, is := c.Data.(collected); is {
		return nil, &NoItems{By: by, File: kept.path}
	}
	if c.Items() == 0 || c.Data.Random() && c.orders.Stored.Ranges(in.Ranges.By) != nil {
		c.told.Log.say("warning", "", "channels are not equalised: that needs the data that the model was calibrated on")
		return nil, nil
	}
	if by.NeedsActivations() {
		found, err := c.Hist.Of(ctx, *in.Means)
		if err != nil {
			return nil, err
		}
		e.Spreads = found.Spreads()
	}
	e.Ranges = func(ctx context.Context, n *graph.Network, names []string) (map[string]numeric.Range, error) {
		calibrator, err := c.model.Methods().Parse(in.Ranges.By.Calibrator, in.Quantized.Scheme())
		if err != nil {
			return nil, err
		}
		of := fmt.Sprintf("%+v %s %v %v", in.Of, by, in.Ranges.By.Given, names)
		found, err := c.made.collected(of, func() (*build.Collected, error) {
			return build.CollectScaled(ctx, n, c.host, c.at(*in.Means), in.Means.State, names, func(done int) {
				c.told.Progress(report.Progress{Phase: "equalising channels", Done: done, Total: c.Items()})
			})
		})
		if err != nil {
			return nil, err
		}
		return build.Ranges(found.Histograms, calibrator), nil
	}
	return e, nil
}

// NoItems says that channels cannot be equalised by a file of calibration: ranges of scaled channels are found on the items.
type NoItems struct {
	By   quant.Equalizer
	File string
}

func (e *NoItems) Error() string {
	return fmt.Sprintf("channels cannot be equalised by %s: %s has the ranges of channels as they are, and those of scaled ones are found on items of the calibration data", e.By, e.File)
}

// given returns the tensors whose ranges come of a file or were given by hand.
func (c *calibration) given(in lowering) map[string]bool {
	list := map[string]bool{}
	for name := range in.Ranges.By.Given {
		list[name] = true
	}
	if kept, ok := c.Data.(collected); ok {
		for _, t := range kept.Tensors {
			list[t.Name] = true
		}
	}
	return list
}

// unequalized has lowering tell of tensors that are not equalised since their ranges were given and there are no items to try that on;
// nil where none were given.
func (c *calibration) unequalized(in lowering) *build.Equalization {
	if in.Ranges == nil {
		return nil
	}
	given := c.given(in)
	if len(given) == 0 {
		return nil
	}
	return &build.Equalization{Given: given, Declined: true, Because: "there are no items of calibration data to try it on"}
}

// dividedAs returns the name under which a tensor of an engine is among those whose channels are divided; "" if it is not.
func dividedAs(t *graph.Tensor, scaled build.Equalized) string {
	for _, name := range []string{t.Name, quant.SourceTensor(t.Name)} {
		if _, ok := scaled[name]; ok {
			return name
		}
	}
	return ""
}

// sourceOf returns what the source network has for a tensor of an engine, whose channels are not divided, and by what name the
// engine's are; "" if they are not either.
func sourceOf(all map[string]numeric.Value, t *graph.Tensor, scaled build.Equalized) (v numeric.Value, divided string, ok bool) {
	if divided = dividedAs(t, scaled); divided == "" {
		v, ok = compare.SourceTensor(all, t)
		return v, "", ok
	}
	v, ok = all[scaled[divided].Tensor]
	return v, divided, ok && t.RealType().IsFloat()
}
