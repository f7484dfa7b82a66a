package stages

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// pointTime is how long an engine of a search is measured.
var pointTime = run.Profiling{WarmUp: 50 * time.Millisecond, Iterations: 20, Duration: 200 * time.Millisecond}

// measure builds the engine of a set and measures it; fresh is false where that was done before.
func (g *searching) measure(ctx context.Context, chosen []int, noise float64, why string) (p report.SearchPoint, fresh bool, err error) {
	cfg := g.configured(chosen)
	p = report.SearchPoint{Why: why, Predicted: report.Ratio(noise)}
	for i, k := range chosen {
		if k >= 0 {
			p.Raised += len(g.parts[i].source)
		}
	}
	id := key(cfg)
	if i, ok := g.tried[id]; ok {
		return g.report.Points[i], false, nil
	}
	known, ok := g.State.point(id)
	if ok {
		known.Predicted = p.Predicted
		p = known
		g.report.Resumed++
	} else if err = g.build(ctx, cfg, &p); err != nil {
		return p, false, err
	}
	g.tried[id] = len(g.report.Points)
	g.report.Add(p)
	g.State.add(id, p)
	g.show()
	return g.report.Points[g.tried[id]], true, nil
}

// configured returns the configuration of a set.
func (g *searching) configured(chosen []int) config.Config {
	cfg := g.config.Clone()
	for i, k := range chosen {
		if k >= 0 {
			cfg = set(cfg, g.choices[i][k].to, g.parts[i].source)
		}
	}
	if g.unquantised(chosen) && len(g.config.LayerPrecisions) == 0 {
		cfg.Precision, cfg.LayerPrecisions = config.FP32, nil
	}
	return cfg
}

// unquantised reports whether a set leaves no part in INT8, and none in another precision than FP32: it is the model as it was.
func (s space) unquantised(chosen []int) bool {
	for i, k := range chosen {
		if k < 0 || s.choices[i][k].to != config.FP32 {
			return false
		}
	}
	return len(chosen) > 0
}

// build builds an engine and measures its accuracy and its latency.
func (g *searching) build(ctx context.Context, cfg config.Config, p *report.SearchPoint) error {
	a, err := g.accuracy.Of(ctx, cfg, false)
	if err != nil {
		return err
	}
	loaded, err := g.accuracy.engines.Load(ctx, cfg)
	if err != nil {
		return err
	}
	times, err := g.timing.Time(ctx, loaded, describe.NewTimes(loaded.Plan, model.BatchOf(loaded.Plan)), pointTime)
	if err != nil {
		return err
	}
	p.Point, _ = report.PointOf(&report.Snapshot{Config: cfg, Accuracy: a, Timings: times, Memory: describe.Memory(loaded.Plan)})
	p.Tuned = costOfPlan(loaded.Plan).time
	if m, ok := a.Metric(); ok {
		p.Task, p.Drop = &m, &m.Drop
	}
	return nil
}
