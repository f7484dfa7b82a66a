package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Contender is one of the ways to run a model that Compare sets side by side.
type Contender struct {
	Name string
	// Backend runs the engine that is built for it; nil stands for the reference evaluation: of the source network where
	// all of it is in FP32, else of the network as it was lowered for the first backend among the contenders.
	Backend run.Backend
}

// compareOnce is Compare where no device is lost.
func compareOnce(ctx context.Context, m *Model, w Workplace, cfg config.Config, on []Contender, c compare.Options, progress func(report.Progress)) (*report.Comparison, error) {
	first := firstStages(m, w, on, progress)
	runs, err := first.contestants(ctx, cfg, on)
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
	if first.needsCalibration(cfg) {
		r.Calibrator = cfg.Calibrator
	}
	all, err := first.batches(cfg.Batch, cfg.Shapes, 0)
	if err != nil {
		return nil, err
	}
	var fp32 *compare.Reference
	if c.Scaled && len(runs) > 1 {
		r.Rounding = m.rounding(cfg)
	}
	if r.Rounding != nil {
		var end func()
		fp32, end, err = first.newReference32(ctx, cfg, c.PerLayer)
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
func firstStages(m *Model, w Workplace, on []Contender, progress func(report.Progress)) *stages {
	s := newStages(m, w, progress)
	backends := 0
	for _, c := range on {
		if c.Backend == nil {
			continue
		}
		if backends++; backends == 1 {
			s.Backend = c.Backend
		}
	}
	if backends > 1 {
		s.unknown = func(_ config.Config, err error) error {
			if w.Warn != nil {
				w.Warn(err.Error())
			}
			return nil
		}
	}
	return s
}

// contestants builds an engine for every contender. Calibration is done once, by the first of them.
func (s *stages) contestants(ctx context.Context, cfg config.Config, on []Contender) ([]*compare.Contestant, error) {
	var runs []*compare.Contestant
	lowest, _, err := cfg.Lowering()
	if err != nil {
		return nil, err
	}
	if s.needsCalibration(cfg) {
		if _, err := s.rangesFor(ctx, cfg); err != nil {
			return nil, err
		}
	}
	for _, c := range on {
		one := compare.NewContestant(c.Name, s.model.Network.Outputs, s.progress)
		runs = append(runs, one)
		var err error
		switch {
		case c.Backend == nil && lowest == graph.F32:
			one.Network, one.MaxMemory = s.model.Network, run.MemoryLimit(s.host())
			if err = s.model.needsSource("the definition of the model"); err != nil {
				break
			}
			env, e := s.env(cfg)
			if err = e; err == nil {
				err = s.model.checkExtents(env)
			}
		case c.Backend == nil:
			lowered, e := s.lower(ctx, cfg)
			if err = e; e == nil {
				one.Network, one.MaxMemory = lowered.Network, run.MemoryLimit(s.host())
			}
		default:
			engine := s
			if c.Backend != s.Backend {
				engine = newStages(s.model, s.Workplace, s.progress)
				engine.Backend, engine.hist, engine.ranges, engine.unknown = c.Backend, s.hist, s.ranges, s.unknown
			}
			err = engine.contest(ctx, cfg, one)
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
func (s *stages) contest(ctx context.Context, cfg config.Config, c *compare.Contestant) (err error) {
	if c.Loaded, err = s.load(ctx, cfg); err != nil {
		return err
	}
	if c.Context, err = c.Loaded.NewContext(); err != nil {
		return err
	}
	c.Device, c.Launches, c.Replanned = deviceReport(s.Backend), countSteps(c.Loaded.Plan, 0).Launches, s.replanned(cfg)
	s.watch(ctx, c.Context, c.At)
	return nil
}
