package sessions

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Compared is what came of one of several configurations, and how fast it is beside the first of them; nil for that.
type Compared struct {
	*report.Snapshot
	Speed *report.Speed
}

// Compare makes the wanted parts of a snapshot for every configuration, and measures their times side by side: in rounds, as
// long in all as p says for each. Where the device has no room for all engines at a time they are measured one after the other,
// which the speeds tell.
func (r *Runner) Compare(ctx context.Context, configs []config.Config, parts report.Parts, p run.Profiling) ([]Compared, error) {
	return compareOn(ctx, r, configs, parts, p, nil)
}

// compareOn is Compare whose rounds are added to those that kept has.
func compareOn(ctx context.Context, r *Runner, configs []config.Config, parts report.Parts, p run.Profiling, kept *stages.Together) (list []Compared, err error) {
	err = r.surviving(ctx, configs[0], func() error {
		list, err = r.compare(ctx, configs, parts, p, kept)
		return err
	})
	return list, err
}

func (r *Runner) compare(ctx context.Context, configs []config.Config, parts report.Parts, p run.Profiling, kept *stages.Together) ([]Compared, error) {
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
	reports, speeds, err := s.Timing.All(ctx, configs, p, kept)
	if err != nil {
		return nil, err
	}
	for i, cfg := range configs {
		plan, err := s.Tuning.Plan(ctx, cfg)
		if err != nil {
			return nil, err
		}
		list[i].Timings, list[i].Speed = reports[i], speeds[i]
		list[i].Overview = s.SumUp(cfg, plan, reports[i])
		list[i].Overview.BuildTime = built[i]
	}
	return list, nil
}
