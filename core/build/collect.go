package build

import (
	"context"
	"fmt"
	"iter"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
)

// Batches are the inputs of one inference after the other, by input name.
type Batches = iter.Seq2[map[string]graph.Value, error]

// Collect runs the imported, unfused network in FP32 over all batches and returns the histogram of every real tensor
// by its name. One collection serves every calibrator and survives every toggle, since it does not depend on what is
// fused; its memory does not depend on the number of batches. Inputs that state names are outputs of the batch before. after is
// called behind each batch.
func Collect(ctx context.Context, n *graph.Network, env map[string]int, b run.Backend, batches Batches, state run.State, after func(done int)) (map[string]*quant.Histogram, error) {
	c, l, err := unfused(ctx, n, env, b)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	defer c.Close()
	p := l.Plan
	hist := map[string]*quant.Histogram{}
	add := func(t *graph.Tensor, slot int) error {
		if t.RealType() != graph.F32 && t.Type != graph.F16 {
			return nil
		}
		v, err := c.Read(slot)
		if err != nil {
			return err
		}
		if hist[t.Name] == nil {
			hist[t.Name] = &quant.Histogram{}
		}
		hist[t.Name].AddValue(v, t.Range)
		return nil
	}
	done := 0
	var before map[string]graph.Value
	for in, err := range batches {
		if err == nil {
			err = state.Carry(in, before)
		}
		if err != nil {
			return nil, err
		}
		if err := c.SetInputs(in); err != nil {
			return nil, err
		}
		for i, s := range p.Slots {
			if s.Tensor != nil && s.First == -1 && n.IsInput(s.Tensor) && s.Of < 0 {
				if err := add(s.Tensor, i); err != nil {
					return nil, err
				}
			}
		}
		err := c.Observe(ctx, run.Observer{After: func(step int) error {
			if p.Steps[step].Reformat {
				return nil
			}
			for _, out := range p.Steps[step].Out {
				if err := add(p.Slots[out].Tensor, out); err != nil {
					return err
				}
			}
			return nil
		}})
		if err == nil && len(state) > 0 {
			before, err = c.Outputs()
		}
		if err != nil {
			return nil, err
		}
		done++
		if after != nil {
			after(done)
		}
	}
	if done == 0 {
		return nil, fmt.Errorf("no calibration data")
	}
	return hist, nil
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
func Ranges(hist map[string]*quant.Histogram, c quant.Calibrator) map[string]graph.Range {
	ranges := make(map[string]graph.Range, len(hist))
	for name, h := range hist {
		if r := c.Range(h); r.IsSet() {
			ranges[name] = r
		}
	}
	return ranges
}

// Reference runs the imported, unfused network in FP32 and gives every tensor of it: what layers of an engine are
// compared with.
type Reference struct {
	context *run.ExecutionContext
	loaded  *run.Loaded
}

// NewReference prepares a reference for the given values of the network's symbols.
func NewReference(ctx context.Context, n *graph.Network, env map[string]int, b run.Backend) (*Reference, error) {
	c, l, err := unfused(ctx, n, env, b)
	if err != nil {
		return nil, err
	}
	return &Reference{c, l}, nil
}

// Tensors returns the real tensors of one inference by name, in F32.
func (r *Reference) Tensors(ctx context.Context, in map[string]graph.Value) (map[string]graph.Value, error) {
	if err := r.context.SetInputs(in); err != nil {
		return nil, err
	}
	all := map[string]graph.Value{}
	for name, v := range in {
		all[name] = graph.ToReal(v, graph.Range{})
	}
	return all, r.context.Observe(ctx, run.Observer{After: func(i int) error {
		for _, out := range r.loaded.Plan.Steps[i].Out {
			t := r.loaded.Plan.Slots[out].Tensor
			if !t.RealType().IsFloat() || r.loaded.Plan.Steps[i].Reformat {
				continue
			}
			v, err := r.context.Read(out)
			if err != nil {
				return err
			}
			all[t.Name] = graph.ToReal(v, t.Range)
		}
		return nil
	}})
}

// Close gives the reference's memory back.
func (r *Reference) Close() {
	r.context.Close()
	r.loaded.Close()
}
