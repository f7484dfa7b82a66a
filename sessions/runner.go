package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// Runner makes reports on demand, one call at a time: what a command needs, where a Session is what a screen needs.
// Calls share the stages' results, so that a second configuration repeats only what it changes.
type Runner struct{ stages *stages }

// NewRunner returns a runner; progress, if not nil, is told what is being done.
func NewRunner(m *model.Model, w Workplace, progress func(report.Progress)) *Runner {
	s := newStages(m, w, w.told(forecasting(progress)))
	s.told.log.opened(m)
	return &Runner{s}
}

// Report makes the wanted parts of a snapshot for a configuration. Timings are measured as p says. With an error the
// snapshot has what was made before it.
func (r *Runner) Report(ctx context.Context, cfg config.Config, parts report.Parts, p run.Profiling) (snap *report.Snapshot, err error) {
	err = r.surviving(ctx, cfg, func() error {
		snap, err = r.report(ctx, cfg, parts, p)
		return err
	})
	return snap, err
}

// Quantised returns the network of a configuration in INT8 as Quantize and Dequantize layers around real numbers say it: what any
// runtime computes that knows them.
func (r *Runner) Quantised(ctx context.Context, cfg config.Config) (*graph.Network, error) {
	l, err := r.stages.precisions.lower(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if l.Quantised == nil {
		return nil, fmt.Errorf("%s is not quantised: its precision is %s", r.stages.nameOf(cfg), cfg.Precision)
	}
	return l.Quantised, nil
}

// surviving does work again where the device was lost.
func (r *Runner) surviving(ctx context.Context, cfg config.Config, work func() error) error {
	warn := func(text string) {
		r.stages.told.progress(report.Progress{Phase: "device lost", Item: text})
		r.stages.told.warn(text)
	}
	return r.stages.surviving(ctx, cfg, warn, work)
}

func (r *Runner) report(ctx context.Context, cfg config.Config, parts report.Parts, p run.Profiling) (*report.Snapshot, error) {
	s, begin := r.stages, time.Now()
	snap := &report.Snapshot{Schema: report.Schema, Config: cfg, Device: describe.Device(s.device.backend)}
	var err error
	snap.Model, err = s.lookAt(cfg)
	if parts == report.PartModel && errors.As(err, new(*model.UnboundShapes)) { // a look at the model needs no shapes
		snap.Model, err = describe.Model(s.model, s.place.Data, s.calibration.items(), nil), nil
	}
	if err != nil {
		return snap, err
	}
	if parts.Has(report.PartCalibration) {
		if snap.Calibration, err = s.survey.of(ctx, cfg); err != nil {
			return snap, err
		}
	}
	if parts.Has(report.PartPasses) {
		o, err := s.passes.optimize(ctx, cfg)
		if err != nil {
			return snap, err
		}
		l := describe.UnloweredNetwork(o)
		if s.model.Refused == nil {
			if l, err = s.precisions.lower(ctx, cfg); err != nil {
				return snap, err
			}
		}
		if snap.Passes, err = s.rewritten(cfg, o, l); err != nil {
			return snap, err
		}
	}
	if parts&^(report.PartModel|report.PartPasses|report.PartCalibration) == 0 { // the others need a plan
		return snap, nil
	}
	plan, err := s.tuning.plan(ctx, cfg)
	if err != nil {
		return snap, err
	}
	snap.Tactics, snap.Memory = s.tuning.report(cfg, s.place.CacheError, plan), describe.Memory(plan)
	if parts.Has(report.PartTimings) || parts.Has(report.PartOverview) {
		loaded, err := s.engines.load(ctx, cfg)
		if err != nil {
			return snap, err
		}
		s.device.warnOfSimulation(plan)
		built := time.Since(begin)
		if snap.Timings, err = s.timing.time(ctx, loaded, describe.NewTimes(plan, model.BatchOf(plan)), p); err != nil {
			return snap, err
		}
		snap.Overview = s.sumUp(cfg, plan, snap.Timings)
		snap.Overview.BuildTime = built
	}
	if m, ok := s.device.backend.(run.Monitor); ok && parts.Has(report.PartTimings|report.PartOverview) {
		snap.Telemetry, _ = telemetry(m) // what cannot be told is left out
	}
	if parts.Has(report.PartAccuracy|report.PartScore) && !(s.model.Stripped && parts.Has(report.PartOverview)) { // which says so
		snap.Accuracy, err = s.accuracy.of(ctx, cfg, parts.Has(report.PartAccuracy))
	}
	return snap, err
}

// Sensitivity finds what each layer in 8 bits takes from the outputs of a configuration, and what raising it to a precision wins
// and costs. each is told of what is known so far, also where the work ends early.
func (r *Runner) Sensitivity(ctx context.Context, cfg config.Config, to config.Precision, each func(*report.Sensitivity)) (s *report.Sensitivity, err error) {
	err = r.surviving(ctx, cfg, func() error {
		s, err = r.stages.sensitivity.of(ctx, cfg, to, each)
		return err
	})
	return s, err
}

// Tune searches for the precision and range of each layer that meet a goal, from a configuration in INT8 on. The report has what is
// known, also where the work ends early with an error.
func (r *Runner) Tune(ctx context.Context, cfg config.Config, how Tuning) (s *report.Search, err error) {
	err = r.surviving(ctx, cfg, func() error {
		s, err = r.stages.search.of(ctx, cfg, how)
		return err
	})
	return s, err
}

// Identity identifies the engine of a configuration before it is planned: two configurations that give the same network, to
// the bit, with the same tactics asked for have one engine. Why their precision changes nothing is said where that is so.
func (r *Runner) Identity(ctx context.Context, cfg config.Config) (id, unchanged string, err error) {
	id, err = r.stages.tuning.identity(ctx, cfg)
	if err != nil {
		return "", "", err
	}
	return id, r.stages.precisions.unchangedBy(cfg), nil
}

// Head returns the head of documents on a configuration, nil for several of them.
func (r *Runner) Head(cfg *config.Config) report.Head {
	s := r.stages
	device := describe.Device(s.device.backend)
	h := report.Head{Model: s.model.Head().Model, Device: &device, Config: cfg}
	if data := s.place.Data; data != nil {
		h.Data = &report.DataHead{Name: data.Name(), Random: data.Random(), Items: data.Len()}
		h.Data.Labelled = data.Labels(0) != nil
		h.Data.CalItems = s.calibration.items()
	}
	return h
}
