package stages

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// tuning chooses the tactics of engines, by times that it measures or that the timing cache has, and lays out their memory.
type tuning struct {
	model      *model.Model
	orders     *orders
	told       *Audience
	device     *device
	precisions *precisions
	cache      *build.TimingCache
	saveTo     string // the cache's file; empty: nowhere
	unsaved    error  // why it could not be written
	// Unknown decides on a configuration whose tactics name layers or tactics that there are not; nil: that is an error.
	Unknown func(config.Config, error) error
	kept    *stage[planning, *run.Plan]
}

func newTuning(m *model.Model, w Workplace, o *orders, told *Audience, d *device, p *precisions) *tuning {
	t := &tuning{model: m, orders: o, told: told, device: d, precisions: p, cache: w.Cache, saveTo: w.SaveTo}
	t.kept = newStage(t.make)
	return t
}

// Plan chooses tactics and lays out memory, for the first profile of a configuration.
func (t *tuning) Plan(ctx context.Context, cfg config.Config) (*run.Plan, error) {
	return t.Profile(ctx, cfg, 0)
}

// Profile is plan for one of the profiles.
func (t *tuning) Profile(ctx context.Context, cfg config.Config, k int) (*run.Plan, error) {
	l, err := t.precisions.Lower(ctx, cfg)
	if err != nil {
		return nil, err
	}
	in, err := t.orders.profile(cfg, k)
	if err != nil {
		return nil, err
	}
	if p, ok := t.kept.known(in); ok {
		return p, nil
	}
	if err := t.checkNames(cfg, l); err != nil {
		return nil, err
	}
	if why := t.orders.Stored.Replanned(cfg); why != "" && k == 0 {
		t.told.Warn(why)
	}
	return t.kept.Of(ctx, in)
}

// make returns a plan: the engine file's where it has the one that is asked for.
func (t *tuning) make(ctx context.Context, in planning) (*run.Plan, error) {
	if in.Stored {
		return t.orders.Stored.planAt(in.symbols())
	}
	return t.tune(ctx, in, nil)
}

// checkNames returns an error for layers and tactics that a configuration names and that there are not, unless unknown
// lets it pass. What an engine was built with had them then; another backend may have others.
func (t *tuning) checkNames(cfg config.Config, l *build.Lowered) error {
	if built, err := t.model.BuiltWith(); err == nil && config.Same(built, cfg) {
		return nil
	}
	err := checkTactics(t.device.Backend, cfg, l)
	if err != nil && t.Unknown != nil {
		return t.Unknown(cfg, err)
	}
	return err
}

// saveEvery is how often tactics' times are saved while they are found: a kernel that hangs takes the process along, and what
// was timed before it need not be timed again.
const saveEvery = 10 * time.Second

// tune chooses tactics and lays out memory, and saves what was measured for that.
func (t *tuning) tune(ctx context.Context, in planning, remeasure []string) (*run.Plan, error) {
	l, err := t.precisions.kept.Of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	t.device.Busy.Lock()
	defer t.device.Busy.Unlock()
	t.told.Progress(report.Progress{Phase: "choosing tactics"})
	begin, timed := time.Now(), map[string]bool{} // each is timed several times
	saved := begin
	before, _ := t.cache.Stats()
	code := t.device.codeUse()
	defer func() { t.device.logCode(code) }()
	p, err := build.Plan(ctx, l.Network, in.symbols(), t.device.Backend, build.PlanConfig{
		Min: in.Min, Max: in.Max, Cache: t.cache, Choices: choicesOf(in.Pin, in.Forbid, l.Network), Remeasure: remeasure, InTurn: in.inTurn(),
		Progress: func(m build.Timing) {
			timed[m.Layer+"\x00"+m.Tactic] = true
			phase := "timing tactics"
			if m.Again {
				phase = "timing again"
			}
			t.told.Progress(report.Progress{Phase: phase, Item: m.Layer + ": " + m.Tactic, Done: m.Done, Total: m.Total})
			if time.Since(saved) >= saveEvery {
				t.Save()
				saved = time.Now()
			}
		},
		Compiling: func(done, total int) {
			t.told.Progress(t.device.compiling(done, total, code))
		},
	})
	if err == nil || len(timed) > 0 { // what was timed before it was stopped need not be timed again
		t.Save()
	}
	if err == nil {
		hits, _ := t.cache.Stats()
		t.told.Log.tactics(p, t.device.Estimated(), hits-before, len(timed), begin)
		t.told.Log.planned(p)
	}
	return p, err
}

// again measures the tactics of a layer again, and makes the plan of the configuration anew.
func (t *tuning) again(ctx context.Context, cfg config.Config, layer string) (planning, error) {
	if _, err := t.precisions.Lower(ctx, cfg); err != nil {
		return planning{}, err
	}
	in, err := t.orders.planning(cfg)
	if err != nil {
		return in, err
	}
	p, err := t.tune(ctx, in, []string{layer})
	if err == nil {
		t.kept.replace(in, p)
	}
	return in, err
}

// Save writes the timing cache to its file. An error is a warning: what was measured is still in memory.
func (t *tuning) Save() {
	if t.saveTo != "" {
		if t.unsaved = t.cache.Save(t.saveTo); t.unsaved != nil {
			t.told.Warn(t.unsaved.Error())
		}
	}
}
