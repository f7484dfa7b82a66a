package build

import (
	"context"
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/graph/passes"
	"github.com/trtui/trtui/core/graph/passes/quantise"
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
	ctx       context.Context
	before    *graph.Network // with weights that are not quantised yet
	equalized Equalized      // what its channels are divided by
	env       map[string]int
	shifts    map[string][]float64 // that were added, by source layer
	rounded   Rounded              // the integers that rounding found, and those that compensation does
	items     int                  // on which networks are compared
	last      []string             // the tensors of the quantised network by which they are

	compensates bool // weights make up for what quantisation does to their input
}

// correct corrects n, which the quantiser made of before, and notes in l what it did.
func (l *Lowered) correct(ctx context.Context, c *Correction, before, n *graph.Network, pc pass.Config, compensates bool) (*graph.Network, error) {
	r := &corrector{Correction: c, ctx: ctx, before: before, equalized: l.Equalized, env: pc.Shapes, shifts: map[string][]float64{}, rounded: l.Rounded, compensates: compensates}
	pc.Until, pc.Extra = 0, nil
	n, steps, err := passes.Run(ctx, n, []pass.Pass{quantise.CorrectBias(func(w *pass.Rewrite) {
		if err := r.run(w); err != nil {
			w.Fail(err)
		}
	})}, pc)
	l.Steps, l.Shifts = append(l.Steps, steps...), r.shifts
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
	shifts, worse, err := c.Shifts, "", error(nil)
	switch {
	case shifts != nil || len(tasks) == 0:
	case c.Replay == nil:
		c.compensation(w, tasks)
		shifts = c.shiftsBy(tasks, nil)
	default:
		if shifts, worse, err = c.measured(n, tasks, c.compensation(w, tasks)); err != nil {
			return fmt.Errorf("correcting biases: %w", err)
		}
	}
	for _, t := range tasks {
		if worse != "" {
			t.site.Miss(pass.NoGain, "%s", worse)
			continue
		}
		c.add(n, t, shifts[t.key()])
	}
	return nil
}

// key names the layer that a task is about, whatever is fused with it.
func (t task) key() string { return t.site.Layers()[0] }

// shiftsBy returns what the biases lack, given the means of what the layers of the quantised network read; nil: of what those of
// the float network do.
func (c *corrector) shiftsBy(tasks []task, read [][]float64) map[string][]float64 {
	shifts := map[string][]float64{}
	for i, t := range tasks {
		mean := t.mean
		if read != nil {
			mean = read[i]
		}
		if shift, err := t.Shift(t.mean, mean); err == nil {
			shifts[t.key()] = shift
		} else {
			t.site.Miss(pass.WrongShape, "%v", err)
		}
	}
	return shifts
}

// tasks returns the layers to correct, and records why others are not.
func (c *corrector) tasks(w *pass.Rewrite) []task {
	var list []task
	for _, l := range w.Network().Layers {
		if !l.Op.IsProduct() || len(l.Inputs) < 2 {
			continue
		}
		site := w.Candidate(quantise.BiasCorrection, l)
		before := c.before.Layer(l.Name)
		p, err := quant.NewProduct(l, before, c.env)
		if err != nil {
			site.Miss(pass.NotQuantized, "%v", err)
			continue
		}
		x := before.Inputs[0]
		m, known := c.equalized.means(c.Means, x.Name)
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

// add adds a shift to the bias of one layer.
func (c *corrector) add(n *graph.Network, t task, shift []float64) {
	if len(shift) == 0 {
		t.site.Miss(pass.NoGain, "no shift of its channels is known")
		return
	}
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
	c.shifts[t.key()] = shift
	t.site.Note("%d channels by up to %.3g", len(shift), most)
	t.site.Fire(t.Layer())
}
