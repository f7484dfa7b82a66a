package trtui

import (
	"context"
	"errors"
	"iter"
	"maps"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// ways sets how weights are rounded, channels equalised and rows quantised: as the options say, or by trial.
func (o *Options) ways(lc *build.LowerConfig, found *build.Collected, replay *build.Replay, c Calibrator) {
	choice := &build.Choice{Replay: replay, Ranges: func(seen map[string]*quant.Histogram) map[string]numeric.Range {
		ranges := build.Ranges(seen, c)
		maps.Copy(ranges, o.Ranges)
		return ranges
	}}
	if !o.Rounding.NeedsMoments() || o.Rounding.IsAuto() {
		choice.Roundings = append(choice.Roundings, nil)
	}
	if o.Rounding.NeedsMoments() {
		choice.Roundings = append(choice.Roundings, &build.Rounding{By: roundingOf(o.Rounding), Replay: replay})
	}
	if o.Equalization.IsOff() || o.Equalization.IsAuto() {
		choice.Equalizations = append(choice.Equalizations, nil)
	}
	if by := o.Equalization; !by.IsOff() {
		if by.IsAuto() {
			by, _ = quant.ParseEqualizer("activations")
		}
		e := &build.Equalization{By: by, Spreads: found.Spreads(), Given: map[string]bool{}}
		for name := range o.Ranges {
			e.Given[name] = true
		}
		e.Ranges = func(ctx context.Context, n *Network, names []string) (map[string]numeric.Range, error) {
			scaled, err := build.CollectScaled(ctx, n, replay.Backend, replay.Batches, nil, names, nil)
			if err != nil {
				return nil, err
			}
			return build.Ranges(scaled.Histograms, c), nil
		}
		choice.Equalizations = append(choice.Equalizations, e)
	}
	if choice.Rows = []*build.RowRanges{nil}; o.ChooseRows {
		choice.Rows = append(choice.Rows, &build.RowRanges{ByToken: true})
	}
	lc.Rounding, lc.Equalization = choice.Roundings[0], choice.Equalizations[0]
	if len(choice.Roundings)+len(choice.Equalizations)+len(choice.Rows) > 3 {
		lc.Choice = choice
	}
}

// roundingOf returns the rounding by moments that an option stands for.
func roundingOf(r quant.Rounding) quant.Rounding {
	if r.IsAuto() {
		r, _ = quant.ParseRounding("gptq")
	}
	return r
}

// firstOf returns the batches with the values of the network's symbols that the first of them has. The sequence is read
// once; stop ends it.
func firstOf(n *Network, batches BatchSeq) (all BatchSeq, env map[string]int, stop func(), err error) {
	next, stop := iter.Pull2(batches)
	first, err, ok := next()
	if !ok {
		stop()
		return nil, nil, nil, errors.New("there is no batch of data")
	}
	if err == nil {
		shapes := map[string][]int{}
		for _, t := range n.Inputs {
			if v, ok := first[t.Name]; ok && err == nil {
				shapes[t.Name], err = t.ShapeOf(v)
			}
		}
		if err == nil {
			env, err = n.BindShapes(shapes)
		}
		if err == nil {
			err = n.CheckShapes(env)
		}
	}
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	return func(yield func(Inputs, error) bool) {
		for in, err, ok := first, error(nil), true; ok; in, err, ok = next() {
			if !yield(in, err) {
				return
			}
		}
	}, env, stop, nil
}
