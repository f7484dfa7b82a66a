package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// rounds returns how many rounds a measurement has: one where times are estimates, which do not vary.
func (s *stages) rounds() int {
	if s.Backend.Info().Estimated {
		return 1
	}
	return compare.Rounds
}

// Compared is what came of one of several configurations, and how fast it is beside the first of them; nil for that.
type Compared struct {
	*report.Snapshot
	Speed *report.Speed
}

// Compare makes the wanted parts of a snapshot for every configuration, and measures their times side by side: in rounds, as
// long in all as p says for each. Where the device has no room for all engines at a time they are measured one after the other,
// which the speeds tell.
func (r *Runner) Compare(ctx context.Context, configs []config.Config, parts report.Parts, p run.Profiling) (list []Compared, err error) {
	err = r.surviving(ctx, configs[0], func() error {
		list, err = r.compare(ctx, configs, parts, p)
		return err
	})
	return list, err
}

func (r *Runner) compare(ctx context.Context, configs []config.Config, parts report.Parts, p run.Profiling) ([]Compared, error) {
	s := r.stages
	list, built := make([]Compared, len(configs)), make([]time.Duration, len(configs))
	for i, cfg := range configs {
		begin := time.Now()
		snap, err := r.report(ctx, cfg, parts&^(report.PartTimings|report.PartOverview)|report.PartMemory, p)
		if err != nil {
			return nil, err
		}
		list[i].Snapshot, built[i] = snap, time.Since(begin)
	}
	reports, speeds, err := s.timeAll(ctx, configs, p)
	if err != nil {
		return nil, err
	}
	for i, cfg := range configs {
		plan, err := s.plan(ctx, cfg)
		if err != nil {
			return nil, err
		}
		list[i].Timings, list[i].Speed = reports[i], speeds[i]
		list[i].Overview = s.overview(cfg, plan, reports[i])
		list[i].Overview.BuildTime = built[i]
	}
	return list, nil
}

// timeAll measures the engines of configurations side by side, or one after the other where they are too many or too large
// to be on the device at a time. The first one, with which the others are compared, has no speed.
func (s *stages) timeAll(ctx context.Context, configs []config.Config, p run.Profiling) ([]*report.Timings, []*report.Speed, error) {
	reports, speeds, err := s.timeBeside(ctx, configs, p)
	if !errors.As(err, new(*run.NoRoom)) && !errors.Is(err, errTooMany) {
		return reports, speeds, err
	}
	reports, speeds = nil, make([]*report.Speed, len(configs))
	var first []time.Duration
	for i, cfg := range configs {
		l, err := s.load(ctx, cfg)
		if err != nil {
			return nil, nil, err
		}
		t := newTimings(l.Plan, s.batchOf(l.Plan))
		r, err := s.time(ctx, l, t, p)
		if err != nil {
			return nil, nil, err
		}
		if reports = append(reports, r); i == 0 {
			first = t.latency
			continue
		}
		speed := compare.SpeedApart(first, t.latency)
		speeds[i] = &speed
	}
	return reports, speeds, nil
}

// errTooMany is the error of engines that are not kept at a time.
var errTooMany = errors.New("too many engines to measure side by side")

// timeBeside measures the engines of configurations side by side.
func (s *stages) timeBeside(ctx context.Context, configs []config.Config, p run.Profiling) ([]*report.Timings, []*report.Speed, error) {
	if len(configs) > memoSize {
		return nil, nil, errTooMany
	}
	engines := make([]*run.Loaded, len(configs))
	for range 2 { // the second time all are there, unless loading one gave up another
		for i, cfg := range configs {
			l, err := s.load(ctx, cfg)
			if err != nil {
				return nil, nil, err
			}
			engines[i] = l
		}
	}
	for i, cfg := range configs {
		if l, err := s.load(ctx, cfg); err != nil || l != engines[i] {
			return nil, nil, errors.Join(err, errTooMany)
		}
	}
	s.device.Lock()
	defer s.device.Unlock()
	lanes, all, begin := make([]*compare.Lane, len(configs)), make([]*timings, len(configs)), time.Now()
	for i, l := range engines {
		c, err := s.ready(ctx, l)
		if err != nil {
			return nil, nil, err
		}
		defer c.Close()
		all[i] = newTimings(l.Plan, s.batchOf(l.Plan))
		all[i].of(c)
		lanes[i] = &compare.Lane{Context: c, Turn: s.profiling(compare.Turn(p)), Each: all[i].add}
		s.warnOfSimulation(l.Plan)
	}
	s.progress(report.Progress{Phase: s.measuring()})
	if err := s.warmUp(ctx, lanes, p); err != nil {
		return nil, nil, err
	}
	if err := compare.Alternate(ctx, lanes, s.rounds()); err != nil {
		return nil, nil, err
	}
	return s.sumUp(lanes, all, begin)
}

// warmUp runs every engine for a while.
func (s *stages) warmUp(ctx context.Context, lanes []*compare.Lane, p run.Profiling) error {
	if s.Backend.Info().Estimated {
		return nil
	}
	for _, l := range lanes {
		if err := l.Context.Profile(ctx, run.Profiling{WarmUp: p.WarmUp, Iterations: 1}, func(run.Sample) {}); err != nil {
			return err
		}
	}
	return nil
}

// sumUp returns what was measured side by side, each beside the first.
func (s *stages) sumUp(lanes []*compare.Lane, all []*timings, begin time.Time) ([]*report.Timings, []*report.Speed, error) {
	reports, speeds := make([]*report.Timings, len(lanes)), make([]*report.Speed, len(lanes))
	for i, l := range lanes {
		reports[i] = all[i].report(false, s.Backend.Info().Estimated)
		s.log.timings(reports[i], begin)
		if i == 0 {
			continue
		}
		speed := compare.PairedSpeed(lanes[0].Medians, l.Medians)
		if s.Backend.Info().Estimated {
			speed = report.ExactSpeed(reports[0].EndToEnd.Median, reports[i].EndToEnd.Median)
		}
		speeds[i] = &speed
	}
	return reports, speeds, nil
}
