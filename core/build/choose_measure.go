package build

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
)

// way is what is tried, and what came of it.
type way struct {
	Way
	equalized Equalized
	unscaled  []string // since ranges were given
	rounded   Rounded
	rounds    bool      // rows, each by its own range
	exact     bool      // its integers are the weights of the float network, of which nothing is lost
	noise     []float64 // of the outputs, by item that was held out
}

// measure quantises in one way, and measures the outputs.
func (c *chooser) measure(w *way) error {
	for _, f := range c.folds {
		noise, err := c.measureOn(w, f)
		if err != nil || noise == nil {
			return err
		}
		w.noise = append(w.noise, noise...)
	}
	return nil
}

// measureOn quantises in one way on a part of the data, and returns the errors of the outputs on the other one: nil where it would be
// another way once more. What w keeps of it is what the first part gave.
func (c *chooser) measureOn(w *way, f *fold) ([]float64, error) {
	how := c.how
	if how.Rounding = w.Rounding; w.Rounding != nil && w.Rounding.Replay != nil {
		r := *w.Rounding
		r.Replay, r.kept = f.fit, f.moments
		if c.goesOn() {
			r.items = c.Replay.Items
		}
		how.Rounding = &r
	}
	how.Equalization, how.Rows = w.Equalization, w.Rows
	if err := c.calibrate(&how, f); err != nil {
		return nil, err
	}
	if how.Correction != nil {
		few := *f.fit
		few.most = mostCorrected
		how.Correction = &Correction{Replay: &few}
	}
	l, n, _, err := placed(c.ctx, c.optimized, how, c.supports)
	if err != nil {
		return nil, err
	}
	if f == c.folds[0] {
		w.equalized, w.unscaled, w.rounded = l.Equalized, l.Unscaled, l.Rounded
		w.exact = allLossless(c.optimized.Network, n)
		w.rounds = slices.ContainsFunc(n.Layers, func(l *graph.Layer) bool { return l.Op == graph.RoundRows })
	}
	if w.Rows != c.Rows[0] && !w.rounds {
		return nil, nil
	}
	float := c.optimized.Network
	want, got := c.compared(float, n, f)
	if f.want == nil || !slices.Equal(f.want.last, namesOf(want)) {
		if f.want, err = c.run(float, want, f); err != nil {
			return nil, err
		}
	}
	s, err := c.run(n, got, f)
	if err != nil {
		return nil, err
	}
	noises := make([]float64, len(s.held))
	for o, t := range got {
		var signal float64
		errs := make([]float64, len(s.held))
		for i, held := range s.held {
			a, b := f.want.held[i][want[o].Name], restored(l.Equalized, t, held[t.Name])
			power, noise := powers(a.Floats(), b.Floats())
			signal, errs[i] = signal+power, noise
		}
		for i, e := range errs {
			if signal > 0 {
				noises[i] += e / signal
			}
		}
	}
	return noises, nil
}

// calibrate has a trial find ranges, and what channels are divided by, on its half of few items.
func (c *chooser) calibrate(how *LowerConfig, f *fold) (err error) {
	if !c.halves() || c.Ranges == nil || how.Ranges == nil {
		return nil
	}
	if f.seen == nil {
		c.tell("collecting activations")
		if f.seen, err = Collect(c.ctx, c.optimized.Network, f.fit.Backend, f.fit.Batches, nil, nil); err != nil {
			return err
		}
	}
	how.Ranges = maps.Clone(how.Ranges)
	maps.Copy(how.Ranges, c.Ranges(f.seen.Histograms))
	if e := how.Equalization; e != nil && e.Known == nil && e.Ranges != nil {
		scaled := *e
		scaled.Spreads = f.seen.Spreads()
		scaled.Ranges = func(ctx context.Context, n *graph.Network, names []string) (map[string]numeric.Range, error) {
			found, err := CollectScaled(ctx, n, f.fit.Backend, f.fit.Batches, nil, names, nil)
			if err != nil {
				return nil, err
			}
			return c.Ranges(found.Histograms), nil
		}
		how.Equalization = &scaled
	}
	return nil
}

// compared returns what two networks are compared by. Where weights are rounded alone, the last product's may be all that are: what it
// reads, which else stands for few outputs, would be the same.
func (c *chooser) compared(float, n *graph.Network, f *fold) (want, got []*graph.Tensor) {
	if r := c.Roundings[0]; r != nil && r.Few.Bits > 0 {
		return logits(float), logits(n)
	}
	return compared(float, n, f.held.Env, f.held.Items)
}

// run runs a network on what is held out, as far as some tensors.
func (c *chooser) run(n *graph.Network, tensors []*graph.Tensor, f *fold) (*staged, error) {
	s, err := f.held.stage(c.ctx, n, f.held.Items)
	if err != nil {
		return nil, err
	}
	s.last = namesOf(tensors)
	return s, s.finish(n, tensors)
}

// restored returns what a tensor of a network whose channels are scaled is without that. The integers that a product reads the real
// numbers of have the tensor's name.
func restored(e Equalized, t *graph.Tensor, v numeric.Value) numeric.Value {
	if l := t.Producer; l != nil && l.Op == graph.Dequantize {
		t = l.Inputs[0]
	}
	for _, name := range []string{t.Name, quant.SourceTensor(t.Name)} {
		if _, ok := e[name]; ok {
			_, v = e.Restore(name, v)
			break
		}
	}
	return v
}

// better reports whether a way has less noise than another by more than the standard error of the difference, and by so many dB. Of few
// items the standard error itself is hardly known, and the difference has to be twice that.
func (w *way) better(other *way, least float64) bool {
	n := float64(len(w.noise))
	mine, theirs := sum(w.noise), sum(other.noise)
	mean, squares := (theirs-mine)/n, 0.0
	for i, v := range w.noise {
		d := other.noise[i] - v - mean
		squares += d * d
	}
	by := 1.0
	if len(w.noise) < fewestJudging {
		by = 2
	}
	return decibels(mine) > decibels(theirs)+least && theirs-mine > by*math.Sqrt(squares*n/max(1, n-1))
}

func sum(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}
