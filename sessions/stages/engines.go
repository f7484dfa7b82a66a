package stages

import (
	"context"
	"errors"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// engines binds the kernels of plans.
type engines struct {
	orders *orders
	told   *Audience
	device *device
	tuning *tuning
	kept   *stage[planning, *run.Loaded]
}

func newEngines(o *orders, told *Audience, d *device, t *tuning) *engines {
	e := &engines{orders: o, told: told, device: d, tuning: t}
	e.kept = newStage(e.make)
	e.kept.kept.drop = (*run.Loaded).Close
	return e
}

// Packing says how many of a plan's kernels are bound.
func Packing(done, total int, layer string) report.Progress {
	return report.Progress{Phase: "packing weights", Item: layer, Done: done, Total: total}
}

// Load binds the kernels of the plan of a configuration's first profile.
func (e *engines) Load(ctx context.Context, cfg config.Config) (*run.Loaded, error) {
	return e.Profile(ctx, cfg, 0)
}

// Profile is load for one of the profiles.
func (e *engines) Profile(ctx context.Context, cfg config.Config, k int) (*run.Loaded, error) {
	if _, err := e.tuning.Profile(ctx, cfg, k); err != nil {
		return nil, err
	}
	in, err := e.orders.profile(cfg, k)
	if err != nil {
		return nil, err
	}
	l, err := e.kept.Of(ctx, in)
	if errors.Is(err, run.ErrStale) && in.Stored {
		e.orders.Stored.outdated = true
		return e.Profile(ctx, cfg, k)
	}
	return l, err
}

// make loads a plan.
func (e *engines) make(ctx context.Context, in planning) (*run.Loaded, error) {
	p, err := e.tuning.kept.Of(ctx, in)
	if err != nil {
		return nil, err
	}
	e.told.Progress(Packing(0, len(p.Steps), ""))
	tell := func(done, total int, layer string) { e.told.Progress(Packing(done, total, layer)) }
	begin, code := time.Now(), e.device.codeUse()
	defer func() { e.device.logCode(code) }()
	l, err := run.LoadTelling(ctx, p, e.device.Backend, tell)
	if errors.As(err, new(*run.NoRoom)) && e.kept.kept.shrink(1) { // older engines take what is missing
		l, err = run.LoadTelling(ctx, p, e.device.Backend, tell)
	}
	if err == nil {
		e.told.Log.say("info", "", "loaded the engine in %s: weights %s", took(begin), Size(p.Memory.Weights))
	}
	return l, err
}

// Loaded returns the engine of a configuration if it is loaded, else nil.
func (e *engines) Loaded(cfg config.Config) *run.Loaded {
	in, err := e.orders.planning(cfg)
	if err != nil {
		return nil
	}
	l, _ := e.kept.known(in)
	return l
}
