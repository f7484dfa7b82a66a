package sessions

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/pass"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/stages"
)

// Refit returns the engine of the model's file with other weights, by the names of constants of its source network, which the file
// must have. The engine keeps its tactics, the ranges of its activations and the corrections of its biases; nothing is timed. from
// names where the weights come from. The error is a [*build.Undone] where a pass does something else with these weights, and
// a [*build.UnknownWeights] or another one that names them where they are not the network's.
func (r *Runner) Refit(ctx context.Context, weights map[string]numeric.Value, from string) (*run.Engine, error) {
	m := r.stages.Model
	cfg, err := m.BuiltWith()
	if err != nil {
		return nil, err
	}
	if err := m.NeedsSource("exchanging weights"); err != nil {
		return nil, err
	}
	plans := m.Engine.PlansFor(r.stages.Device.Backend.Info().Fingerprint)
	if len(plans) == 0 || len(plans) != len(m.Engine.Plans) {
		return nil, fmt.Errorf("%s: the engine is for %s, the device is %s: %w", m.Path, m.Engine.Targets(), r.stages.Device.Backend.Info().Fingerprint, run.ErrStale)
	}
	old, before, err := lowered(ctx, r.stages, cfg)
	if err != nil {
		return nil, err
	}
	if err := run.Alike(plans[0].Network, old); err != nil {
		return nil, fmt.Errorf("%s: the passes make another network of the source today than the engine has (%w): %w", m.Path, err, run.ErrStale)
	}
	source, err := build.Weigh(m.Network, weights)
	if err != nil {
		return nil, suggest(err)
	}
	with := *m
	with.Network = source
	n, after, err := lowered(ctx, stages.New(&with, r.stages.Place, r.stages.Told), cfg)
	if err != nil {
		return nil, err
	}
	plans, err = build.Refit(plans, n, before, after)
	if err != nil {
		return nil, err
	}
	if err := bindable(ctx, r.stages, plans); err != nil {
		return nil, err
	}
	e := *m.Engine
	e.Source, e.Plans = source, plans
	e.Origin.Model, e.Origin.ModelHash = m.Engine.Origin.Model+", weights of "+from, ""
	return &e, nil
}

// lowered returns the network of a configuration that is planned, and the steps to it.
func lowered(ctx context.Context, s *stages.Stages, cfg config.Config) (*graph.Network, []pass.Step, error) {
	l, err := s.Precisions.Lower(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	o, err := s.Passes.Optimize(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return l.Network, slices.Concat(o.Steps, l.Steps), nil
}

// bindable returns an error where the device's kernels do not take plans; those that take them are with their code then.
func bindable(ctx context.Context, s *stages.Stages, plans []*run.Plan) error {
	loaded, err := run.LoadProfiles(ctx, plans, s.Device.Backend, func(done, total int, layer string) { s.Told.Progress(stages.Packing(done, total, layer)) })
	if err != nil {
		return err
	}
	for i, l := range loaded {
		plans[i].Code = l.Code()
		l.Close()
	}
	return nil
}

// suggest adds what a name of weights may be meant for.
func suggest(err error) error {
	if e, ok := err.(*build.UnknownWeights); ok {
		return fmt.Errorf("%w%s", err, config.DidYouMean(e.Name, e.Known))
	}
	return err
}
