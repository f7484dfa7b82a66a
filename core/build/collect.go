package build

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
)

// Batches are the inputs of one inference after the other, by input name.
type Batches = iter.Seq2[map[string]numeric.Value, error]

// Collected is what the real tensors of a network were, by name.
type Collected struct {
	Histograms map[string]*quant.Histogram
	Means      map[string]*quant.Means // of channels, as products read them
}

// Spreads returns how far the channels of those tensors reach that have channels.
func (c *Collected) Spreads() map[string]quant.ChannelSpread {
	list := map[string]quant.ChannelSpread{}
	for name, m := range c.Means {
		if of, ok := m.Spread(); ok {
			list[name] = of
		}
	}
	return list
}

// ChannelMeans returns the means of those tensors that have channels.
func (c *Collected) ChannelMeans() map[string]quant.ChannelMeans {
	list := map[string]quant.ChannelMeans{}
	for name, m := range c.Means {
		if of, ok := m.Of(); ok {
			list[name] = of
		}
	}
	return list
}

// Collect runs the imported, unfused network in FP32 over all batches and returns what every real tensor was. One collection serves
// every calibrator and survives every toggle, since it does not depend on what is fused; its memory does not depend on the number
// of batches, each of which may have shapes of its own. Inputs that state names are outputs of the batch before. after is called behind
// each batch.
func Collect(ctx context.Context, n *graph.Network, b run.Backend, batches Batches, state run.State, after func(done int)) (*Collected, error) {
	return collectSome(ctx, n, b, batches, state, func(t *graph.Tensor) (bool, *quant.Weighed) { return true, nil }, after)
}

// CollectScaled is Collect for the named tensors alone, of a network whose channels are scaled: values count by the weights that their
// channels meet ([quant.Weighed]), since a channel that was divided by thirty errs by thirty times as much as the others.
func CollectScaled(ctx context.Context, n *graph.Network, b run.Backend, batches Batches, state run.State, names []string, after func(done int)) (*Collected, error) {
	return collectSome(ctx, n, b, batches, state, func(t *graph.Tensor) (bool, *quant.Weighed) {
		if !slices.Contains(names, t.Name) {
			return false, nil
		}
		return true, quant.NewWeighed(t)
	}, after)
}

// collectSome is Collect for those tensors that count says are counted, and by what if not plainly.
func collectSome(ctx context.Context, n *graph.Network, b run.Backend, batches Batches, state run.State, counted func(*graph.Tensor) (bool, *quant.Weighed), after func(done int)) (*Collected, error) {
	all := &Collected{map[string]*quant.Histogram{}, map[string]*quant.Means{}}
	weighed := map[string]*quant.Weighed{}
	axes, count := channelAxes(n), startCounters()
	defer count.stop()
	err := observe(ctx, n, b, batches, state, func(t *graph.Tensor, number int, read func() (numeric.Value, error)) error {
		if !t.RealType().IsFloat() {
			return nil
		}
		if all.Histograms[t.Name] == nil {
			is, by := counted(t)
			if !is {
				return nil
			}
			all.Histograms[t.Name], all.Means[t.Name], weighed[t.Name] = &quant.Histogram{}, quant.NewMeans(axes[t.Name]), by
		}
		v, err := read()
		if err != nil {
			return err
		}
		count.add(number, tally{all.Histograms[t.Name], weighed[t.Name], all.Means[t.Name], v, t.Range})
		return nil
	}, after)
	if err != nil {
		return nil, err
	}
	count.stop()
	for name, w := range weighed {
		if w != nil {
			all.Histograms[name] = w.Histogram()
		}
	}
	return all, nil
}

// observe runs a network over all batches, as many as there are, each at its own shapes, and shows every tensor of it: what is given and
// what layers make, by a number of its own, to be read at once if at all. after is called behind each batch.
func observe(ctx context.Context, n *graph.Network, b run.Backend, batches Batches, state run.State, show func(t *graph.Tensor, number int, read func() (numeric.Value, error)) error, after func(done int)) error {
	f := newFollower(ctx, n, b)
	defer f.close()
	numbers := map[string]int{}
	add := func(slot int) error {
		t := f.loaded.Plan.Slots[slot].Tensor
		if _, known := numbers[t.Name]; !known {
			numbers[t.Name] = len(numbers)
		}
		return show(t, numbers[t.Name], func() (numeric.Value, error) { return f.context.Read(slot) })
	}
	done := 0
	var before map[string]numeric.Value
	for in, err := range batches {
		if err == nil {
			err = state.Carry(in, before)
		}
		if err == nil {
			err = f.give(in)
		}
		if err == nil {
			err = f.observe(add)
		}
		if err == nil && len(state) > 0 {
			before, err = f.context.Outputs()
		}
		if err != nil {
			return err
		}
		done++
		if after != nil {
			after(done)
		}
	}
	if done == 0 {
		return fmt.Errorf("no calibration data")
	}
	return nil
}

