package sessions

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Rival is a configuration of a runner's model.
type Rival struct {
	*Runner
	Config config.Config
}

// Duel is [Contest] of two.
func Duel(ctx context.Context, a, b Rival, parts report.Parts, p run.Profiling) (*report.Snapshot, *report.Snapshot, error) {
	snaps, err := Contest(ctx, []Rival{a, b}, parts, p)
	if err != nil {
		return nil, nil, err
	}
	return snaps[0], snaps[1], nil
}

// Contest makes the wanted parts of a snapshot for configurations, of one model or of several, on one device or on several, and
// measures their times in the same rounds, so long in all as p says for each: what slows the machine down for a while does so for all.
// The timings of those behind the first say how fast they are beside it. Where there is no room for all at a time, or one's times are
// estimates, each is measured by itself and nothing is said of them together.
func Contest(ctx context.Context, rivals []Rival, parts report.Parts, p run.Profiling) ([]*report.Snapshot, error) {
	snaps, built := make([]*report.Snapshot, len(rivals)), make([]time.Duration, len(rivals))
	for i, c := range rivals {
		begin := time.Now()
		wanted := parts&^(report.PartTimings|report.PartOverview) | report.PartMemory
		snap, err := c.Report(ctx, c.Config, wanted, p)
		if err != nil {
			return nil, err
		}
		snaps[i], built[i] = snap, time.Since(begin)
	}
	err := besides(ctx, rivals, snaps, p)
	if errors.As(err, new(*run.NoRoom)) || errors.Is(err, stages.ErrTooMany) {
		err = eachAlone(ctx, rivals, snaps, p)
	}
	if err != nil {
		return nil, err
	}
	for i, c := range rivals {
		plan, err := c.stages.Tuning.Plan(ctx, c.Config)
		if err != nil {
			return nil, err
		}
		snaps[i].Overview = c.stages.SumUp(c.Config, plan, snaps[i].Timings)
		snaps[i].Overview.BuildTime = built[i]
	}
	return snaps, nil
}

// eachAlone measures each by itself.
func eachAlone(ctx context.Context, rivals []Rival, snaps []*report.Snapshot, p run.Profiling) error {
	for i, c := range rivals {
		l, err := c.stages.Engines.Load(ctx, c.Config)
		if err != nil {
			return err
		}
		if snaps[i].Timings, err = c.stages.Timing.Time(ctx, l, describe.NewTimes(l.Plan, model.BatchOf(l.Plan)), p); err != nil {
			return err
		}
	}
	return nil
}

// besides measures all in the same rounds.
func besides(ctx context.Context, rivals []Rival, snaps []*report.Snapshot, p run.Profiling) error {
	if slices.ContainsFunc(rivals, func(r Rival) bool { return r.stages.Device.Estimated() }) {
		return stages.ErrTooMany
	}
	lanes, all, engines := make([]*compare.Lane, len(rivals)), make([]*describe.Times, len(rivals)), make([]*run.Loaded, len(rivals))
	for i, c := range rivals {
		var err error
		if engines[i], err = c.stages.Engines.Load(ctx, c.Config); err != nil {
			return err
		}
	}
	for i, c := range rivals {
		if !slices.ContainsFunc(rivals[:i], func(r Rival) bool { return r.stages.Device == c.stages.Device }) {
			c.stages.Device.Busy.Lock()
			defer c.stages.Device.Busy.Unlock()
		}
	}
	for i, c := range rivals {
		l := engines[i]
		x, err := c.stages.Inferences.Ready(ctx, l)
		if err != nil {
			return err
		}
		defer x.Close()
		all[i] = describe.NewTimes(l.Plan, model.BatchOf(l.Plan))
		all[i].Of(x)
		lanes[i] = &compare.Lane{Context: x, Turn: c.stages.Device.Turn(p), Each: all[i].Add}
	}
	begin := time.Now()
	rivals[0].stages.Told.Progress(report.Progress{Phase: "measuring", Item: "side by side"})
	for _, l := range lanes {
		if err := l.Context.Profile(ctx, run.Profiling{WarmUp: p.WarmUp, Iterations: 1}, func(run.Sample) {}); err != nil {
			return err
		}
	}
	if err := rivals[0].stages.Device.Alternate(ctx, lanes); err != nil {
		return err
	}
	for i, c := range rivals {
		snaps[i].Timings = all[i].Report(false, false)
		snaps[i].Timings.Rounds = stages.RoundsOf(lanes[i])
		c.stages.Told.Log.Timings(snaps[i].Timings, begin)
		if i > 0 {
			snaps[i].Timings.Beside = &report.Beside{Config: rivals[0].Config, Speed: compare.PairedSpeed(lanes[0].Medians, lanes[i].Medians)}
		}
	}
	return nil
}
