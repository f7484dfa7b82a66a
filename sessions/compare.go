package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
)

// Contender is one of the ways to run a model that Compare sets side by side.
type Contender struct {
	Name string
	// Backend runs the engine that is built for it; nil stands for the reference evaluation: of the source network in
	// FP32, and in other precisions of the network as it was lowered for the first backend among the contenders.
	Backend run.Backend
}

// Comparing says how contenders are compared.
type Comparing struct {
	Tolerance Tolerance
	Half      Tolerance // of tensors that either run stores in f16 or bf16
	PerLayer  bool      // tensors of layers too
}

// tolerance returns the tolerance for a tensor that the two runs store in these types.
func (c Comparing) tolerance(types [2]string) Tolerance {
	for _, t := range types {
		if t == graph.F16.String() || t == graph.BF16.String() {
			return c.Half
		}
	}
	return c.Tolerance
}

// compare is Compare where no device is lost.
func compare(ctx context.Context, m *Model, w Workplace, cfg Config, on []Contender, c Comparing, progress func(Progress)) (*ComparisonReport, error) {
	runs, err := contestants(ctx, m, w, cfg, on, progress)
	defer func() {
		for _, r := range runs {
			r.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	first := runs[0].stages
	r := &ComparisonReport{
		Model: m.Name(), Precision: string(cfg.Precision), Data: w.Data.Name(), Random: w.Data.Random(), Tolerance: c.Tolerance, Half: c.Half, Passed: true,
	}
	if first.needsCalibration(cfg) {
		r.Calibrator = cfg.Calibrator
	}
	var pairs []*pair
	for _, other := range runs[1:] {
		pairs = append(pairs, newPair(runs[0], other, c))
	}
	all, err := first.batches(cfg, 0)
	if err != nil {
		return nil, err
	}
	for i := range all.count() {
		b := all.at(i)
		in, err := b.inputs()
		if err != nil {
			return nil, err
		}
		for _, one := range runs {
			one.now, one.batch = Progress{Phase: "running on " + one.name, Done: b.first, Total: all.items}, b
			progress(one.now)
			if err := one.run(ctx, in, c.PerLayer); err != nil {
				return nil, fmt.Errorf("%s: %w", one.name, err)
			}
		}
		for _, p := range pairs {
			if err := p.add(b); err != nil {
				return nil, err
			}
		}
		r.Items += b.count
	}
	for _, one := range runs {
		r.Runs = append(r.Runs, one.report())
	}
	for _, p := range pairs {
		r.Pairs = append(r.Pairs, p.report())
		r.Passed = r.Passed && r.Pairs[len(r.Pairs)-1].Passed
	}
	return r, nil
}

// firstStages returns the stages of the first backend. Where there are several, tactics that one has are unknown to
// another, and that is a warning.
func firstStages(m *Model, w Workplace, on []Contender, progress func(Progress)) *stages {
	s := &stages{Workplace: w, model: m, progress: progress}
	backends := 0
	for _, c := range on {
		if c.Backend == nil {
			continue
		}
		if backends++; backends == 1 {
			s.Backend = c.Backend
		}
	}
	if backends > 1 {
		s.unknown = func(_ Config, err error) error {
			if w.Warn != nil {
				w.Warn(err.Error())
			}
			return nil
		}
	}
	return s
}

// contestants builds an engine for every contender. Calibration is done once, by the first of them.
func contestants(ctx context.Context, m *Model, w Workplace, cfg Config, on []Contender, progress func(Progress)) ([]*contestant, error) {
	var runs []*contestant
	engine := firstStages(m, w, on, progress)
	if engine.needsCalibration(cfg) {
		if _, err := engine.rangesFor(ctx, cfg); err != nil {
			return nil, err
		}
	}
	for _, c := range on {
		one := &contestant{name: c.Name, stages: engine, cfg: cfg, stats: make([]outputStats, len(m.Network.Outputs))}
		runs = append(runs, one)
		var err error
		switch {
		case c.Backend == nil && cfg.Precision == FP32:
			one.network = m.Network
			env, e := engine.env(cfg)
			if err = e; err == nil {
				err = m.checkExtents(env)
			}
		case c.Backend == nil:
			lowered, e := engine.lower(ctx, cfg)
			if err = e; e == nil {
				one.network = lowered.Network
			}
		default:
			if c.Backend != engine.Backend {
				one.stages = &stages{Workplace: w, model: m, progress: progress, hist: engine.hist, ranges: engine.ranges, unknown: engine.unknown}
				one.stages.Backend = c.Backend
			}
			err = one.open(ctx, cfg)
		}
		if err != nil {
			return runs, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return runs, nil
}

// pair compares two contestants.
type pair struct {
	first, second *contestant
	how           Comparing
	outputs       []difference
	layers        map[string]*difference // by tensor
}

func newPair(first, second *contestant, how Comparing) *pair {
	p := &pair{first: first, second: second, how: how, layers: map[string]*difference{}}
	p.outputs = make([]difference, len(first.stages.model.Network.Outputs))
	return p
}

// add compares what the two made of a batch.
func (p *pair) add(batch itemBatch) error {
	for i, t := range p.first.stages.model.Network.Outputs {
		a, b := p.first.outputs[t.Name], p.second.outputs[t.Name]
		types := [2]string{a.Type.String(), b.Type.String()}
		p.outputs[i].types, p.outputs[i].tolerance = types, p.how.tolerance(types)
		if err := p.outputs[i].add(batch.first, batch.axis(t.Dims), a, b); err != nil {
			return fmt.Errorf("output %s of %s and %s: %w", t.Name, p.first.name, p.second.name, err)
		}
	}
	for name, a := range p.first.tensors { // each into a sum of its own: the order does not matter
		b, ok := p.second.tensors[name]
		if !ok {
			continue
		}
		d := p.layers[name]
		if d == nil {
			types := [2]string{a.stored.String(), b.stored.String()}
			d = &difference{tolerance: p.how.tolerance(types), types: types}
			p.layers[name] = d
		}
		if err := d.add(batch.first, a.items, a.value, b.value); err != nil {
			return fmt.Errorf("tensor %s of %s and %s: %w", name, p.first.name, p.second.name, err)
		}
	}
	return nil
}

// report sums the comparison up.
func (p *pair) report() PairReport {
	r := PairReport{First: p.first.name, Second: p.second.name, Passed: true}
	for i, t := range p.first.stages.model.Network.Outputs {
		d := p.outputs[i].report(t.Name)
		r.Outputs = append(r.Outputs, d)
		r.Passed = r.Passed && d.Passed
	}
	if !p.how.PerLayer {
		return r
	}
	p.first.layers(func(l *graph.Layer, t *graph.Tensor) {
		sum := p.layers[t.Name]
		if sum == nil {
			r.Unmatched++
			return
		}
		d := sum.report(t.Name)
		d.Layer, d.Op = l.Name, l.Op.Name
		r.Layers = append(r.Layers, d)
		if !d.Passed && r.FirstBad == "" {
			r.FirstBad = d.Layer
		}
	})
	return r
}