// observe runs the item that was given, and shows the slots of all tensors.
func (f *follower) observe(show func(slot int) error) error {
	p := f.loaded.Plan
	for i, s := range p.Slots {
		if s.Tensor != nil && s.First == -1 && f.network.IsInput(s.Tensor) && s.Of < 0 {
			if err := show(i); err != nil {
				return err
			}
		}
	}
	return f.context.Observe(f.ctx, run.Observer{After: func(step int) error {
		if p.Steps[step].Reformat {
			return nil
		}
		for _, out := range p.Steps[step].Out {
			if err := show(out); err != nil {
				return err
			}
		}
		return nil
	}})
}

// channelAxes returns the axis of each tensor's channels: that along which a product reads it, else the one along which
// products of its rank do.
func channelAxes(n *graph.Network) map[string]int {
	axes := map[string]int{}
	add := func(t *graph.Tensor) {
		axes[t.Name] = max(0, len(t.Dims)-1)
		if len(t.Dims) > 3 {
			axes[t.Name] = 1
		}
		for _, u := range t.Users {
			if u.Op.IsProduct() && u.Inputs[0] == t {
				axes[t.Name] = quant.ChannelAxis(u)
				break
			}
		}
	}
	for _, t := range n.Inputs {
		add(t)
	}
	for _, l := range n.Layers {
		for _, t := range l.Outputs {
			add(t)
		}
	}
	return axes
}

// unfused returns a context that runs the network as it was imported, with the backend's best guess of tactics. The
// context is to be closed first.
func unfused(ctx context.Context, n *graph.Network, env map[string]int, b run.Backend) (*run.ExecutionContext, *run.Loaded, error) {
	p, err := run.NewPlan(ctx, n, env, b, run.BestGuess)
	if err != nil {
		return nil, nil, err
	}
	l, err := run.Load(ctx, p, b)
	if err != nil {
		return nil, nil, err
	}
	c, err := l.NewContext()
	if err != nil {
		l.Close()
	}
	return c, l, err
}

// Ranges returns the range of every tensor that the calibrator finds one for.
func Ranges(hist map[string]*quant.Histogram, c quant.Calibrator) map[string]numeric.Range {
	ranges := make(map[string]numeric.Range, len(hist))
	for name, h := range hist {
		if r := c.Range(h); r.IsSet() {
			ranges[name] = r
		}
	}
	return ranges
}

// Reference runs the imported, unfused network in FP32 and gives every tensor of it: what layers of an engine are
// compared with.
type Reference struct{ follower *follower }

// NewReference prepares a reference.
func NewReference(ctx context.Context, n *graph.Network, b run.Backend) *Reference {
	return &Reference{newFollower(ctx, n, b)}
}

// Tensors returns the real tensors of one inference by name, in F32, at the shapes of its inputs.
func (r *Reference) Tensors(ctx context.Context, in map[string]numeric.Value) (map[string]numeric.Value, error) {
	return r.TensorsGiven(ctx, in, nil)
}

// TensorsGiven is Tensors with layers that are given other values, in F32, for some of the tensors that they read: by layer and
// tensor.
func (r *Reference) TensorsGiven(ctx context.Context, in map[string]numeric.Value, given map[string]map[string]numeric.Value) (map[string]numeric.Value, error) {
	if err := r.follower.give(in); err != nil {
		return nil, err
	}
	c, p := r.follower.context, r.follower.loaded.Plan
	all := map[string]numeric.Value{}
	for name, v := range in {
		all[name] = numeric.ToReal(v, numeric.Range{})
	}
	o := run.Observer{After: func(i int) error {
		for _, out := range p.Steps[i].Out {
			t := p.Slots[out].Tensor
			if !t.RealType().IsFloat() || p.Steps[i].Reformat {
				continue
			}
			v, err := c.Read(out)
			if err != nil {
				return err
			}
			all[t.Name] = numeric.ToReal(v, t.Range)
		}
		return nil
	}}
	if given != nil {
		o.Before = func(i int) error { return r.give(i, given[p.Steps[i].Layer.Name]) }
	}
	return all, c.Observe(ctx, o)
}

// give writes values for tensors that a step reads.
func (r *Reference) give(step int, values map[string]numeric.Value) error {
	c, p := r.follower.context, r.follower.loaded.Plan
	for _, in := range p.Steps[step].In {
		if in < 0 {
			continue
		}
		s := &p.Slots[in]
		v, ok := values[s.Tensor.Name]
		if !ok || !slices.Equal(v.Dims, symbolic.Eval(s.Tensor.Dims, c.Env())) {
			continue
		}
		stored := numeric.NewValue(s.Desc.Type, v.Dims...)
		numeric.FromReal(stored, v.Floats(), s.Tensor.Range)
		if err := c.Write(in, stored); err != nil {
			return err
		}
	}
	return nil
}

// Close gives the reference's memory back.
func (r *Reference) Close() { r.follower.close() }
