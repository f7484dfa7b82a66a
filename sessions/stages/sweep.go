package stages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// Sweep is what to measure an engine at: all combinations of the axes' values. The axis [report.ContextsAxis] is how many contexts
// run at the same time.
type Sweep struct {
	Axes  []report.SweepAxis
	Limit time.Duration // of the latency; 0: none
}

// sweeps measures engines over the shapes that they serve.
type sweeps struct {
	model      *model.Model
	told       *Audience
	device     *device
	tuning     *tuning
	engines    *engines
	inferences *inferences
	timing     *timing
}

// Of measures the engine of a configuration at every combination of some extents, each as p says. Where none of its profiles serves a
// combination the error is a [*run.OutOfRange].
func (s *sweeps) Of(ctx context.Context, cfg config.Config, sweep Sweep, p run.Profiling) (*report.Sweep, error) {
	base, err := s.model.Symbols(cfg)
	if err != nil {
		return nil, err
	}
	w := s.sweeper(cfg, base, p)
	defer w.close()
	var varied []string
	for _, a := range sweep.Axes {
		varied = append(varied, a.Name)
	}
	if err := w.ties.Check(varied); err != nil {
		return nil, err
	}
	r := &report.Sweep{Axes: slices.Clone(sweep.Axes), LatencyLimit: sweep.Limit, Estimated: s.device.Estimated(), Rest: w.rest(varied)}
	total := 1
	for i, a := range sweep.Axes {
		total *= len(a.Values)
		if r.Axes[i].Items = s.countsItems(a.Name); !IsContexts(s.model.Network, a.Name) {
			continue
		}
		if err := s.device.CheckContexts(a.Values); err != nil {
			return nil, err
		}
	}
	for i := range total {
		values, rest := make([]int, len(sweep.Axes)), i
		for k := len(values) - 1; k >= 0; k-- {
			list := sweep.Axes[k].Values
			values[k], rest = list[rest%len(list)], rest/len(list)
		}
		w.now = report.Progress{Phase: "sweep", Item: fmt.Sprint(values), Done: i, Total: total}
		env, contexts := map[string]int{}, 0
		for k, a := range sweep.Axes {
			if IsContexts(s.model.Network, a.Name) {
				contexts = values[k]
			} else {
				env[a.Name] = values[k]
			}
		}
		point, err := w.point(ctx, env, contexts)
		if err != nil {
			return nil, err
		}
		point.Values = values
		r.Points = append(r.Points, point)
	}
	r.Choose()
	return r, nil
}

// countsItems reports whether more along an axis of a sweep are more items at a time.
func (s *sweeps) countsItems(axis string) bool {
	return IsContexts(s.model.Network, axis) || slices.ContainsFunc(graph.Batched(s.model.Network.Inputs), func(t *graph.Tensor) bool {
		name, _ := t.Dims[0].SymbolName()
		return name == axis
	})
}

// sweeper measures the engines of a configuration's profiles at one set of extents after the other.
type sweeper struct {
	*sweeps
	cfg      config.Config
	base     map[string]int // values of symbols that a point does not give
	ties     *model.Ties    // of them
	as       run.Profiling
	only     int                     // the profile to measure in; -1: the first that serves a point
	contexts []*run.ExecutionContext // by profile; nil until they are needed
	now      report.Progress         // of the next point
}

func (s *sweeps) sweeper(cfg config.Config, base map[string]int, p run.Profiling) *sweeper {
	return &sweeper{sweeps: s, cfg: cfg, base: base, ties: model.FindTies(s.model, base), as: p, only: -1, contexts: make([]*run.ExecutionContext, len(cfg.Profiles)+1)}
}

// rest returns the open extents of inputs that are not varied.
func (w *sweeper) rest(varied []string) (list []report.SweepRest) {
	moved := map[string]int{}
	for _, name := range varied {
		if v, ok := w.base[name]; ok {
			moved[name] = v + 1
		}
	}
	at := w.ties.Move(w.base, moved)
	for _, name := range model.AxisNames(w.model) {
		if slices.Contains(varied, name) {
			continue
		}
		x := report.SweepRest{Name: name, Value: w.base[name]}
		if tie := w.ties.Of(name); tie != nil && at[name] != x.Value {
			x.Value, x.Follows = 0, &tie.Following
		}
		list = append(list, x)
	}
	return list
}

func (w *sweeper) close() {
	for _, c := range w.contexts {
		if c != nil {
			c.Close()
		}
	}
}

// point measures at values of symbols: one context, or so many at the same time.
func (w *sweeper) point(ctx context.Context, given map[string]int, contexts int) (point report.SweepPoint, err error) {
	w.told.Progress(w.now)
	env := w.ties.Move(w.base, given)
	k, c, plan, err := w.at(ctx, env)
	if err != nil {
		return point, err
	}
	in, err := w.inferences.sample(plan)
	if err != nil {
		return point, err
	}
	if contexts > 0 {
		point, err = w.timing.Together(ctx, c.Loaded(), plan, in, contexts, w.as)
	} else {
		point, err = w.timing.Point(ctx, c, plan, in, w.as)
	}
	point.Shapes, point.Profile = plan.Network.ShapesAt(env), k
	return point, err
}

// at brings the first profile that serves values of the symbols to them, or the only one that may.
func (w *sweeper) at(ctx context.Context, env map[string]int) (k int, c *run.ExecutionContext, at *run.Plan, err error) {
	var refused error // by all profiles, if there are several
	for k := range w.contexts {
		if w.only >= 0 && k != w.only {
			continue
		}
		p, err := w.tuning.Profile(ctx, w.cfg, k)
		if err != nil {
			return k, nil, nil, err
		}
		at, err := p.At(env)
		if err != nil {
			if len(w.contexts) > 1 {
				err = fmt.Errorf("profile %d: %w", k, err)
			}
			if refused != nil {
				err = fmt.Errorf("%w; %w", refused, err)
			}
			refused = err
			continue
		}
		if w.contexts[k] == nil {
			l, err := w.engines.Profile(ctx, w.cfg, k)
			if err == nil {
				w.contexts[k], err = w.inferences.context(ctx, l, func() (report.Progress, int) { return w.now, 1 })
			}
			if err != nil {
				return k, nil, nil, err
			}
		}
		return k, w.contexts[k], at, w.contexts[k].SetShapes(p.Network.ShapesAt(env))
	}
	return 0, nil, nil, refused
}
