package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Runner makes reports on demand, one call at a time: what a command needs, where a Session is what a screen needs.
// Calls share the stages' results, so that a second configuration repeats only what it changes.
type Runner struct{ stages *stages }

// NewRunner returns a runner; progress, if not nil, is told what is being done.
func NewRunner(m *Model, w Workplace, progress func(report.Progress)) *Runner {
	s := newStages(m, w, forecasting(progress))
	s.log.opened(m)
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

// surviving does work again where the device was lost.
func (r *Runner) surviving(ctx context.Context, cfg config.Config, work func() error) error {
	warn := func(text string) {
		r.stages.progress(report.Progress{Phase: "device lost", Item: text})
		if r.stages.Warn != nil {
			r.stages.Warn(text)
		}
	}
	return r.stages.surviving(ctx, cfg, warn, work)
}

func (r *Runner) report(ctx context.Context, cfg config.Config, parts report.Parts, p run.Profiling) (*report.Snapshot, error) {
	s, begin := r.stages, time.Now()
	snap := &report.Snapshot{Schema: report.Schema, Config: cfg, Device: deviceReport(s.Backend)}
	var err error
	snap.Model, err = s.modelReport(cfg)
	if parts == report.PartModel && errors.As(err, new(*UnboundShapes)) { // a look at the model needs no shapes
		snap.Model, err = s.modelReportAt(nil), nil
	}
	if err != nil {
		return snap, err
	}
	if parts.Has(report.PartCalibration) {
		if snap.Calibration, err = s.calibration(ctx, cfg); err != nil {
			return snap, err
		}
	}
	if parts.Has(report.PartPasses) {
		o, err := s.optimize(ctx, cfg)
		if err != nil {
			return snap, err
		}
		l := unloweredNetwork(o)
		if s.model.Refused == nil {
			if l, err = s.lower(ctx, cfg); err != nil {
				return snap, err
			}
		}
		if snap.Passes, err = s.passesReport(cfg, o, l); err != nil {
			return snap, err
		}
	}
	if parts&^(report.PartModel|report.PartPasses|report.PartCalibration) == 0 { // the others need a plan
		return snap, nil
	}
	plan, err := s.plan(ctx, cfg)
	if err != nil {
		return snap, err
	}
	snap.Tactics, snap.Memory = s.tacticsReport(cfg, plan), memoryReport(plan)
	if parts.Has(report.PartTimings) || parts.Has(report.PartOverview) {
		loaded, err := s.load(ctx, cfg)
		if err != nil {
			return snap, err
		}
		s.warnOfSimulation(plan)
		built := time.Since(begin)
		if snap.Timings, err = s.time(ctx, loaded, newTimings(plan, s.batchOf(plan)), p); err != nil {
			return snap, err
		}
		snap.Overview = s.overview(cfg, plan, snap.Timings)
		snap.Overview.BuildTime = built
	}
	if m, ok := s.Backend.(run.Monitor); ok && parts.Has(report.PartTimings|report.PartOverview) {
		snap.Telemetry, _ = telemetry(m) // what cannot be told is left out
	}
	if parts.Has(report.PartAccuracy|report.PartScore) && !(s.model.Stripped && parts.Has(report.PartOverview)) { // which says so
		snap.Accuracy, err = s.accuracy(ctx, cfg, parts.Has(report.PartAccuracy))
	}
	return snap, err
}

// Identity identifies the engine of a configuration before it is planned: two configurations that give the same network, to
// the bit, with the same tactics asked for have one engine. Why their precision changes nothing is said where that is so.
func (r *Runner) Identity(ctx context.Context, cfg config.Config) (id, unchanged string, err error) {
	id, err = r.stages.identity(ctx, cfg)
	if err != nil {
		return "", "", err
	}
	return id, r.stages.unchangedBy(cfg), nil
}

func (s *stages) identity(ctx context.Context, cfg config.Config) (string, error) {
	l, err := s.lower(ctx, cfg)
	if err != nil {
		return "", err
	}
	in, err := s.planning(cfg)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	var sizes []int
	n := *l.Network
	n.Lowered = true // FP32 need not be
	text, err := n.Encode(func(weights []byte) int {
		h.Write(weights)
		sizes = append(sizes, len(weights))
		return len(sizes)
	})
	if err != nil {
		return "", err
	}
	h.Write(text)
	fmt.Fprint(h, key(sizes, in.symbols(), in.Pin, in.Forbid, in.Stored)) // the plan of an engine file is not made anew
	return hex.EncodeToString(h.Sum(nil)), nil
}

// time measures an engine; t collects the samples.
func (s *stages) time(ctx context.Context, l *run.Loaded, t *timings, p run.Profiling) (*report.Timings, error) {
	s.device.Lock()
	defer s.device.Unlock()
	c, err := s.ready(ctx, l)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s.progress(report.Progress{Phase: s.measuring()})
	t.of(c)
	begin := time.Now()
	err = c.Profile(ctx, s.profiling(p), t.add)
	r := t.report(false, s.Backend.Info().Estimated)
	if err == nil {
		s.log.timings(r, begin)
	}
	return r, err
}

// profiling returns how long to measure: what was asked for, but once where times are estimates, which do not vary.
func (s *stages) profiling(p run.Profiling) run.Profiling {
	if s.Backend.Info().Estimated {
		return run.Profiling{Iterations: 1, PerStep: p.PerStep}
	}
	return p
}

// measuring names what is done to get times: where there is no device, they are a cost model's.
func (s *stages) measuring() string {
	if s.Backend.Info().Estimated {
		return "estimating"
	}
	return "measuring"
}

// Engine builds the engine of a configuration, to be written to a file. It holds what running needs, and with keepSource the
// network that it was made of, with which it can be compared and built anew.
func (r *Runner) Engine(ctx context.Context, cfg config.Config, keepSource bool) (e *run.Engine, err error) {
	err = r.surviving(ctx, cfg, func() error {
		e, err = r.engine(ctx, cfg, keepSource)
		return err
	})
	return e, err
}

func (r *Runner) engine(ctx context.Context, cfg config.Config, keepSource bool) (*run.Engine, error) {
	if keepSource {
		if err := r.stages.model.needsSource("keeping it"); err != nil {
			return nil, err
		}
	}
	s := r.stages
	p, err := s.plan(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, compiles := s.Backend.(run.Compiler); compiles && p.Code == nil {
		l, err := s.load(ctx, cfg)
		if err != nil {
			return nil, err
		}
		with := *p
		with.Code = l.Code()
		p = &with
	}
	shapes := map[string][]int{}
	for _, t := range p.Network.Inputs {
		dims := make([]int, len(t.Dims))
		for i, d := range t.Dims {
			dims[i] = d.Eval(p.Env())
		}
		shapes[t.Name] = dims
	}
	report, err := s.engineReport(ctx, cfg)
	if err != nil {
		return nil, err
	}
	e := &run.Engine{Profiles: []run.Profile{{Name: "default", Shapes: shapes}}, Plans: []*run.Plan{p}, Report: report, Origin: r.origin(cfg)}
	if keepSource {
		e.Source = s.model.Network
	}
	return e, nil
}

// origin says what an engine is made of, and by whom. The date is for the caller to say.
func (r *Runner) origin(cfg config.Config) run.Provenance {
	s, info := r.stages, r.stages.Backend.Info()
	o := run.Provenance{
		Program: s.Program, Model: s.model.Name(), ModelHash: s.model.SHA256, Config: s.nameOf(cfg), Backend: info.Name, Device: info.Device,
	}
	if s.needsCalibration(cfg) {
		o.Data = s.calibrationData(cfg.Calibrator)
	}
	if s.model.Engine != nil && s.model.Stripped { // the model is that one's
		from := s.model.Engine.Origin
		o.Model, o.ModelHash, o.Data = from.Model, from.ModelHash, from.Data
	}
	return o
}

// What a simulated device does in a second, about, and how much of it is worth a word before it begins.
const (
	simulatedFLOPs = 3e8
	longSimulation = 30 * time.Second
)

// warnOfSimulation says beforehand how long a simulated device will be at work.
func (s *stages) warnOfSimulation(p *run.Plan) {
	if !s.Backend.Info().Estimated || s.Warn == nil {
		return
	}
	var flops int64
	for _, st := range p.Steps {
		flops += graph.FLOPs(st.Layer, p.Env())
	}
	if d := time.Duration(float64(flops) / simulatedFLOPs * 1e9); d > longSimulation {
		s.Warn(fmt.Sprintf("an inference is %.1f GFLOP, for which %s takes about %s; a smaller batch takes less",
			float64(flops)/1e9, s.Backend.Info().Name, d.Round(time.Second)))
	}
}
