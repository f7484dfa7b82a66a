package stages

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// timing measures how long engines take: one by itself, or several side by side.
type timing struct {
	told       *Audience
	device     *device
	engines    *engines
	inferences *inferences
}

// Time measures an engine; t collects the samples.
func (m *timing) Time(ctx context.Context, l *run.Loaded, t *describe.Times, p run.Profiling) (*report.Timings, error) {
	m.device.Busy.Lock()
	defer m.device.Busy.Unlock()
	c, err := m.inferences.Ready(ctx, l)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	m.told.Progress(report.Progress{Phase: m.device.Measuring()})
	t.Of(c)
	begin, last := time.Now(), time.Now()
	err = c.Profile(ctx, m.device.Profiling(p), func(s run.Sample) {
		t.Add(s)
		if time.Since(last) >= ProgressInterval {
			last = time.Now()
			m.told.Progress(report.Progress{Phase: m.device.Measuring(), Item: fmt.Sprintf("%s, median of %d so far", report.Duration(describe.LatencyOf(t.Latency).Median), len(t.Latency))})
		}
	})
	if err == nil && p.PerStep {
		err = m.device.UnderCeilings(ctx, t)
	}
	r := t.Report(false, m.device.Estimated())
	r.Walltime = t.Walltime()
	if err == nil {
		m.told.Log.Timings(r, begin)
	}
	return r, err
}

// All measures the engines of configurations side by side, or one after the other where they are too many or too large
// to be on the device at a time. The first one, with which the others are compared, has no speed. Rounds are added to those that kept,
// which may be nil, has of the same engines.
func (m *timing) All(ctx context.Context, configs []config.Config, p run.Profiling, kept *Together) ([]*report.Timings, []*report.Speed, error) {
	reports, speeds, err := m.beside(ctx, configs, p, kept)
	if !errors.As(err, new(*run.NoRoom)) && !errors.Is(err, ErrTooMany) {
		return reports, speeds, err
	}
	reports, speeds = nil, make([]*report.Speed, len(configs))
	var first []time.Duration
	for i, cfg := range configs {
		l, err := m.engines.Load(ctx, cfg)
		if err != nil {
			return nil, nil, err
		}
		t := describe.NewTimes(l.Plan, model.BatchOf(l.Plan))
		r, err := m.Time(ctx, l, t, p)
		if err != nil {
			return nil, nil, err
		}
		if reports = append(reports, r); i == 0 {
			first = t.Latency
			continue
		}
		speed := compare.SpeedApart(first, t.Latency)
		speeds[i] = &speed
	}
	return reports, speeds, nil
}

// ErrTooMany is the error of engines that are not kept at a time.
var ErrTooMany = errors.New("too many engines to measure side by side")

// beside measures the engines of configurations side by side.
func (m *timing) beside(ctx context.Context, configs []config.Config, p run.Profiling, kept *Together) ([]*report.Timings, []*report.Speed, error) {
	if len(configs) > MemoSize {
		return nil, nil, ErrTooMany
	}
	engines := make([]*run.Loaded, len(configs))
	for range 2 { // the second time all are there, unless loading one gave up another
		for i, cfg := range configs {
			l, err := m.engines.Load(ctx, cfg)
			if err != nil {
				return nil, nil, err
			}
			engines[i] = l
		}
	}
	for i, cfg := range configs {
		if l, err := m.engines.Load(ctx, cfg); err != nil || l != engines[i] {
			return nil, nil, errors.Join(err, ErrTooMany)
		}
	}
	m.device.Busy.Lock()
	defer m.device.Busy.Unlock()
	all, lanes := kept.of(engines)
	begin := time.Now()
	for i, l := range engines {
		c, err := m.inferences.Ready(ctx, l)
		if err != nil {
			return nil, nil, err
		}
		defer c.Close()
		all[i].Of(c)
		lanes[i].Context, lanes[i].Turn, lanes[i].Each = c, m.device.Turn(p), all[i].Add
		m.device.WarnOfSimulation(l.Plan)
	}
	m.told.Progress(report.Progress{Phase: m.device.Measuring()})
	if err := m.warmUp(ctx, lanes, p); err != nil {
		return nil, nil, err
	}
	if err := m.device.Alternate(ctx, lanes); err != nil {
		return nil, nil, err
	}
	kept.keep(all, lanes)
	for i, t := range all {
		t.Rounds = max(compare.Rounds, len(lanes[i].Medians))
		if p.PerStep {
			if err := m.device.UnderCeilings(ctx, t); err != nil {
				return nil, nil, err
			}
		}
	}
	return m.sumUp(lanes, all, begin)
}

// warmUp runs every engine for a while.
func (m *timing) warmUp(ctx context.Context, lanes []*compare.Lane, p run.Profiling) error {
	if m.device.Estimated() {
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
func (m *timing) sumUp(lanes []*compare.Lane, all []*describe.Times, begin time.Time) ([]*report.Timings, []*report.Speed, error) {
	reports, speeds := make([]*report.Timings, len(lanes)), make([]*report.Speed, len(lanes))
	for i, l := range lanes {
		reports[i] = all[i].Report(false, m.device.Estimated())
		reports[i].Rounds = RoundsOf(l)
		m.told.Log.Timings(reports[i], begin)
		if i == 0 {
			continue
		}
		speed := compare.PairedSpeed(lanes[0].Medians, l.Medians)
		if m.device.Estimated() {
			speed = report.ExactSpeed(reports[0].EndToEnd.Median, reports[i].EndToEnd.Median)
		}
		speeds[i] = &speed
	}
	return reports, speeds, nil
}

// Point measures a context, which is at the plan's extents, on inputs.
func (m *timing) Point(ctx context.Context, c *run.ExecutionContext, at *run.Plan, in map[string]numeric.Value, p run.Profiling) (report.SweepPoint, error) {
	if err := c.SetInputs(in); err != nil {
		return report.SweepPoint{}, err
	}
	m.device.Busy.Lock()
	defer m.device.Busy.Unlock()
	var samples []time.Duration
	err := c.Profile(ctx, m.device.Profiling(p), func(s run.Sample) { samples = append(samples, s.Latency) })
	point := summed(at, describe.LatencyOf(samples))
	m.bound(&point, samples)
	point.HeldBytes = c.Held()
	return point, err
}

// bound adds the interval in which a point's median lies, where times vary.
func (m *timing) bound(p *report.SweepPoint, samples []time.Duration) {
	if i := compare.IntervalOf(samples); !m.device.Estimated() {
		p.Low, p.High = time.Duration(i.Low), time.Duration(i.High)
	}
}

// summed returns the point of a plan at its extents, with its latency.
func summed(p *run.Plan, l report.Latency) report.SweepPoint {
	batch := model.BatchOf(p)
	return report.SweepPoint{Batch: batch, Latency: l, Throughput: l.Rate(batch), MemoryBytes: p.LiveBytes()}
}
