package stages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// sensitivity finds what each layer in 8 bits takes from the first output, and what raising it wins and costs.
type sensitivity struct {
	studies  *studies
	tuning   *tuning
	timing   *timing
	accuracy *accuracy
}

// raiseShare is the share of the error that the layers of a list of what to raise take away.
const raiseShare = 0.5

// leastTaken is the share of the error below which raising a layer takes none of it away, as where the layer is one of another output.
const leastTaken = 0.001

// Of finds the sensitivities of a configuration's layers. each is told of the report as it grows: what it is given does not change.
func (s *sensitivity) Of(ctx context.Context, cfg config.Config, to config.Precision, each func(*report.Sensitivity)) (*report.Sensitivity, error) {
	begin := time.Now()
	if _, err := quant.NewRule("*", string(to)); err != nil || to == config.INT8 {
		return nil, fmt.Errorf("layers are raised to %s; use fp32, fp16 or int8:token", config.Quoted(string(to)))
	}
	t, err := s.studies.open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	plan, err := s.tuning.Plan(ctx, cfg)
	if err != nil {
		return nil, err
	}
	t.cost = costOfPlan(plan)
	r := &report.Sensitivity{
		Config: cfg, To: string(to), Output: firstOf(s.studies.model), Data: t.from.Name(), Items: t.variants.Items(), Random: t.from.Random(), SQNR: report.Ratio(t.noise),
		Time: t.cost.time, Weights: t.cost.weights, Arena: t.cost.arena, Total: len(t.parts),
	}
	show := func() {
		r.Elapsed = time.Since(begin)
		now := *r
		now.Layers = slices.Clone(r.Layers)
		now.Rank()
		each(&now)
	}
	show()
	for i, p := range t.parts {
		s.studies.told.Progress(report.Progress{Phase: "raising layers", Item: p.name, Done: i, Total: len(t.parts)})
		row, err := t.sensitive(ctx, p, raised(to, p))
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", p.name, err)
		}
		r.Layers = append(r.Layers, row)
		show()
	}
	s.tuning.Save()
	if err := s.list(ctx, t, to, r); err != nil {
		return nil, err
	}
	show()
	if r.Raise != nil && t.data != nil {
		if r.Raise, err = s.measure(ctx, t.config, to, *r.Raise); err != nil {
			return nil, err
		}
	}
	r.Rank()
	r.Elapsed = time.Since(begin)
	s.studies.told.Log.say("info", "", "sensitivity of %s in %s", config.CountOf(len(r.Layers), "layer or group", "layers and groups"), took(begin))
	each(r)
	return r, nil
}

// sensitive returns what a part takes by itself, and what raising it wins and costs.
func (t *study) sensitive(ctx context.Context, p studied, up variant) (report.Sensitive, error) {
	row := report.Sensitive{Name: p.name, Layers: p.source, Group: p.group}
	alone, err := t.noiseOf(ctx, only(p))
	if err != nil {
		return row, err
	}
	noise, err := t.noiseOf(ctx, up)
	if err != nil {
		return row, err
	}
	c, err := t.costOf(ctx, up)
	if err != nil {
		return row, err
	}
	row.Alone, row.Raised = report.Ratio(alone), report.Ratio(noise)
	row.Gain = row.Raised - report.Ratio(t.noise)
	row.Time, row.Weights, row.Arena = c.time-t.cost.time, c.weights-t.cost.weights, c.arena-t.cost.arena
	return row, nil
}

// list chooses which layers to raise, and predicts what comes of it.
func (s *sensitivity) list(ctx context.Context, t *study, to config.Precision, r *report.Sensitivity) error {
	list, least, err := toRaise(apart(r.Layers, t.noise), t.noise, func(layers []string) (float64, error) {
		return t.noiseOf(ctx, raised(to, studied{source: layers}))
	})
	if err != nil {
		return err
	}
	if len(list.Names) == 0 {
		return nil
	}
	c, err := t.costOf(ctx, raised(to, studied{source: list.Layers}))
	if err != nil {
		return err
	}
	list.Predicted = report.Effect{SQNR: r.SQNR, RaisedSQNR: report.Ratio(least), Time: r.Time, RaisedTime: c.time}
	r.Raise = &list
	return nil
}

