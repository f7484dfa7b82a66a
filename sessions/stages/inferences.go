package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// inferences runs engines on the data.
type inferences struct {
	model  *model.Model
	told   *Audience
	device *device
	data   dataset.Data
}

// Batches returns the batches of the first items of the data at a configuration's batch and shapes; all of them where items
// is 0.
func (i *inferences) Batches(batch int, shapes map[string][]int, items int) (b compare.Batches, err error) {
	cfg := config.Config{Batch: batch, Shapes: shapes}
	count, size := i.data.Len(), max(1, batch)
	if items > 0 {
		count = min(items, count)
	}
	all, err := i.model.SymbolsIfAny(i.model.Shaped(cfg))
	if err != nil {
		return b, err
	}
	cfg.Batch = 1
	one, err := i.model.SymbolsIfAny(i.model.Shaped(cfg))
	if err != nil {
		return b, err
	}
	d, err := dataset.At(i.data, one, 0)
	return compare.NewBatches(d, i.model.Network, count, size, one, all), err
}

// Watch tells how far the inferences of a context are and ends them with ctx, where the device is slow enough for that to
// matter. now returns what an inference is a part of, whose next so many items it computes; without a total it is all of it.
func (i *inferences) Watch(ctx context.Context, c *run.ExecutionContext, now func() (p report.Progress, items int)) {
	c.Watch(ctx, func(w run.Progress) {
		p, items := now()
		member, others := report.Principal(w.Layer)
		where := member + others
		if w.Grid > 0 {
			where = fmt.Sprintf("block %d of %d, %s", w.Blocks, w.Grid, where)
		}
		if p.Total == 0 {
			p.Done, p.Total, p.Item, p.Share = w.Launch, w.Launches, where, w.Share
		} else {
			p = p.Within(items, w.Share, fmt.Sprintf("launch %d of %d, %s", w.Launch, w.Launches, where))
		}
		i.told.Progress(p)
	})
}

// Ready returns a context with the first items of the data as its inputs, whose inferences ctx ends. Where they have other shapes than
// those that the plan is timed at, their elements fill these.
func (i *inferences) Ready(ctx context.Context, l *run.Loaded) (*run.ExecutionContext, error) {
	c, err := i.context(ctx, l, func() (report.Progress, int) { return report.Progress{Phase: i.device.Measuring()}, 1 })
	if err != nil || i.data == nil || i.data.Len() == 0 {
		return c, err
	}
	in, err := i.sample(l.Plan)
	if err == nil {
		err = c.SetInputs(in)
	}
	if err != nil {
		c.Close()
	}
	return c, err
}

