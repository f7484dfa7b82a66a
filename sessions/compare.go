package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// Contender is one of the ways to run a model that Compare sets side by side.
type Contender struct {
	Name string
	// Backend runs the engine that is built for it; nil stands for the reference evaluation: of the source network where
	// all of it is in FP32, else of the network as it was lowered for the first backend among the contenders.
	Backend run.Backend
}

// Compare runs a configuration over the data on every contender, item by item, and compares the first one's outputs with
// each of the others'. All of them share the ranges of one calibration, so that INT8 means the same integers. Where a device
// is lost it is started anew and all is done once more; an error names the layer at fault if it is one.
func Compare(ctx context.Context, m *model.Model, w Workplace, cfg config.Config, on []Contender, c compare.Options, progress func(report.Progress)) (*report.Comparison, error) {
	progress = forecasting(progress)
	var r *report.Comparison
	work := func() (err error) {
		r, err = compareOnce(ctx, m, w, cfg, on, c, progress)
		return err
	}
	warn := func(text string) {
		progress(report.Progress{Phase: "device lost", Item: text})
		if w.Warn != nil {
			w.Warn(text)
		}
	}
	for _, one := range on {
		if _, ok := one.Backend.(run.Recoverer); ok {
			own := w
			own.Backend = one.Backend
			s := newStages(m, own, w.told(progress))
			defer s.release()
			once := work
			work = func() error { return s.surviving(ctx, cfg, warn, once) }
		}
	}
	return r, work()
}

// compareOnce is Compare where no device is lost.
func compareOnce(ctx context.Context, m *model.Model, w Workplace, cfg config.Config, on []Contender, c compare.Options, progress func(report.Progress)) (*report.Comparison, error) {
	if err := model.CheckState(m, cfg); err != nil {
		return nil, err
	}
	c.State = cfg.State
	first := firstStages(m, w, on, progress)
	runs, err := contestants(ctx, first, cfg, on)
	defer func() {
		for _, r := range runs {
			r.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	r := &report.Comparison{
		Model: m.Name(), Precision: string(cfg.Precision), Data: w.Data.Name(), Random: w.Data.Random(), Tolerance: c.Tolerance, Half: c.Half, Scaled: c.Scaled, Passed: true,
	}
	if m.NeedsCalibration(cfg) {
		r.Calibrator = cfg.Calibrator
	}
	all, err := first.inferences.batches(cfg.Batch, cfg.Shapes, 0)
	if err != nil {
		return nil, err
	}
	var fp32 *compare.Reference
	if c.Scaled && len(runs) > 1 {
		r.Rounding = rounding(m.Network, cfg)
	}
	if r.Rounding != nil {
		var end func()
		fp32, end, err = first.references.beside(ctx, cfg, c.PerLayer)
		defer end()
		if err != nil {
			return nil, fmt.Errorf("FP32, which shows what rounding explains: %w", err)
		}
		fp32.Factors = r.Rounding
	}
	if err := compare.Run(ctx, r, all, runs, fp32, c, progress); err != nil {
		return nil, err
	}
	return r, nil
}

// firstStages returns the stages of the first backend. Where there are several, tactics that one has are unknown to
// another, and that is a warning.
func firstStages(m *model.Model, w Workplace, on []Contender, progress func(report.Progress)) *stages {
	backends := 0
	for _, c := range on {
		if c.Backend == nil {
			continue
		}
		if backends++; backends == 1 {
			w.Backend = c.Backend
		}
	}
	s := newStages(m, w, w.told(progress))
	if backends > 1 {
		s.tuning.unknown = func(_ config.Config, err error) error {
			if w.Warn != nil {
				w.Warn(err.Error())
			}
			return nil
		}
	}
	return s
}

// contestants builds an engine for every contender. Calibration is done once, by the first of them.
func contestants(ctx context.Context, s *stages, cfg config.Config, on []Contender) ([]*compare.Contestant, error) {
	var runs []*compare.Contestant
	lowest, _, err := cfg.Lowering()
	if err != nil {
		return nil, err
	}
	if s.model.NeedsCalibration(cfg) {
		if _, err := s.calibration.of(ctx, cfg); err != nil {
			return nil, err
		}
	}
	for _, c := range on {
		one := compare.NewContestant(c.Name, s.model.Network.Outputs, s.told.progress)
		runs = append(runs, one)
		var err error
		switch {
		case c.Backend == nil && lowest == numeric.F32:
			one.Network, one.MaxMemory = s.model.Network, run.MemoryLimit(s.place.host())
			if err = s.model.NeedsSource("the definition of the model"); err != nil {
				break
			}
			env, e := s.model.SymbolsIfAny(cfg)
			if err = e; err == nil {
				err = model.CheckExtents(s.model, env)
			}
		case c.Backend == nil:
			lowered, e := s.precisions.lower(ctx, cfg)
			if err = e; e == nil {
				one.Network, one.MaxMemory = lowered.Network, run.MemoryLimit(s.place.host())
			}
		default:
			engine := s
			if c.Backend != s.place.Backend {
				engine = s.beside(c.Backend)
			}
			err = contest(ctx, engine, cfg, one)
		}
		if one.Network != nil {
			one.Device, one.Launches = definition(c.Name), len(one.Network.Layers)
		}
		if err != nil {
			return runs, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return runs, nil
}

// contest loads the engine of a contestant and makes a context for it.
func contest(ctx context.Context, s *stages, cfg config.Config, c *compare.Contestant) (err error) {
	if c.Loaded, err = s.engines.load(ctx, cfg); err != nil {
		return err
	}
	if c.Context, err = c.Loaded.NewContext(); err != nil {
		return err
	}
	c.Device, c.Launches, c.Replanned = deviceReport(s.place.Backend), countSteps(c.Loaded.Plan, 0).Launches, s.orders.stored.replanned(cfg)
	s.inferences.watch(ctx, c.Context, c.At)
	return nil
}
