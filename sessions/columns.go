package sessions

import (
	"context"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
)

// Columns measures configurations in the same rounds, so long in all as p says for each, and sets their layers side by side.
func Columns(ctx context.Context, r *Runner, configs []config.Config, p run.Profiling) (*report.Columns, error) {
	return columnsOn(ctx, r, configs, p, nil)
}

// columnsOn is Columns whose rounds are added to those that kept has.
func columnsOn(ctx context.Context, r *Runner, configs []config.Config, p run.Profiling, kept *stages.Together) (*report.Columns, error) {
	p.PerStep = true
	compared, err := compareOn(ctx, r, configs, report.PartOverview|report.PartTimings, p, kept)
	if err != nil {
		return nil, err
	}
	labels, shapes := config.Beside(configs, r.stages.Model.Quantized)
	columns, times := make([]report.Column, len(configs)), make([]*report.Timings, len(configs))
	for i, cfg := range configs {
		columns[i] = report.Column{Label: labels[i], Config: cfg, Speed: compared[i].Speed, Unchanged: compared[i].Overview.Unchanged, Timings: compared[i].Timings, Memory: compared[i].Memory}
		if speed := compared[i].Speed; speed != nil && speed.SideBySide {
			compared[i].Timings.Beside = &report.Beside{Config: configs[0], Speed: *speed}
		}
		times[i] = compared[i].Timings
	}
	c := diff.Across(columns, times, false)
	c.Shapes = shapes
	return c, nil
}
