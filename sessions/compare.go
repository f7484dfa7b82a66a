package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// Contender is one of the ways to run a model that Compare sets side by side.
type Contender struct {
	Name string
	// Backend runs the engine that is built for it; nil stands for the reference evaluation: of the source network where
	// all of it is in FP32, else of the network as it was lowered for the first backend among the contenders.
	Backend run.Backend
}

// Comparing says how contenders are compared.
type Comparing struct {
	Tolerance report.Tolerance
	Half      report.Tolerance // of tensors that either run stores in f16 or bf16
	// Scaled takes the Abs of the tolerances as shares of the RMS of a tensor, as b has it over all items, and integers must
	// be equal. What is lowered to FP16 or INT8 is then compared by what its rounding explains, which is measured.
	Scaled   bool
	PerLayer bool // tensors of layers too
}

// tolerance returns the tolerance for a tensor that the two runs store in these types.
func (c Comparing) tolerance(types ...graph.DataType) report.Tolerance {
	for _, t := range types {
		if t == graph.F16 || t == graph.BF16 {
			return c.Half
		}
	}
	return c.Tolerance
}

// compare is Compare where no device is lost.
func compare(ctx context.Context, m *Model, w Workplace, cfg config.Config, on []Contender, c Comparing, progress func(report.Progress)) (*report.Comparison, error) {
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
	r := &report.Comparison{
		Model: m.Name(), Precision: string(cfg.Precision), Data: w.Data.Name(), Random: w.Data.Random(), Tolerance: c.Tolerance, Half: c.Half, Scaled: c.Scaled, Passed: true,
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
	var fp32 *reference32
	if c.Scaled && len(pairs) > 0 {
		r.Rounding = m.rounding(cfg)
	}
	if r.Rounding != nil {
		fp32, err = first.newReference32(ctx, cfg, c.PerLayer)
		if fp32 != nil {
			defer fp32.close()
			fp32.factors = r.Rounding
		}
		if err != nil {
			return nil, fmt.Errorf("FP32, which shows what rounding explains: %w", err)
		}
	}
	for i := range all.count() {
		b := all.at(i)
		if err := compareBatch(ctx, b, runs, pairs, fp32, c.PerLayer, progress); err != nil {
			return nil, err
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

// compareBatch runs a batch on all, and on FP32 where it is there, and compares what they make of it.
func compareBatch(ctx context.Context, b itemBatch, runs []*contestant, pairs []*pair, fp32 *reference32, perLayer bool, progress func(report.Progress)) error {
	in, err := b.inputs()
	if err != nil {
		return err
	}
	for _, one := range runs {
		one.now, one.batch = report.Progress{Phase: "running on " + one.name, Done: b.first, Total: b.items}, b
		progress(one.now)
		if err := one.run(ctx, in, perLayer); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	if fp32 != nil {
		progress(report.Progress{Phase: "running FP32", Done: b.first, Total: b.items})
		if err := fp32.run(ctx, b, in); err != nil {
			return fmt.Errorf("FP32: %w", err)
		}
	}
	for _, p := range pairs {
		if err := p.add(b, fp32); err != nil {
			return err
		}
	}
	return nil
}

// firstStages returns the stages of the first backend. Where there are several, tactics that one has are unknown to
// another, and that is a warning.
func firstStages(m *Model, w Workplace, on []Contender, progress func(report.Progress)) *stages {
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
		s.unknown = func(_ config.Config, err error) error {
			if w.Warn != nil {
				w.Warn(err.Error())
			}
			return nil
		}
	}
	return s
}

// contestants builds an engine for every contender. Calibration is done once, by the first of them.
func contestants(ctx context.Context, m *Model, w Workplace, cfg config.Config, on []Contender, progress func(report.Progress)) ([]*contestant, error) {
	var runs []*contestant
	engine := firstStages(m, w, on, progress)
	lowest, _, err := cfg.Lowering()
	if err != nil {
		return nil, err
	}
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
		case c.Backend == nil && lowest == graph.F32:
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

// add compares what the two made of a batch, which FP32, if it is there, explains.
func (p *pair) add(batch itemBatch, fp32 *reference32) error {
	for i, t := range p.first.stages.model.Network.Outputs {
		d := &p.outputs[i]
		a, b := p.first.outputs[t.Name], p.second.outputs[t.Name]
		var ref graph.Value
		var explained *report.RoundingFactors
		if fp32 != nil && a.Type.IsFloat() && b.Type.IsFloat() {
			ref, explained = fp32.outputs[t.Name], fp32.factors
		}
		d.between(p.how, [2]graph.DataType{a.Type, b.Type}, a.Type.IsFloat(), explained)
		if err := d.add(batch.first, batch.axis(t.Dims), a, b, ref); err != nil {
			return fmt.Errorf("output %s of %s and %s: %w", t.Name, p.first.name, p.second.name, err)
		}
	}
	for name, a := range p.first.tensors { // each into a sum of its own: the order does not matter
		b, ok := p.second.tensors[name]
		if !ok {
			continue
		}
		var ref graph.Value
		var explained *report.RoundingFactors
		if fp32 != nil {
			if v, ok := fp32.layer(batch, a.tensor); ok {
				ref, explained = v, fp32.factors
			}
		}
		d := p.layers[name]
		if d == nil {
			d = &difference{}
			p.layers[name] = d
		}
		d.between(p.how, [2]graph.DataType{a.stored, b.stored}, a.value.Type.IsFloat(), explained)
		if err := d.add(batch.first, batch.axis(a.tensor.Dims), a.value, b.value, ref); err != nil {
			return fmt.Errorf("tensor %s of %s and %s: %w", name, p.first.name, p.second.name, err)
		}
	}
	return nil
}

// report sums the comparison up.
func (p *pair) report() report.Pair {
	r := report.Pair{First: p.first.name, Second: p.second.name, Passed: true}
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
