package compare

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// Contestant is a contender with its engine. What the last batch gave stands in outputs and tensors.
type Contestant struct {
	name      string
	Device    report.Device
	Launches  int
	Replanned string // why the plan is not the engine file's
	results   []*graph.Tensor
	progress  func(report.Progress)
	Loaded    *run.Loaded // nil for the reference evaluation
	Context   *run.ExecutionContext
	now       report.Progress // of the batches
	batch     Batch           // that is computed
	Network   *graph.Network  // of the reference evaluation
	Outside   Outside         // nil where it runs here
	Variant   *Variant        // of Outside; nil where there is none
	MaxMemory int64           // bytes that this may take; 0 for what is free

	outputs map[string]numeric.Value // of the items that count
	variant map[string]numeric.Value // and what Variant gave
	tensors map[string]observed      // of layers
	stats   []outputStats
	classes []report.ItemClasses
}

// NewContestant returns a run, to be given an engine or a network, whose results are the given outputs of the model.
func NewContestant(name string, results []*graph.Tensor, progress func(report.Progress)) *Contestant {
	return &Contestant{name: name, results: results, progress: progress, stats: make([]outputStats, len(results))}
}

// said is its name in errors: what came from elsewhere says from where.
func (c *Contestant) said() string {
	if c.Outside != nil {
		return c.name + " (" + c.Device.Device + ")"
	}
	return c.name
}

// observed is what a layer gave.
type observed struct {
	tensor *graph.Tensor
	value  numeric.Value // as real numbers, of the items that count
	stored numeric.DataType
}

// At returns how far the run is: its progress, and the items of the batch at hand.
func (c *Contestant) At() (report.Progress, int) { return c.now, c.batch.size }

// Close frees the engine, if there is one.
func (c *Contestant) Close() {
	if c.Context != nil {
		c.Context.Close()
	}
	if c.Loaded != nil {
		c.Loaded.Close()
	}
}

// run computes its batch, of which these are the inputs.
func (c *Contestant) run(ctx context.Context, in map[string]numeric.Value, perLayer bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.tensors = map[string]observed{}
	var err error
	switch {
	case c.Outside != nil:
		err = c.ask(ctx, in, perLayer)
	case c.Network != nil:
		err = c.evaluate(ctx, in, perLayer)
	default:
		err = c.execute(ctx, in, perLayer)
	}
	if err != nil {
		return err
	}
	c.outputs = c.batch.Outputs(c.outputs)
	for i, t := range c.results {
		c.stats[i].r.Name = t.Name
		c.stats[i].add(c.batch.first, c.batch.Axis(t.Dims), c.outputs[t.Name])
	}
	c.classify()
	return nil
}

// evaluate computes a batch by the layers' own definition. It tells how far it is, and ends with ctx, after each layer.
func (c *Contestant) evaluate(ctx context.Context, in map[string]numeric.Value, perLayer bool) error {
	env, err := c.Network.Bind(in)
	if err != nil {
		return err
	}
	var all, done float64
	work := func(l *graph.Layer) float64 { return float64(1 + graph.Operations(l, env)) }
	for _, l := range c.Network.Layers {
		all += work(l)
	}
	layers := 0
	c.outputs, err = c.Network.EvalWithin(ctx, c.MaxMemory, in, func(l *graph.Layer, out []numeric.Value) error {
		layers++
		done += work(l)
		c.progress(c.now.Within(c.batch.size, done/all, fmt.Sprintf("layer %d of %d, %s", layers, len(c.Network.Layers), l.Name)))
		for i, t := range l.Outputs {
			if perLayer {
				c.keep(t, out[i])
			}
		}
		return nil
	})
	return err
}

// execute runs a batch on the backend.
func (c *Contestant) execute(ctx context.Context, in map[string]numeric.Value, perLayer bool) error {
	if err := Feed(c.Context, in, c.batch.first, c.batch.Count); err != nil {
		return err
	}
	var err error
	if !perLayer {
		err = c.Context.Execute()
	} else {
		p := c.Loaded.Plan
		err = c.Context.Observe(ctx, run.Observer{After: func(i int) error {
			if p.Steps[i].Reformat {
				return nil
			}
			for _, slot := range p.Steps[i].Out {
				v, err := c.Context.Read(slot)
				if err != nil {
					return err
				}
				c.keep(p.Slots[slot].Tensor, v)
			}
			return nil
		}})
	}
	if err == nil {
		c.outputs, err = c.Context.Outputs()
	}
	return err
}

// ask takes a batch's tensors from outside.
func (c *Contestant) ask(ctx context.Context, in map[string]numeric.Value, perLayer bool) error {
	all, err := c.Outside(ctx, Span{c.batch.first, c.batch.Count, c.batch.items}, in)
	if err != nil {
		return err
	}
	c.outputs = map[string]numeric.Value{}
	for _, t := range c.results {
		v, ok := all[t.Name]
		if !ok {
			return fmt.Errorf("it has no output %s", t.Name)
		}
		c.outputs[t.Name] = v
	}
	if c.Variant != nil {
		if c.variant, err = c.Variant.Run(ctx, Span{c.batch.first, c.batch.Count, c.batch.items}, in); err != nil {
			return fmt.Errorf("%s: %w", c.Variant.Name, err)
		}
		c.variant = c.batch.Outputs(c.variant)
	}
	if !perLayer {
		return nil
	}
	for name, v := range all {
		c.tensors[name] = observed{value: v, stored: v.Type}
	}
	return nil
}

// keep remembers a layer's output.
func (c *Contestant) keep(t *graph.Tensor, v numeric.Value) {
	c.tensors[t.Name] = observed{t, c.batch.Counted(numeric.ToReal(v, t.Range), c.batch.Axis(t.Dims)), v.Type}
}

// classify notes the best classes of the batch's items, if the first output of floating type looks like scores.
func (c *Contestant) classify() {
	items := c.batch.Count
	for _, t := range c.results {
		v := c.outputs[t.Name]
		if !v.Type.IsFloat() {
			continue
		}
		if !looksLikeClasses(v, items) {
			return
		}
		scores, n := float64s(v), v.Len()/items
		for k := 0; k < items && len(c.classes) < maxClassItems; k++ {
			item := c.batch.first + k
			one := report.ItemClasses{Item: item, Label: -1, Top: top(scores[k*n : (k+1)*n])}
			if classes := c.batch.data.Labels(item); len(classes) == 1 {
				one.Label = classes[0]
			}
			c.classes = append(c.classes, one)
		}
		return
	}
}

// report sums the run up.
func (c *Contestant) report() report.BackendRun {
	r := report.BackendRun{Name: c.name, Device: c.Device, Launches: c.Launches, Replanned: c.Replanned, Classes: c.classes}
	for i := range c.stats {
		r.Outputs = append(r.Outputs, c.stats[i].report())
	}
	return r
}

// layers calls f for the outputs of the run's layers, in order.
func (c *Contestant) layers(f func(l *graph.Layer, t *graph.Tensor)) {
	if c.Outside != nil { // nobody knows its layers
		return
	}
	if c.Network != nil {
		for _, l := range c.Network.Layers {
			for _, t := range l.Outputs {
				f(l, t)
			}
		}
		return
	}
	p := c.Loaded.Plan
	for _, s := range p.Steps {
		if s.Reformat {
			continue
		}
		for _, slot := range s.Out {
			f(s.Layer, p.Slots[slot].Tensor)
		}
	}
}
