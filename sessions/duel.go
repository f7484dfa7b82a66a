package sessions

import (
	"context"
	"errors"
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

// Duel makes the wanted parts of a snapshot for two configurations, of one model or of two, on one device or on two, and measures
// their times in the same rounds, so long in all as p says for each: what slows the machine down for a while does so for both. The
// second one's timings say how fast it is beside the first. Where there is no room for both at a time, or one's times are
// estimates, each is measured by itself and nothing is said of the two.
func Duel(ctx context.Context, a, b Rival, parts report.Parts, p run.Profiling) (*report.Snapshot, *report.Snapshot, error) {
	pair, snaps, built := [2]Rival{a, b}, [2]*report.Snapshot{}, [2]time.Duration{}
	for i, c := range pair {
		begin := time.Now()
		wanted := parts&^(report.PartTimings|report.PartOverview) | report.PartMemory
		if c.stages.Model.Stripped { // there is nothing to compare it with
			wanted &^= report.PartAccuracy | report.PartScore
		}
		snap, err := c.Report(ctx, c.Config, wanted, p)
		if err != nil {
			return nil, nil, err
		}
		snaps[i], built[i] = snap, time.Since(begin)
	}
	err := besides(ctx, pair, snaps, p)
	if errors.As(err, new(*run.NoRoom)) || errors.Is(err, stages.ErrTooMany) {
		err = eachAlone(ctx, pair, snaps, p)
	}
	if err != nil {
		return nil, nil, err
	}
	for i, c := range pair {
		plan, err := c.stages.Tuning.Plan(ctx, c.Config)
		if err != nil {
			return nil, nil, err
		}
		snaps[i].Overview = c.stages.SumUp(c.Config, plan, snaps[i].Timings)
		snaps[i].Overview.BuildTime = built[i]
	}
	return snaps[0], snaps[1], nil
}

// eachAlone measures each by itself.
func eachAlone(ctx context.Context, pair [2]Rival, snaps [2]*report.Snapshot, p run.Profiling) error {
	for i, c := range pair {
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

// besides measures both in the same rounds.
func besides(ctx context.Context, pair [2]Rival, snaps [2]*report.Snapshot, p run.Profiling) error {
	if pair[0].stages.Device.Estimated() || pair[1].stages.Device.Estimated() {
		return stages.ErrTooMany
	}
	lanes, all, engines := make([]*compare.Lane, 2), [2]*describe.Times{}, [2]*run.Loaded{}
	for i, c := range pair {
		var err error
		if engines[i], err = c.stages.Engines.Load(ctx, c.Config); err != nil {
			return err
		}
	}
	for i, c := range pair {
		if i == 0 || c.stages.Device != pair[0].stages.Device {
			c.stages.Device.Busy.Lock()
			defer c.stages.Device.Busy.Unlock()
		}
	}
	for i, c := range pair {
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
	pair[0].stages.Told.Progress(report.Progress{Phase: "measuring", Item: "side by side"})
	for _, l := range lanes {
		if err := l.Context.Profile(ctx, run.Profiling{WarmUp: p.WarmUp, Iterations: 1}, func(run.Sample) {}); err != nil {
			return err
		}
	}
	if err := pair[0].stages.Device.Alternate(ctx, lanes); err != nil {
		return err
	}
	for i, c := range pair {
		snaps[i].Timings = all[i].Report(false, false)
		snaps[i].Timings.Rounds = stages.RoundsOf(lanes[i])
		c.stages.Told.Log.Timings(snaps[i].Timings, begin)
	}
	snaps[1].Timings.Beside = &report.Beside{Config: pair[0].Config, Speed: compare.PairedSpeed(lanes[0].Medians, lanes[1].Medians)}
	return nil
}
