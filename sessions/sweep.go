package sessions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Sweep is what to measure an engine at: all combinations of the axes' values. The axis [report.ContextsAxis] is how many contexts
// run at the same time.
type Sweep struct {
	Axes  []report.SweepAxis
	Limit time.Duration // of the latency; 0: none
	// Inputs returns data for values of the model's symbols, of which the first items are the inputs.
	Inputs func(env map[string]int) (dataset.Data, error)
}

// SweepConfig returns a configuration whose engine serves a sweep of a model, with tactics that are timed at the shapes of cfg, or
// where it does not say these, in the middle of the axes. An engine, and a configuration that has a range, stay as they are.
func SweepConfig(m *model.Model, cfg config.Config, sweep []report.SweepAxis) (config.Config, error) {
	if len(sweep) == 0 || m.Network == nil {
		return cfg, nil
	}
	opt := model.KnownSymbols(m.Network, cfg)
	given := model.AxisSymbols(m.Network, cfg.Shapes)
	low, high := maps.Clone(opt), maps.Clone(opt)
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

// sweptSymbol returns the symbol of an axis: by its name, or as "batch" that of the first axis of inputs.
func sweptSymbol(n *graph.Network, name string) (string, error) {
	symbols := n.Unbound(nil)
	if slices.Contains(symbols, name) {
		return name, nil
	}
	if name == "batch" {
		for _, t := range n.Inputs {
			if compare.IsBatched(t) {
				symbol, _ := t.Dims[0].SymbolName()
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

// Sweep measures an engine at every combination of some extents, each as p says; the engine is built once. Where no profile of
// the engine serves a combination the error is a [*run.OutOfRange].
func (r *Runner) Sweep(ctx context.Context, cfg config.Config, sweep Sweep, p run.Profiling) (s *report.Sweep, err error) {
	err = r.surviving(ctx, cfg, func() error {
		s, err = r.sweep(ctx, cfg, sweep, p)
		return err
	})
	return s, err
}

func (r *Runner) sweep(ctx context.Context, cfg config.Config, sweep Sweep, p run.Profiling) (*report.Sweep, error) {
	w := &sweeper{stages: r.stages, cfg: cfg, contexts: make([]*run.ExecutionContext, len(cfg.Profiles)+1)}
	defer w.close()
	var err error
	if w.base, err = r.stages.Model.Symbols(cfg); err != nil {
		return nil, err
	}
	s := &report.Sweep{Axes: sweep.Axes, LatencyLimit: sweep.Limit, Estimated: r.stages.Device.Estimated()}
	total := 1
	for _, a := range sweep.Axes {
		if total *= len(a.Values); !stages.IsContexts(r.stages.Model.Network, a.Name) {
			continue
		}
		if err := r.stages.Device.CheckContexts(a.Values); err != nil {
			return nil, err
		}
	}
	for i := range total {
		values, rest := make([]int, len(sweep.Axes)), i
		for k := len(values) - 1; k >= 0; k-- {
			list := sweep.Axes[k].Values
			values[k], rest = list[rest%len(list)], rest/len(list)
		}
		r.stages.Told.Progress(report.Progress{Phase: "sweep", Item: fmt.Sprint(values), Done: i, Total: total})
		point, err := w.point(ctx, sweep, values, p)
		if err != nil {
			return nil, err
		}
		s.Points = append(s.Points, point)
	}
	s.Choose()
	return s, nil
}

// sweeper measures engines at one set of extents after the other.
type sweeper struct {
	stages   *stages.Stages
	cfg      config.Config
	base     map[string]int          // values of symbols that are not varied
	contexts []*run.ExecutionContext // by profile; nil until they are needed
}

func (w *sweeper) close() {
	for _, c := range w.contexts {
		if c != nil {
			c.Close()
		}
	}
}

// point measures at values of the axes.
func (w *sweeper) point(ctx context.Context, sweep Sweep, values []int, p run.Profiling) (report.SweepPoint, error) {
	env, contexts := maps.Clone(w.base), 0
	for k, a := range sweep.Axes {
		if stages.IsContexts(w.stages.Model.Network, a.Name) {
			contexts = values[k]
			continue
		}
		env[a.Name] = values[k]
	}
	point := report.SweepPoint{Values: values}
	c, plan, err := w.at(ctx, env, &point)
	if err != nil {
		return point, err
	}
	data, err := sweep.Inputs(env)
	if err != nil {
		return point, err
	}
	in, err := compare.Stack(data, plan.Network, 0, model.BatchOf(plan))
	if err != nil {
		return point, err
	}
	var measured report.SweepPoint
	if contexts > 0 {
		measured, err = w.stages.Timing.Together(ctx, c.Loaded(), plan, in, contexts, p)
	} else {
		measured, err = w.stages.Timing.Point(ctx, c, plan, in, p)
	}
	measured.Values, measured.Shapes, measured.Profile = values, point.Shapes, point.Profile
	return measured, err
}

// at brings the first profile that serves values of the symbols to them.
func (w *sweeper) at(ctx context.Context, env map[string]int, point *report.SweepPoint) (*run.ExecutionContext, *run.Plan, error) {
	var refused error
	for k := range w.contexts {
		p, err := w.stages.Tuning.Profile(ctx, w.cfg, k)
		if err != nil {
			return nil, nil, err
		}
		at, err := p.At(env)
		if err != nil {
			refused = err
			continue
		}
		if w.contexts[k] == nil {
			l, err := w.stages.Engines.Profile(ctx, w.cfg, k)
			if err == nil {
				w.contexts[k], err = l.NewContext()
			}
			if err != nil {
				return nil, nil, err
			}
		}
		point.Profile, point.Shapes = k, p.Network.ShapesAt(env)
		return w.contexts[k], at, w.contexts[k].SetShapes(point.Shapes)
	}
	return nil, nil, refused
}
