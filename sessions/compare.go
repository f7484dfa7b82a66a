package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Contender is one of the ways to run a model that Compare sets side by side.
type Contender struct {
	Name string
	// Backend runs the engine that is built for it; nil stands for the reference evaluation: of the source network where
	// all of it is in FP32, else of the network as it was lowered for the first backend among the contenders.
	Backend run.Backend
	// Outside, if it is there, gives the outputs in place of an engine, and Device says what made them.
	Outside compare.Outside
	Device  report.Device
	Variant *compare.Variant // of Outside, by which is compared what rounds elsewhere; nil where there is none
}

// Compare runs a configuration over the data on every contender, item by item, and compares the first one's outputs with
// each of the others'. All of them share the ranges of one calibration, so that INT8 means the same integers. Where a device
// is lost it is started anew and all is done once more; an error names the layer at fault if it is one.
func Compare(ctx context.Context, m *model.Model, w stages.Workplace, cfg config.Config, on []Contender, c compare.Options, progress func(report.Progress)) (*report.Comparison, error) {
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
			s := stages.New(m, own, w.Told(progress))
			defer s.Release()
			once := work
			work = func() error { return s.Surviving(ctx, cfg, warn, once) }
		}
	}
	return r, work()
}

// compareOnce is Compare where no device is lost.
func compareOnce(ctx context.Context, m *model.Model, w stages.Workplace, cfg config.Config, on []Contender, c compare.Options, progress func(report.Progress)) (*report.Comparison, error) {
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
		Model: m.Name(), Precision: string(cfg.Precision), Data: w.Data.Name(), Random: w.Data.Random(), Tolerance: c.Check.Tolerance, Half: c.Half, Scaled: c.Scaled, Passed: true,
	}
	if m.NeedsCalibration(cfg) {
		r.Calibrator = cfg.Calibrator
	}
	all, err := first.Inferences.Batches(cfg.Batch, cfg.Shapes, 0)
	if err != nil {
		return nil, err
	}
	var fp32 *compare.Reference
	switch {
	case c.Scaled && compare.NeedsRounding(runs):
		r.Rounding = rounding(m.Network, cfg)
	case c.Scaled && len(runs) > 1:
		r.Tolerance = c.Unexplained
		for _, one := range runs {
			if f := compare.VariantFactors(one); f != nil {
				r.Rounding = f
			}
		}
	}
	if r.Rounding != nil && r.Rounding.From == "" {
		var end func()
		fp32, end, err = first.References.Beside(ctx, cfg, c.PerLayer)
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
func firstStages(m *model.Model, w stages.Workplace, on []Contender, progress func(report.Progress)) *stages.Stages {
	backends := 0
	for _, c := range on {
		if c.Backend == nil {
			continue
		}
		if backends++; backends == 1 {
			w.Backend = c.Backend
		}
	}
	s := stages.New(m, w, w.Told(progress))
	if backends > 1 {
		s.Tuning.Unknown = func(_ config.Config, err error) error {
			if w.Warn != nil {
				w.Warn(err.Error())
			}
			return nil
		}
	}
	return s
}

// contestants builds an engine for every contender. Calibration is done once, by the first of them.
func contestants(ctx context.Context, s *stages.Stages, cfg config.Config, on []Contender) ([]*compare.Contestant, error) {
	var runs []*compare.Contestant
	lowest, _, err := cfg.Lowering()
	if err != nil {
		return nil, err
	}
	if s.Model.NeedsCalibration(cfg) {
		if _, err := s.Calibration.Of(ctx, cfg); err != nil {
			return nil, err
		}
	}
	for _, c := range on {
		one := compare.NewContestant(c.Name, s.Model.Network.Outputs, s.Told.Progress)
		runs = append(runs, one)
		var err error
		switch {
		case c.Outside != nil:
			one.Outside, one.Device, one.Variant = c.Outside, c.Device, c.Variant
		case c.Backend == nil && lowest == numeric.F32:
			one.Network, one.MaxMemory = s.Model.Network, run.MemoryLimit(s.Place.Reference())
			if err = s.Model.NeedsSource("the definition of the model"); err != nil {
				break
			}
			env, e := s.Model.SymbolsIfAny(cfg)
			if err = e; err == nil {
				err = model.CheckExtents(s.Model, env)
			}
		case c.Backend == nil:
			lowered, e := s.Precisions.Lower(ctx, cfg)
			if err = e; e == nil {
				one.Network, one.MaxMemory = lowered.Network, run.MemoryLimit(s.Place.Reference())
			}
		default:
			engine := s
			if c.Backend != s.Place.Backend {
				engine = s.Beside(c.Backend)
			}
			err = contest(ctx, engine, cfg, one)
		}
		if one.Network != nil {
			one.Device, one.Launches = describe.Definition(c.Name), len(one.Network.Layers)
		}
		if err != nil {
			return runs, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return runs, nil
}

// contest loads the engine of a contestant and makes a context for it.
func contest(ctx context.Context, s *stages.Stages, cfg config.Config, c *compare.Contestant) (err error) {
	if c.Loaded, err = s.Engines.Load(ctx, cfg); err != nil {
		return err
	}
	if c.Context, err = c.Loaded.NewContext(); err != nil {
		return err
	}
	c.Device, c.Launches, c.Replanned = describe.Device(s.Place.Backend), describe.Counts(c.Loaded.Plan, 0).Launches, s.Orders.Stored.Replanned(cfg)
	s.Inferences.Watch(ctx, c.Context, c.At)
	return nil
}
