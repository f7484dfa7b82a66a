package sessions

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Sweep is what to measure an engine at.
type Sweep = stages.Sweep

// SweepConfig returns a configuration whose engine serves a sweep of a model, with tactics that are timed at the shapes of cfg, or
// where it does not say these, in the middle of the axes. An engine, and a configuration that has a range, stay as they are.
func SweepConfig(m *model.Model, cfg config.Config, sweep []report.SweepAxis) (config.Config, error) {
	if len(sweep) == 0 || m.Network == nil {
		return cfg, nil
	}
	opt := model.KnownSymbols(m.Network, cfg)
	given := model.AxisSymbols(m.Network, cfg.Shapes)
	low, high := maps.Clone(opt), maps.Clone(opt)
	ties := &model.Ties{}
	if env, err := m.Symbols(cfg); err == nil {
		ties = model.FindTies(m, env)
	}
	swept := map[string]int{}
	for i, a := range sweep {
		if stages.IsContexts(m.Network, a.Name) {
			continue
		}
		name, err := sweptSymbol(m.Network, a.Name)
		if err != nil {
			return cfg, err
		}
		sweep[i].Name = name
		low[name], high[name] = slices.Min(a.Values), slices.Max(a.Values)
		v, ok := given[name]
		if !ok {
			v = a.Values[len(a.Values)/2]
		}
		opt[name] = min(max(v, low[name]), high[name])
		swept[name] = opt[name]
	}
	if err := ties.Check(slices.Sorted(maps.Keys(swept))); err != nil {
		return cfg, err
	}
	for _, env := range []*map[string]int{&opt, &low, &high} {
		at := map[string]int{}
		for name := range swept {
			at[name] = (*env)[name]
		}
		*env = ties.Move(*env, at)
	}
	if m.Engine != nil || len(cfg.MinShapes) > 0 || len(cfg.MaxShapes) > 0 || maps.Equal(low, high) {
		return cfg, nil
	}
	if open := m.Network.Unbound(opt); len(open) > 0 {
		return cfg, &model.UnboundShapes{Inputs: withSymbols(m.Network, open)}
	}
	cfg.Shapes, cfg.MinShapes, cfg.MaxShapes = m.Network.ShapesAt(opt), m.Network.ShapesAt(low), m.Network.ShapesAt(high)
	if batch, ok := m.BatchOfShapes(cfg.Shapes); ok {
		cfg.Batch = batch
	}
	return cfg, nil
}

// sweptSymbol returns the symbol of an axis: by its name, or as "batch" the one that counts items.
func sweptSymbol(n *graph.Network, name string) (string, error) {
	symbols := n.Unbound(nil)
	if slices.Contains(symbols, name) {
		return name, nil
	}
	if name == "batch" {
		counting := map[string]bool{}
		for _, t := range graph.Batched(n.Inputs) {
			t.Dims[0].Symbols(counting)
		}
		for symbol := range counting {
			if len(counting) == 1 {
				return symbol, nil
			}
		}
	}
	if len(symbols) == 0 {
		return "", fmt.Errorf("axis %s: the model's inputs have no open axes", config.Quoted(name))
	}
	return "", fmt.Errorf("axis %s: no input has it; open are %s%s", config.Quoted(name), symbols, config.DidYouMean(name, symbols))
}

// withSymbols returns the inputs that have one of some symbols.
func withSymbols(n *graph.Network, names []string) (list []*graph.Tensor) {
	for _, t := range n.Inputs {
		if slices.ContainsFunc(t.Dims, func(d symbolic.Dim) bool {
			name, ok := d.SymbolName()
			return ok && slices.Contains(names, name)
		}) {
			list = append(list, t)
		}
	}
	return list
}

// Split measures whether two profiles serve the range of an axis better than one, as [report.Split] says, each engine as p says; of the
// widest axis where none is named. values are the extents to measure at, nil for some along the axis. each, if not nil, is told what is
// known as it comes.
func (r *Runner) Split(ctx context.Context, cfg config.Config, axis string, values []int, p run.Profiling, each func(*report.Split)) (s *report.Split, err error) {
	if each == nil {
		each = func(*report.Split) {}
	}
	err = r.surviving(ctx, cfg, func() error {
		s, err = r.stages.Sweeps.Split(ctx, cfg, axis, values, p, each)
		return err
	})
	return s, err
}

// Sweep measures an engine at every combination of some extents, each as p says; the engine is built once. Where no profile of
// the engine serves a combination the error is a [*run.OutOfRange].
func (r *Runner) Sweep(ctx context.Context, cfg config.Config, sweep Sweep, p run.Profiling) (s *report.Sweep, err error) {
	err = r.surviving(ctx, cfg, func() error {
		s, err = r.stages.Sweeps.Of(ctx, cfg, sweep, p)
		return err
	})
	return s, err
}
