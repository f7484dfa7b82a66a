package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// timing measures how long engines take: one by itself, or several side by side.
type timing struct {
	told       *audience
	device     *device
	engines    *engines
	inferences *inferences
}

// time measures an engine; t collects the samples.
func (m *timing) time(ctx context.Context, l *run.Loaded, t *timings, p run.Profiling) (*report.Timings, error) {
	m.device.busy.Lock()
	defer m.device.busy.Unlock()
	c, err := m.inferences.ready(ctx, l)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	m.told.progress(report.Progress{Phase: m.device.measuring()})
	t.of(c)
	begin, last := time.Now(), time.Now()
	err = c.Profile(ctx, m.device.profiling(p), func(s run.Sample) {
		t.add(s)
		if time.Since(last) >= progressInterval {
			last = time.Now()
			m.told.progress(report.Progress{Phase: m.device.measuring(), Item: fmt.Sprintf("%s, median of %d so far", brief(LatencyOf(t.latency).Median), len(t.latency))})
		}
	})
	if err == nil && p.PerStep {
		err = m.device.underCeilings(ctx, t)
	}
	r := t.report(false, m.device.estimated())
	if err == nil {
		m.told.log.timings(r, begin)
	}
	return r, err
}

// all measures the engines of configurations side by side, or one after the other where they are too many or too large
// to be on the device at a time. The first one, with which the others are compared, has no speed.
func (m *timing) all(ctx context.Context, configs []config.Config, p run.Profiling) ([]*report.Timings, []*report.Speed, error) {
	reports, speeds, err := m.beside(ctx, configs, p)
	if !errors.As(err, new(*run.NoRoom)) && !errors.Is(err, errTooMany) {
		return reports, speeds, err
	}
	reports, speeds = nil, make([]*report.Speed, len(configs))
	var first []time.Duration
	for i, cfg := range configs {
		l, err := m.engines.load(ctx, cfg)
		if err != nil {
			return nil, nil, err
		}
		t := newTimings(l.Plan, model.BatchOf(l.Plan))
		r, err := m.time(ctx, l, t, p)
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

// beside measures the engines of configurations side by side.
func (m *timing) beside(ctx context.Context, configs []config.Config, p run.Profiling) ([]*report.Timings, []*report.Speed, error) {
	if len(configs) > memoSize {
		return nil, nil, errTooMany
	}
	engines := make([]*run.Loaded, len(configs))
	for range 2 { // the second time all are there, unless loading one gave up another
		for i, cfg := range configs {
			l, err := m.engines.load(ctx, cfg)
			if err != nil {
				return nil, nil, err
			}
			engines[i] = l
		}
	}
	for i, cfg := range configs {
		if l, err := m.engines.load(ctx, cfg); err != nil || l != engines[i] {
			return nil, nil, errors.Join(err, errTooMany)
		}
	}
	m.device.busy.Lock()
	defer m.device.busy.Unlock()
	lanes, all, begin := make([]*compare.Lane, len(configs)), make([]*timings, len(configs)), time.Now()
	for i, l := range engines {
		c, err := m.inferences.ready(ctx, l)
		if err != nil {
			return nil, nil, err
		}
		defer c.Close()
		all[i] = newTimings(l.Plan, model.BatchOf(l.Plan))
		all[i].of(c)
		lanes[i] = &compare.Lane{Context: c, Turn: m.device.turn(p), Each: all[i].add}
		m.device.warnOfSimulation(l.Plan)
	}
	m.told.progress(report.Progress{Phase: m.device.measuring()})
	if err := m.warmUp(ctx, lanes, p); err != nil {
		return nil, nil, err
	}
	if err := compare.Alternate(ctx, lanes, m.device.rounds()); err != nil {
		return nil, nil, err
	}
	for _, t := range all {
		if p.PerStep {
			if err := m.device.underCeilings(ctx, t); err != nil {
				return nil, nil, err
			}
		}
	}
	return m.sumUp(lanes, all, begin)
}

// warmUp runs every engine for a while.
func (m *timing) warmUp(ctx context.Context, lanes []*compare.Lane, p run.Profiling) error {
	if m.device.estimated() {
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
func (m *timing) sumUp(lanes []*compare.Lane, all []*timings, begin time.Time) ([]*report.Timings, []*report.Speed, error) {
	reports, speeds := make([]*report.Timings, len(lanes)), make([]*report.Speed, len(lanes))
	for i, l := range lanes {
		reports[i] = all[i].report(false, m.device.estimated())
		reports[i].Rounds = roundsOf(l)
		m.told.log.timings(reports[i], begin)
		if i == 0 {
			continue
		}
		speed := compare.PairedSpeed(lanes[0].Medians, l.Medians)
		if m.device.estimated() {
			speed = report.ExactSpeed(reports[0].EndToEnd.Median, reports[i].EndToEnd.Median)
		}
		speeds[i] = &speed
	}
	return reports, speeds, nil
}

// roundsOf returns what the rounds of a lane came to.
func roundsOf(l *compare.Lane) []report.Round {
	rounds := make([]report.Round, len(l.Medians))
	for i := range rounds {
		rounds[i] = report.Round{Median: l.Medians[i], P99: l.P99s[i]}
	}
	return rounds
}

// point measures a context, which is at the plan's extents, on inputs.
func (m *timing) point(ctx context.Context, c *run.ExecutionContext, at *run.Plan, in map[string]numeric.Value, p run.Profiling) (report.SweepPoint, error) {
	if err := c.SetInputs(in); err != nil {
		return report.SweepPoint{}, err
	}
	m.device.busy.Lock()
	defer m.device.busy.Unlock()
	var samples []time.Duration
	err := c.Profile(ctx, m.device.profiling(p), func(s run.Sample) { samples = append(samples, s.Latency) })
	point := summed(at, LatencyOf(samples))
	point.HeldBytes = c.Held()
	return point, err
}

// summed returns the point of a plan at its extents, with its latency.
func summed(p *run.Plan, l report.Latency) report.SweepPoint {
	point := report.SweepPoint{Batch: model.BatchOf(p), Latency: l, MemoryBytes: p.LiveBytes()}
	if l.Mean > 0 {
		point.Throughput = float64(point.Batch) / l.Mean.Seconds()
	}
	return point
}
