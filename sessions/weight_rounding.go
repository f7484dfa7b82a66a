package sessions

import (
	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/report"
)

// rounding returns how weights become integers, nil where nothing but the quantiser's own rounding is asked for.
func (c *calibration) rounding(in lowering) *build.Rounding {
	r := &build.Rounding{By: in.Quantized.Rounder()}
	r.Few, _ = quant.ParseFewBits(in.Weights) // an error was found before
	if r.Few.Bits == 0 && (in.Ranges == nil || !r.By.NeedsMoments()) {
		return nil
	}
	if !r.By.NeedsMoments() || in.Means == nil {
		r.By = quant.Rounding{}
		return r
	}
	_, kept := c.data.(collected)
	if kept || c.items() == 0 || in.Ranges != nil && c.data.Random() && c.orders.stored.ranges(in.Ranges.By) != nil {
		c.told.log.say("warning", "", "weights are rounded to the nearest: %s needs the data that the model was calibrated on", r.By)
		return r
	}
	r.State = in.Means.State
	r.Replay = &build.Replay{
		Backend: c.host, Env: in.Means.Symbols, Batches: c.batches, Items: c.items(),
		Progress: func(phase string, done, of int) {
			c.told.progress(report.Progress{Phase: phase, Done: done, Total: of})
		},
	}
	return r
}
