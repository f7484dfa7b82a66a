package sessions

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// contestant is a contender with its engine. What the last batch gave stands in outputs and tensors.
type contestant struct {
	name    string
	stages  *stages
	cfg     config.Config
	loaded  *run.Loaded // nil for the reference evaluation
	context *run.ExecutionContext
	now     report.Progress // of the batches
	batch   itemBatch       // that is computed
	network *graph.Network  // of the reference evaluation

	outputs map[string]graph.Value // of the items that count
	tensors map[string]observed    // of layers
	stats   []outputStats
	classes []report.ItemClasses
}

// observed is what a layer gave.
type observed struct {
	tensor *graph.Tensor
	value  graph.Value // as real numbers, of the items that count
	stored graph.DataType
}

// open loads the engine and makes a context.
func (c *contestant) open(ctx context.Context, cfg config.Config) (err error) {
	if c.loaded, err = c.stages.load(ctx, cfg); err != nil {
		return err
	}
	if c.context, err = c.loaded.NewContext(); err != nil {
		return err
	}
	c.stages.watch(ctx, c.context, func() (report.Progress, int) { return c.now, c.batch.size })
	return nil
}

func (c *contestant) close() {
	if c.context != nil {
		c.context.Close()
	}
	if c.loaded != nil {
		c.loaded.Close()
	}
}

// run computes its batch, of which these are the inputs.
func (c *contestant) run(ctx context.Context, in map[string]graph.Value, perLayer bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.tensors = map[string]observed{}
	var err error
	if c.network != nil {
		err = c.evaluate(ctx, in, perLayer)
	} else {
		err = c.execute(ctx, in, perLayer)
	}
	if err != nil {
		return err
	}
	c.outputs = c.batch.outputs(c.outputs)
	for i, t := range c.stages.model.Network.Outputs {
		c.stats[i].r.Name = t.Name
		c.stats[i].add(c.batch.first, c.batch.axis(t.Dims), c.outputs[t.Name])
	}
	c.classify()
	return nil
}

// evaluate computes a batch by the layers' own definition. It tells how far it is, and ends with ctx, after each layer.
func (c *contestant) evaluate(ctx context.Context, in map[string]graph.Value, perLayer bool) (err error) {
	type ended struct{ error }
	defer func() {
		switch v := recover().(type) {
		case nil:
		case ended:
			err = v.error
		default:
			err = fmt.Errorf("internal error: %v\n%s", v, debug.Stack())
		}
	}()
	env, err := c.network.Bind(in)
	if err != nil {
		return err
	}
	var all, done float64
	work := func(l *graph.Layer) float64 { return float64(1 + graph.Operations(l, env)) }
	for _, l := range c.network.Layers {
		all += work(l)
	}
	layers := 0
	c.outputs, err = c.network.Eval(in, func(l *graph.Layer, out []graph.Value) {
		if err := ctx.Err(); err != nil {
			panic(ended{err})
		}
		layers++
		done += work(l)
		c.stages.progress(c.now.Within(c.batch.size, done/all, fmt.Sprintf("layer %d of %d, %s", layers, len(c.network.Layers), l.Name)))
		for i, t := range l.Outputs {
			if perLayer {
				c.keep(t, out[i])
			}
		}
	})
	return err
}

// execute runs a batch on the backend.
func (c *contestant) execute(ctx context.Context, in map[string]graph.Value, perLayer bool) error {
	if err := c.context.SetInputs(in); err != nil {
		return err
	}
	var err error
	if !perLayer {
		err = c.context.Execute()
	} else {
		p := c.loaded.Plan
		err = c.context.Observe(ctx, run.Observer{After: func(i int) error {
			if p.Steps[i].Reformat {
				return nil
			}
			for _, slot := range p.Steps[i].Out {
				v, err := c.context.Read(slot)
				if err != nil {
					return err
				}
				c.keep(p.Slots[slot].Tensor, v)
			}
			return nil
		}})
	}
	if err == nil {
		c.outputs, err = c.context.Outputs()
	}
	return err
}

// keep remembers a layer's output.
func (c *contestant) keep(t *graph.Tensor, v graph.Value) {
	c.tensors[t.Name] = observed{t, c.batch.counted(graph.ToReal(v, t.Range), c.batch.axis(t.Dims)), v.Type}
}

// classify notes the best classes of the batch's items, if the first output of floating type looks like scores.
func (c *contestant) classify() {
	items := c.batch.count
	for _, t := range c.stages.model.Network.Outputs {
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
			if class, ok := c.stages.Data.Label(item); ok {
				one.Label = class
			}
			c.classes = append(c.classes, one)
		}
		return
	}
}

// report sums the run up.
func (c *contestant) report() report.BackendRun {
	r := report.BackendRun{Name: c.name, Classes: c.classes}
	if c.loaded == nil {
		r.Device = definition(c.name)
		r.Launches = len(c.network.Layers)
	} else {
		r.Device = deviceReport(c.loaded.Backend())
		r.Launches, r.Replanned = countSteps(c.loaded.Plan, 0).Launches, c.stages.replanned(c.cfg)
	}
	for i := range c.stats {
		r.Outputs = append(r.Outputs, c.stats[i].report())
	}
	return r
}

// layers calls f for the outputs of the run's layers, in order.
func (c *contestant) layers(f func(l *graph.Layer, t *graph.Tensor)) {
	if c.network != nil {
		for _, l := range c.network.Layers {
			for _, t := range l.Outputs {
				f(l, t)
			}
		}
		return
	}
	p := c.loaded.Plan
	for _, s := range p.Steps {
		if s.Reformat {
			continue
		}
		for _, slot := range s.Out {
			f(s.Layer, p.Slots[slot].Tensor)
		}
	}
}
