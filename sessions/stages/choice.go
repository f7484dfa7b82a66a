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
	roundings, equalizers := []quant.Rounding{in.Quantized.Rounder()}, []quant.Equalizer{in.Quantized.Equalizer()}
	if roundings[0].IsAuto() && (in.Ranges == nil || c.orders.Stored.rounded(in.Ranges.By, in.Quantized, in.Weights) == nil) {
		roundings = c.triedRoundings(in)
	}
	if equalizers[0].IsAuto() && (in.Ranges == nil || c.orders.Stored.equalized(in.Ranges.By, in.Quantized) == nil) {
		equalizers = c.triedEqualizers(in)
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
	if len(roundings)+len(equalizers) > 2 {
		choice.Replay, lc.Choice = c.replay(in), choice
	}
	return nil
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
	if in.Ranges == nil || in.Means == nil || len(in.Means.State) > 0 || c.Items() == 0 || c.Data.Random() {
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

// triedEqualizers returns what there is to choose from.
func (c *calibration) triedEqualizers(in lowering) []quant.Equalizer {
	if !c.tries(in) {
		return []quant.Equalizer{{}}
	}
	activations, _ := quant.ParseEqualizer("activations")
	return []quant.Equalizer{{}, activations}
}
