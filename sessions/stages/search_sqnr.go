package stages

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// firstMargin is how far above the SQNR that is asked for the first engine is predicted to be, in dB: predictions are on other items, and
// an engine that lacks a little costs more to build and measure than half a decibel costs in time.
const firstMargin = 0.5

// mostConfirmed bounds how many sets are confirmed for an engine.
const mostConfirmed = 4

// levelNoise is how far apart two predictions are, in dB, between which there is nothing to look for.
const levelNoise = 0.1

// confirmed is a set of which more is known than what is predicted.
//
// It is chosen as the best of hundreds, on few items and with the biases of the configuration that was begun with, and its engine is
// otherwise: on a keyword spotter by 2 dB, more or less. Its own network is what its engine is made of, with biases corrected for it,
// and is run on more items.
type confirmed struct {
	predicted
	own float64 // noise of its own network
}

// bySQNR looks for the least time at an SQNR.
type bySQNR struct {
	*searching
	bias float64 // dB by which sets' own networks are better than predicted
}

func (g *bySQNR) run(ctx context.Context) error {
	off, margin := 0.0, firstMargin // dB by which engines on the data are better than their networks
	fastest := math.Inf(1)          // of those that meet the goal, as predicted
	for g.goesOn() {
		best, ok, err := g.confirm(ctx, *g.Goal.MinSQNR-off+margin)
		if err != nil {
			return err
		}
		if best.time >= (1-timingNoise)*fastest { // an engine would win nothing
			return nil
		}
		p, fresh, err := g.measure(ctx, best.chosen, best.own, fmt.Sprintf("predicted to have %.1f dB", report.Ratio(best.own)+off))
		if err != nil {
			return err
		}
		if !fresh || !ok && !p.Meets {
			return nil
		}
		if p.SQNR == nil {
			return fmt.Errorf("the outputs have no SQNR: there is no data, or they are not numbers")
		}
		if p.Meets {
			fastest = min(fastest, best.time)
		}
		off, margin = *p.SQNR-report.Ratio(best.own), 0
	}
	return nil
}

// confirming looks for a set without an engine.
type confirming struct {
	solve func(most float64) (best predicted, ok bool, err error)
	own   func(predicted) (float64, error)
	late  func() bool
}

// confirm is that of a search.
func (g *bySQNR) confirm(ctx context.Context, least float64) (best confirmed, ok bool, err error) {
	return confirming{
		func(most float64) (predicted, bool, error) { return g.solve(ctx, most) },
		func(p predicted) (float64, error) { return g.ownNoise(ctx, p) },
		func() bool { return g.late(refinedUntil) },
	}.of(least, &g.bias)
}

// of returns the set of least time whose own network has an SQNR, or of those that were looked at the one that comes nearest. ok is
// false where no set is predicted to have as much. What is learned of predictions stays in bias.
func (c confirming) of(least float64, bias *float64) (best confirmed, ok bool, err error) {
	meets := func(s confirmed) bool { return report.Ratio(s.own) >= least }
	var seen [][]int
	for range mostConfirmed {
		p, reached, err := c.solve(report.Noise(least - *bias))
		if err != nil {
			return best, false, err
		}
		if slices.ContainsFunc(seen, func(chosen []int) bool { return slices.Equal(chosen, p.chosen) }) {
			break
		}
		seen = append(seen, p.chosen)
		s := confirmed{predicted: p}
		if s.own, err = c.own(p); err != nil {
			return best, false, err
		}
		switch {
		case best.chosen == nil, meets(s) && (!meets(best) || s.time < best.time), !meets(best) && s.own < best.own:
			best = s
		}
		ok = ok || reached || meets(s)
		was := *bias
		*bias = report.Ratio(s.own) - report.Ratio(s.noise)
		if !reached || math.Abs(*bias-was) < levelNoise || c.late() {
			break
		}
	}
	return best, ok, nil
}

// ownNoise returns the error of the network that the engine of a set is made of.
func (g *bySQNR) ownNoise(ctx context.Context, p predicted) (float64, error) {
	cfg := g.configured(p.chosen)
	if !cfg.Quantizes() {
		return p.noise, nil
	}
	id := key("own", cfg, len(g.study.want))
	if n, ok := g.State.noise(id); ok {
		return n, nil
	}
	l, err := g.studies.precisions.Lower(ctx, cfg)
	if err != nil {
		return 0, err
	}
	if l.Quantised == nil { // an engine file has it as it is
		return p.noise, nil
	}
	g.report.Predictions++
	n, err := g.study.noiseOfOwn(ctx, l.Quantised)
	if err == nil {
		g.State.setNoise(id, n)
	}
	return n, err
}