// toRaise chooses which rows to raise for half of the noise to go, and returns what is left. What options take is added up to choose
// them, and found by running what was chosen; where that is less than was wanted more is chosen. What errors that cancel leave is added
// one by one, the row that takes most by itself first, as long as that wins something beside the others.
func toRaise(rows []report.Sensitive, noise float64, noiseOf func(layers []string) (float64, error)) (list report.RaiseList, least float64, err error) {
	options := make([][]quant.Option, len(rows))
	for i, row := range rows {
		if taken := noise - report.Noise(row.Raised); taken > leastTaken*noise {
			options[i] = []quant.Option{{Noise: taken, Time: float64(row.Time)}}
		}
	}
	least = noise
	enough := func() bool { return err != nil || least <= (1-raiseShare)*noise }
	try := func(l report.RaiseList) {
		var left float64
		if left, err = noiseOf(l.Layers); err == nil && left < least {
			least, list = left, l
		}
	}
	for _, share := range []float64{1, 1.5, 2, 3, 4} {
		if enough() {
			break
		}
		choice, _ := quant.Cheapest(options, share*raiseShare*noise)
		var l report.RaiseList
		for i, k := range choice {
			if k >= 0 {
				l = l.With(rows[i])
			}
		}
		try(l)
	}
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b report.Sensitive) int { return cmp.Compare(a.Alone, b.Alone) })
	for _, row := range rows {
		if enough() {
			break
		}
		if !slices.Contains(list.Names, row.Name) {
			try(list.With(row))
		}
	}
	return list, least, err
}

// apart returns rows of which no two have a layer in common: a group in place of its members where they win more together than
// one by one, and its members where they do not.
func apart(rows []report.Sensitive, noise float64) []report.Sensitive {
	taken := func(r report.Sensitive) float64 { return noise - report.Noise(r.Raised) }
	in := map[string]bool{} // layers that are in a group that is raised whole
	var list []report.Sensitive
	for _, g := range rows {
		if !g.Group {
			continue
		}
		sum, overlaps := 0.0, false
		for _, r := range rows {
			if !r.Group && slices.Contains(g.Layers, r.Layers[0]) {
				sum += max(0, taken(r))
				overlaps = overlaps || in[r.Layers[0]]
			}
		}
		if taken(g) > sum*1.05 && !overlaps {
			list = append(list, g)
			for _, name := range g.Layers {
				in[name] = true
			}
		}
	}
	for _, r := range rows {
		if !r.Group && !in[r.Layers[0]] {
			list = append(list, r)
		}
	}
	return list
}

// raiseTime is how long engines are measured to see what raising layers costs.
var raiseTime = run.Profiling{WarmUp: 50 * time.Millisecond, Iterations: 20, Duration: 300 * time.Millisecond}

// measure compares the engine with layers raised with that without, both with FP32.
func (s *sensitivity) measure(ctx context.Context, cfg config.Config, to config.Precision, list report.RaiseList) (*report.RaiseList, error) {
	up := set(cfg, to, list.Layers)
	var e report.Effect
	for _, one := range []struct {
		config config.Config
		sqnr   *float64
		time   *time.Duration
	}{{cfg, &e.SQNR, &e.Time}, {up, &e.RaisedSQNR, &e.RaisedTime}} {
		a, err := s.accuracy.Of(ctx, one.config, false)
		if err != nil {
			return nil, err
		}
		if first := a.First(); first != nil {
			*one.sqnr = first.SQNR
		}
		p, err := s.tuning.Plan(ctx, one.config)
		if err != nil {
			return nil, err
		}
		*one.time, list.Items = costOfPlan(p).time, a.Items
	}
	_, speeds, err := s.timing.All(ctx, []config.Config{cfg, up}, raiseTime, nil)
	if err != nil {
		return nil, err
	}
	list.Measured, list.Speed = &e, speeds[1]
	return &list, nil
}
