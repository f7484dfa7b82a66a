package build

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/quant"
)

// Correction says how the biases of quantised products are corrected; see [quant.Product].
type Correction struct {
	// Means are what products read in the float network, as Collect finds it. What rounding does to weights is corrected by it.
	Means map[string]quant.ChannelMeans
	// Replay, if not nil, is data on which both networks are run instead, to find what their products really read, those before
	// a layer being corrected before it. So what rounding does to activations is corrected as well.
	Replay *Replay
	// Shifts, if not nil, are what an earlier correction added, by source layer, and are added again: neither of the others is read.
	Shifts map[string][]float64
}

// corrector is one run of the pass.
type corrector struct {
	*Correction
	ctx    context.Context
	before *graph.Network // with weights that are not quantised yet
	env    map[string]int
	shifts map[string][]float64 // that were added, by source layer
}

// correct corrects n, which the quantiser made of before, and notes in l what it did.
func (l *Lowered) correct(ctx context.Context, c *Correction, before, n *graph.Network, pc pass.Config) (*graph.Network, error) {
	r := &corrector{c, ctx, before, pc.Shapes, map[string][]float64{}}
	pc.Until, pc.Extra = 0, nil
	n, steps, err := pass.Run(ctx, n, []pass.Pass{pass.CorrectBias(func(w *pass.Rewrite) {
		if err := r.run(w); err != nil {
			w.Fail(err)
		}
	})}, pc)
	l.Steps, l.Shifts = steps, r.shifts
	return n, err
}

// task is a layer to correct.
type task struct {
	*quant.Product
	site *pass.Candidate
	mean []float64 // of what it reads in the float network
}

func (c *corrector) run(w *pass.Rewrite) error {
	n := w.Network()
	tasks := c.tasks(w)
	switch {
	case c.Shifts != nil:
		for _, t := range tasks {
			c.add(n, t, c.Shifts[t.site.Layers()[0]])
		}
		return nil
	case c.Replay == nil:
		for _, t := range tasks {
			c.apply(n, t, t.mean)
		}
		return nil
	}
	real, err := c.Replay.stage(c.ctx, c.before)
	if err != nil {
		return fmt.Errorf("correcting biases: %w", err)
	}
	quantised, err := c.Replay.stage(c.ctx, n)
	if err != nil {
		return fmt.Errorf("correcting biases: %w", err)
	}
	for total := len(tasks); len(tasks) > 0; {
		ready, later := first(n, tasks)
		if err := c.together(n, ready, real, quantised); err != nil {
			return fmt.Errorf("correcting biases: %w", err)
		}
		tasks = later
		if c.Replay.Progress != nil {
			c.Replay.Progress(total-len(tasks), total)
		}
	}
	return nil
}

// together corrects layers that do not depend on each other, by what they read in both networks.
func (c *corrector) together(n *graph.Network, ready []task, real, quantised *staged) error {
	var names []string
	for _, t := range ready {
		names = append(names, t.Layer().Name)
	}
	want, err := real.means(c.before, names)
	if err != nil {
		return err
	}
	read, err := quantised.means(n, names)
	if err != nil {
		return err
	}
	for i, name := range names {
		mean, _ := want[name].Of()
		ready[i].mean = mean.Mean
		mean, _ = read[name].Of()
		c.apply(n, ready[i], mean.Mean)
	}
	return nil
}

// tasks returns the layers to correct, and records why others are not.
func (c *corrector) tasks(w *pass.Rewrite) []task {
	var list []task
	for _, l := range w.Network().Layers {
		if !l.Op.IsProduct() || len(l.Inputs) < 2 {
			continue
		}
		site := w.Candidate(pass.BiasCorrection, l)
		before := c.before.Layer(l.Name)
		p, err := quant.NewProduct(l, before, c.env)
		if err != nil {
			site.Miss(pass.NotQuantized, "%v", err)
			continue
		}
		x := before.Inputs[0]
		m, known := c.Means[x.Name]
		if c.Replay == nil && c.Shifts == nil && (!known || m.Axis != quant.ChannelAxis(before)) {
			site.Miss(pass.NotConstant, "the means of the channels of %s are not known", x.Name)
			continue
		}
		if site.Enabled() {
			list = append(list, task{p, site, m.Mean})
		}
	}
	return list
}

// apply corrects one layer, of which the quantised network reads channels of the given means.
func (c *corrector) apply(n *graph.Network, t task, read []float64) {
	shift, err := t.Shift(t.mean, read)
	if err != nil {
		t.site.Miss(pass.WrongShape, "%v", err)
		return
	}
	c.add(n, t, shift)
}

// add adds a shift to the bias of one layer.
func (c *corrector) add(n *graph.Network, t task, shift []float64) {
	if len(shift) != t.Channels() {
		t.site.Miss(pass.WrongShape, "it has %d channels, and %d shifts are known", t.Channels(), len(shift))
		return
	}
	var most float64
	for _, v := range shift {
		most = max(most, math.Abs(v))
	}
	if most == 0 || math.IsNaN(most) || most > math.MaxFloat32 {
		t.site.Miss(pass.NoGain, "no channel's mean moves by a finite number")
		return
	}
	t.AddBias(n, shift)
	c.shifts[t.site.Layers()[0]] = shift
	t.site.Note("%d channels by up to %.3g", len(shift), most)
	t.site.Fire(t.Layer())
}

// first returns the tasks that depend on no other one, and the others.
func first(n *graph.Network, tasks []task) (ready, later []task) {
	open := map[*graph.Layer]bool{}
	for _, t := range tasks {
		open[t.Layer()] = true
	}
	behind := map[*graph.Tensor]bool{} // tensors that depend on an open layer
	waits := map[*graph.Layer]bool{}
	for _, l := range n.Layers {
		waits[l] = slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return behind[t] })
		for _, t := range l.Outputs {
			behind[t] = waits[l] || open[l]
		}
	}
	for _, t := range tasks {
		if waits[t.Layer()] {
			later = append(later, t)
		} else {
			ready = append(ready, t)
		}
	}
	return ready, later
}
