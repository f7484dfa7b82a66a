package stages

import (
	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/quant"
)

// rounding returns how weights become integers by some way, nil where nothing but the quantiser's own rounding is asked for.
func (c *calibration) rounding(in lowering, by quant.Rounding) *build.Rounding {
	r := &build.Rounding{By: by}
	r.Few, _ = quant.ParseFewBits(in.Weights) // an error was found before
	if r.Few.Bits == 0 && (in.Ranges == nil || !r.By.NeedsMoments()) {
		return nil
	}
	if r.By.NeedsMoments() {
		if r.Known = c.rounded(in); r.Known != nil {
			return r
		}
	}
	if !r.By.NeedsMoments() || in.Means == nil {
		r.By = quant.Rounding{}
		return r
	}
	_, kept := c.Data.(collected)
	if kept || c.Items() == 0 || in.Ranges != nil && c.Data.Random() && c.orders.Stored.Ranges(in.Ranges.By) != nil {
		c.told.Log.say("warning", "", "weights are rounded to the nearest: %s needs the data that the model was calibrated on", r.By)
		return r
	}
	r.State = in.Means.State
	r.Replay = c.replay(in)
	return r
}

// rounded returns the integers that weights were rounded to by moments before; nil where that is to be done.
func (c *calibration) rounded(in lowering) build.Rounded {
	if c.known != nil || in.Ranges == nil {
		return c.known
	}
	return c.orders.Stored.rounded(in.Ranges.By, in.Quantized, in.Weights)
}