// Once runs an engine on the first items of the data, and returns its outputs.
func (i *inferences) Once(ctx context.Context, l *run.Loaded) (map[string]numeric.Value, error) {
	i.device.Busy.Lock()
	defer i.device.Busy.Unlock()
	c, err := i.Ready(ctx, l)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if i.data != nil && i.data.Len() > 0 {
		in, err := i.stacked(l.Plan)
		if err == nil {
			err = compare.Feed(c, in, 0, model.BatchOf(l.Plan))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := c.Execute(); err != nil {
		return nil, err
	}
	return c.Outputs()
}

// context returns a context that is watched.
func (i *inferences) context(ctx context.Context, l *run.Loaded, now func() (p report.Progress, items int)) (*run.ExecutionContext, error) {
	c, err := l.NewContext()
	if err == nil {
		i.Watch(ctx, c, now)
	}
	return c, err
}

// stacked returns the first items of the data as a plan takes them at once.
func (i *inferences) stacked(p *run.Plan) (map[string]numeric.Value, error) {
	size := model.BatchOf(p)
	d, err := dataset.At(i.data, model.OneOf(i.model.Network, p.Env()), size)
	if err != nil {
		return nil, err
	}
	return compare.Stack(d, i.model.Network, 0, size)
}

// sample returns inputs for a plan at any shapes that it serves: the first items of data that are made up or have these shapes, else the
// elements of the first item again and again, or zeros; of an input that is a shape what the extents say.
func (i *inferences) sample(p *run.Plan) (map[string]numeric.Value, error) {
	var item map[string]numeric.Value
	env := p.Env()
	if i.data != nil && i.data.Len() > 0 {
		in, err := i.stacked(p)
		if !errors.As(err, new(*compare.Unlike)) && (err != nil || i.data.Random() || i.fits(in, env)) {
			return in, err
		}
		if item, err = i.data.Inputs(0); err != nil {
			return nil, err
		}
	}
	in := map[string]numeric.Value{}
	for _, t := range p.Network.Inputs {
		if t.IsShape {
			in[t.Name] = t.ShapeValue(env)
			continue
		}
		v := numeric.NewValue(t.Type, symbolic.Eval(t.Dims, env)...)
		for n := 0; n < len(v.Data) && len(item[t.Name].Data) > 0; {
			n += copy(v.Data[n:], item[t.Name].Data)
		}
		in[t.Name] = v
	}
	return in, nil
}

// fits reports whether inputs have the shapes that they have at values of the network's symbols.
func (i *inferences) fits(in map[string]numeric.Value, env map[string]int) bool {
	for _, t := range i.model.Network.Inputs {
		if dims, err := t.ShapeOf(in[t.Name]); err != nil || !slices.Equal(dims, symbolic.Eval(t.Extents(), env)) {
			return false
		}
	}
	return true
}

// forEach runs an engine over the data, a batch at a time, each at its own shapes, and gives each batch's outputs, in order, to use until it says
// no. Batches run at the same time, each on a context of its own: that is faster than sharing the kernels of one small
// batch among the workers, and nothing is timed here. Where there is a state they run one after the other.
func (i *inferences) forEach(ctx context.Context, batch int, state run.State, l *run.Loaded, phase string, use func(b int, out map[string]numeric.Value) bool) error {
	i.device.Busy.Lock()
	defer i.device.Busy.Unlock()
	d, err := dataset.At(i.data, model.OneOf(i.model.Network, l.Plan.Env()), 0)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	size := max(1, batch)
	total := (d.Len() + size - 1) / size
	workers := max(1, min(total, l.Backend().Info().Threads))
	if len(state) > 0 {
		workers = 1
	}
	lanes := make([]chan result, workers) // worker w has batches w, w+workers, ...
	for w := range lanes {
		lanes[w] = make(chan result, 8)
		go i.runBatches(ctx, l, d, phase, state, lanes[w], w, workers, total, size)
	}
	defer func() { // whatever the reason to end: nothing may run on when the device is free again
		cancel()
		for _, lane := range lanes {
			for range lane {
			}
		}
	}()
	for b := range total {
		r, ok := <-lanes[b%workers]
		switch {
		case !ok:
			return ctx.Err()
		case r.err != nil:
			return r.err
		}
		if b%16 == 0 {
			i.told.Progress(report.Progress{Phase: phase, Done: b * size, Total: d.Len()})
		}
		if !use(b, r.outputs) {
			break
		}
	}
	return nil
}

// result is what one batch gave.
type result struct {
	outputs map[string]numeric.Value
	err     error
}

// runBatches, of a phase, runs every stride-th batch of data from first on and sends the outputs to lane, which it closes.
func (i *inferences) runBatches(ctx context.Context, l *run.Loaded, d dataset.Data, phase string, state run.State, lane chan<- result, first, stride, total, size int) {
	defer close(lane)
	defer func() {
		if v := recover(); v != nil { // an error in the program, which the loop's caller reports as one
			lane <- result{err: Crashed(v)}
		}
	}()
	c, err := l.NewContext()
	if err != nil {
		lane <- result{err: err}
		return
	}
	defer c.Close()
	b := first
	i.Watch(ctx, c, func() (report.Progress, int) {
		return report.Progress{Phase: phase, Done: b * size, Total: d.Len()}, size
	})
	var r result
	for ; b < total; b += stride {
		if ctx.Err() != nil {
			return
		}
		in, err := compare.Stack(d, i.model.Network, b*size, size)
		if err == nil {
			err = state.Carry(in, r.outputs)
		}
		if err == nil {
			err = compare.Feed(c, in, b*size, min(size, d.Len()-b*size))
		}
		if err == nil {
			err = c.Execute()
		}
		if r = (result{err: err}); err == nil {
			r.outputs, r.err = c.Outputs()
		}
		select {
		case lane <- r:
		case <-ctx.Done():
			return
		}
	}
}
