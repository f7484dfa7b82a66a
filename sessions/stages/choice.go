package stages

import (
	"context"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/quant"
)

// how completes what lowering is told: how biases are corrected, weights rounded, channels equalised and rows quantised. What is yet to be chosen is
// chosen by trial where there is data to try it on, and is as without any choice elsewhere.
func (c *calibration) how(ctx context.Context, in lowering, lc *build.LowerConfig) (err error) {
	if lc.Correction, err = c.correction(ctx, in); err != nil {
		return err
	}
	ways := c.ways(in)
	several := ways.several()
	if several {
		if done, err := c.again(ctx, in, lc); done || err != nil {
			return err
		}
	}
	choice := &build.Choice{Rows: ways.rows}
	for _, by := range ways.roundings {
		choice.Roundings = append(choice.Roundings, c.rounding(in, by))
	}
	for _, by := range ways.equalizers {
		e, err := c.equalization(ctx, in, by)
		if err != nil {
			return err
		}
		choice.Equalizations = append(choice.Equalizations, e)
	}
	lc.Rounding, lc.Equalization, lc.Rows = choice.Roundings[0], choice.Equalizations[0], choice.Rows[0]
	if in.Quantized.Equalizer().IsAuto() && len(ways.equalizers) == 1 && ways.equalizers[0].IsOff() {
		lc.Equalization = c.unequalized(in)
	}
	if several {
		if in.Ranges != nil && c.orders.Stored.Ranges(in.Ranges.By) == nil {
			if choice.Ranges, err = in.Ranges.By.ranges(c.model); err != nil {
				return err
			}
		}
		choice.Replay, choice.Moments, lc.Choice = c.replay(in), &c.made.moments, choice
		choice.Made = func(w build.Way) { c.made.keep(in, w) }
	}
	return nil
}

// ways are how weights may be rounded, channels equalised and rows quantised.
type ways struct {
	roundings  []quant.Rounding
	equalizers []quant.Equalizer
	rows       []*build.RowRanges
}

// several reports whether it is to be tried which is best.
func (w ways) several() bool { return len(w.roundings)+len(w.equalizers)+len(w.rows) > 3 }

// ways returns how may be quantised: several of each, where it is to be tried which is best.
func (c *calibration) ways(in lowering) ways {
	w := ways{[]quant.Rounding{in.Quantized.Rounder()}, []quant.Equalizer{in.Quantized.Equalizer()}, []*build.RowRanges{nil}}
	if w.roundings[0].IsAuto() && c.rounded(in) == nil {
		w.roundings = c.triedRoundings(in)
	}
	if w.equalizers[0].IsAuto() && (in.Ranges == nil || c.orders.Stored.equalized(in.Ranges.By, in.Quantized) == nil) {
		w.equalizers = c.triedEqualizers(in)
	}
	if in.choosesRows(c.model.Network) {
		if by := c.orders.Stored.byToken(in.Ranges.By, in.Quantized); by != nil {
			w.rows[0] = &build.RowRanges{ByToken: *by, Because: "as it was found before"}
		} else if c.tries(in) {
			w.rows = append(w.rows, &build.RowRanges{ByToken: true})
		}
	}
	return w
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
	lc.Rounding, lc.Equalization, lc.Rows = way.Rounding, way.Equalization, way.Rows
	if way.network == network {
		return true, nil
	}
	if r := way.Rounding; r != nil && !r.Declined {
		if lc.Rounding = c.rounding(in, r.By); lc.Rounding != nil {
			lc.Rounding.Because = r.Because
		}
	}
	if e := way.Equalization; e != nil && !e.Declined {
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
