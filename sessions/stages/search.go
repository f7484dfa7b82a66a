package stages

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// mostEngines is how many engines a search builds where nothing else is said.
const mostEngines = 12

// Of searches from a configuration in INT8 on.
func (s *search) Of(ctx context.Context, cfg config.Config, how Tuning) (*report.Search, error) {
	if how.Goal.IsZero() {
		return nil, fmt.Errorf("a search needs a goal: a bound of accuracy or of latency")
	}
	if how.Most <= 0 {
		how.Most = mostEngines
	}
	if how.State == nil {
		how.State = &SearchState{}
	}
	by := *s.studies
	by.together = how.Goal.MaxDrop != nil && s.accuracy.task.Kind == report.TaskDetection // boxes come of several outputs
	s = &search{&by, s.timing, s.accuracy}
	g := &searching{search: s, Tuning: how, begin: time.Now(), config: cfg, tried: map[string]int{}}
	g.report = &report.Search{Base: cfg, Goal: how.Goal, Output: firstOf(s.studies.model), Live: true}
	g.report.AllPredicted = g.report.Output != "" && by.together
	if err := how.State.begin(s.studies, cfg); err != nil {
		return nil, err
	}
	err := g.run(ctx)
	g.report.Live = false
	g.show()
	how.State.flush()
	return g.report, err
}

func (g *searching) run(ctx context.Context) (err error) {
	if g.study, err = g.studies.open(ctx, g.config); err != nil {
		return err
	}
	g.show()
	ways := waysOf(g.config.Quantization.Full(), g.study.base, MultipliesTokens(g.study.source.Network)) // of what the configuration leaves open
	if err = g.settle(ctx); err != nil {
		return err
	}
	if len(g.To) == 0 {
		return g.inINT8(ctx, ways)
	}
	if err = g.chooseRanges(ctx, rangesUntil); err != nil {
		return err
	}
	if err = g.weigh(ctx); err != nil {
		return err
	}
	if g.Goal.MinSQNR != nil && g.Goal.MaxDrop == nil && g.Goal.MinAgreement == nil {
		return (&bySQNR{searching: g}).run(ctx)
	}
	if g.Goal.Accuracy() {
		return g.byLevel(ctx)
	}
	return g.byLatency(ctx)
}

// weigh finds what raising each part by itself takes from the error, and what it costs.
func (g *searching) weigh(ctx context.Context) error {
	t := g.study
	base, err := g.costOf(ctx, variant{})
	if err != nil {
		return err
	}
	t.cost = base
	var rows []report.Sensitive
	all := map[string][]choice{}
	for i, p := range t.parts {
		if g.late(weighedUntil) { // those that are left stay in 8 bits
			break
		}
		g.studies.told.Progress(report.Progress{Phase: "raising layers", Item: p.name, Done: i, Total: len(t.parts)})
		var list []choice
		for _, to := range g.To {
			noise, err := g.noiseOf(ctx, raised(to, p))
			if err != nil {
				return fmt.Errorf("layer %s: %w", p.name, err)
			}
			c, err := g.costOf(ctx, raised(to, p))
			if err != nil {
				return fmt.Errorf("layer %s: %w", p.name, err)
			}
			list = append(list, choice{to, quant.Option{Noise: t.noise - noise, Time: more(c.time, base.time)}})
		}
		all[p.name] = list
		rows = append(rows, report.Sensitive{Name: p.name, Layers: p.source, Group: p.group, Raised: report.Ratio(t.noise - list[0].Noise)})
	}
	for _, r := range apart(rows, t.noise) {
		g.parts = append(g.parts, studied{name: r.Name, source: r.Layers, group: r.Group})
		g.choices = append(g.choices, all[r.Name])
	}
	return nil
}

// levelStep is how near to each other, in dB, the last level that does not do and the first that does are in the end.
const levelStep = 1

// byLevel looks for the least time at which accuracy is within bounds that no prediction knows: by halves between the noise at which it
// is not and the one at which it is.
func (g *searching) byLevel(ctx context.Context) error {
	base := report.Ratio(g.study.noise)
	at := func(level float64) (meets, fresh bool, err error) {
		best, _, err := g.solve(ctx, report.Noise(level))
		if err != nil {
			return false, false, err
		}
		p, fresh, err := g.measure(ctx, best.chosen, best.noise, fmt.Sprintf("predicted to have %.1f dB", report.Ratio(best.noise)))
		return err == nil && g.Goal.Accurate(&p), fresh, err
	}
	meets, _, err := at(base)
	if err != nil || meets {
		return err
	}
	low, high := base, math.Inf(1)
	for step := 3.0; g.goesOn() && math.IsInf(high, 1) && step < 100; step *= 2 {
		if meets, _, err = at(base + step); err != nil {
			return err
		}
		if meets {
			high = base + step
		} else {
			low = base + step
		}
	}
	for g.goesOn() && !math.IsInf(high, 1) && high-low > levelStep {
		middle := (low + high) / 2
		if meets, _, err = at(middle); err != nil {
			return err
		}
		if meets {
			high = middle
		} else {
			low = middle
		}
	}
	return nil
}

// byLatency looks for the most accuracy within a latency.
func (g *searching) byLatency(ctx context.Context) error {
	per := 1.0 // the latency of an engine by the tuner's times of its steps
	for g.goesOn() {
		most := float64(g.Goal.MaxLatency) / per
		seeds := [][]int{g.all(-1), quant.Quietest(g.options(), most-float64(g.study.cost.time))}
		for k := range g.To {
			seeds = append(seeds, g.all(k))
		}
		best, ok, err := g.refine(ctx, leastNoise(most), seeds...)
		if err != nil {
			return err
		}
		p, fresh, err := g.measure(ctx, best.chosen, best.noise, fmt.Sprintf("predicted to have %.1f dB", report.Ratio(best.noise)))
		if err != nil || !fresh || p.Tuned <= 0 || !ok && !p.Meets {
			return err
		}
		per = float64(p.Latency) / float64(p.Tuned)
	}
	return nil
}
