package stages

import (
	"context"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/quant"
)

// how completes what lowering is told: how biases are corrected, weights rounded and channels equalised. What is yet to be chosen is
// chosen by trial where there is data to try it on, and is as without any choice elsewhere.
func (c *calibration) how(ctx context.Context, in lowering, lc *build.LowerConfig) (err error) {
	if lc.Correction, err = c.correction(ctx, in); err != nil {
		return err
	}
	roundings, equalizers := c.ways(in)
	several := len(roundings)+len(equalizers) > 2
	if several {
		if done, err := c.again(ctx, in, lc); done || err != nil {
			return err
		}
	}
	choice := &build.Choice{}
	for _, by := range roundings {
		choice.Roundings = append(choice.Roundings, c.rounding(in, by))
	}
	for _, by := range equalizers {
		e, err := c.equalization(ctx, in, by)
		if err != nil {
			return err
		}
		choice.Equalizations = append(choice.Equalizations, e)
	}
	lc.Rounding, lc.Equalization = choice.Roundings[0], choice.Equalizations[0]
	if in.Quantized.Equalizer().IsAuto() && len(equalizers) == 1 && equalizers[0].IsOff() {
		lc.Equalization = c.unequalized(in)
	}
	if several {
		if in.Ranges != nil && c.orders.Stored.Ranges(in.Ranges.By) == nil {
			if choice.Ranges, err = in.Ranges.By.ranges(c.model); err != nil {
				return err
			}
		}
		choice.Replay, choice.Moments, lc.Choice = c.replay(in), &c.made.moments, choice
		choice.Made = func(r *build.Rounding, e *build.Equalization) { c.made.keep(in, r, e) }
	}
	return nil
}

// ways returns how weights may be rounded and channels equalised: several, where it is to be tried which is best.
func (c *calibration) ways(in lowering) ([]quant.Rounding, []quant.Equalizer) {
	roundings, equalizers := []quant.Rounding{in.Quantized.Rounder()}, []quant.Equalizer{in.Quantized.Equalizer()}
	if roundings[0].IsAuto() && c.rounded(in) == nil {
		roundings = c.triedRoundings(in)
	}
	if equalizers[0].IsAuto() && (in.Ranges == nil || c.orders.Stored.equalized(in.Ranges.By, in.Quantized) == nil) {
		equalizers = c.triedEqualizers(in)
	}
	return roundings, equalizers
}

// again has what was chosen before done again, if anything was: as it was found for the same network, anew for others.
func (c *calibration) again(ctx context.Context, in lowering, lc *build.LowerConfig) (done bool, err error) {
	calibration, network := c.made.names(in)
	c.made.lock.Lock()
	way, ok := c.made.ways[calibration]
	c.made.lock.Unlock()
	if !ok {
		return false, nil
	}
	lc.Rounding, lc.Equalization = way.rounding, way.equalization
	if way.network == network {
		return true, nil
	}
	if r := way.rounding; r != nil && !r.Declined {
		if lc.Rounding = c.rounding(in, r.By); lc.Rounding != nil {
			lc.Rounding.Because = r.Because
		}
	}
	if e := way.equalization; e != nil && !e.Declined {
		if lc.Equalization, err = c.equalization(ctx, in, e.By); lc.Equalization != nil {
			lc.Equalization.Because = e.Because
		}
	}
	return true, err
}

// settle notes that what was to be chosen was, where nothing came of it: an engine that keeps that is lowered again alike.
func settle(in lowering, l *build.Lowered) {
	if in.Ranges == nil {
		return
	}
	if in.Quantized.Rounder().IsAuto() && l.Rounded == nil {
		l.Rounded = build.Rounded{}
	}
	if in.Quantized.Equalizer().IsAuto() && l.Equalized == nil {
		l.Equalized = build.Equalized{}
	}
}

// tries reports whether there is data to try ways to quantise on. One item of a sequence says nothing without those before it.
func (c *calibration) tries(in lowering) bool {
	if in.Means == nil || len(in.Means.State) > 0 || c.Items() == 0 || c.Data.Random() {
		return false
	}
	_, kept := c.Data.(collected)
	return !kept
}

// triedRoundings returns what there is to choose from.
func (c *calibration) triedRoundings(in lowering) []quant.Rounding {
	if !c.tries(in) {
		return []quant.Rounding{{}}
	}
	gptq, _ := quant.ParseRounding("gptq")
	return []quant.Rounding{{}, gptq}
}

// triedEqualizers returns what there is to choose from. Where weights alone are rounded there is no range that channels share.
func (c *calibration) triedEqualizers(in lowering) []quant.Equalizer {
	if in.Ranges == nil || !c.tries(in) {
		return []quant.Equalizer{{}}
	}
	activations, _ := quant.ParseEqualizer("activations")
	return []quant.Equalizer{{}, activations}
}
