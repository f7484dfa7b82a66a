package sessions

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// reference holds what FP32 gives for every item of the data: the outputs, as long as they are small enough to keep.
type reference struct {
	outputs []map[string]graph.Value
	bytes   int
}

// maxReferenceBytes bounds the outputs that are kept; items beyond it are not compared.
const maxReferenceBytes = 256 << 20

// fp32 returns the configuration whose engine is the reference: everything fused as by default, nothing lowered.
func (s *stages) fp32(cfg config.Config) config.Config {
	return config.Config{Precision: config.FP32, Batch: cfg.Batch, Shapes: cfg.Shapes}
}

// referenceOutputs runs the FP32 engine over the data, once for each set of shapes.
func (s *stages) referenceOutputs(ctx context.Context, cfg config.Config) (*reference, error) {
	if err := s.model.needsSource("comparing with FP32"); err != nil {
		return nil, err
	}
	base := s.fp32(cfg)
	var loaded *run.Loaded
	err := s.asOne("built the FP32 reference", func() (err error) {
		loaded, err = s.loadReference(ctx, base)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.reference.get(key(base), func() (*reference, error) {
		r := &reference{}
		err := s.forEach(ctx, cfg, loaded, "running FP32", func(_ int, out map[string]graph.Value) bool {
			r.outputs = append(r.outputs, out)
			for _, v := range out {
				r.bytes += len(v.Data)
			}
			return r.bytes < maxReferenceBytes
		})
		return r, err
	})
}

// loadReference returns the FP32 engine, on the host where the device is another one: there it is planned by the host's
// best guess, since nobody asks how fast it is.
func (s *stages) loadReference(ctx context.Context, base config.Config) (*run.Loaded, error) {
	if s.Host == nil {
		return s.load(ctx, base)
	}
	l, err := s.lower(ctx, base)
	if err != nil {
		return nil, err
	}
	env, err := s.env(base)
	if err != nil {
		return nil, err
	}
	s.onHost.drop = (*run.Loaded).Close
	return s.onHost.get(key(base), func() (*run.Loaded, error) {
		s.progress(report.Progress{Phase: "preparing FP32"})
		p, err := build.Plan(ctx, l.Network, env, s.Host, build.PlanConfig{Untimed: true})
		if err != nil {
			return nil, err
		}
		return run.LoadTelling(ctx, p, s.Host, func(done, total int, layer string) {
			s.progress(report.Progress{Phase: "preparing FP32", Item: layer, Done: done, Total: total})
		})
	})
}

// accuracy compares the configuration's engine with FP32: outputs and labels over all data, layers over a few items.
func (s *stages) accuracy(ctx context.Context, cfg config.Config, perLayer bool) (*report.Accuracy, error) {
	pc, err := s.passConfig(cfg)
	if err != nil {
		return nil, err
	}
	return s.accuracies.get(key(s.planKey(cfg, pc), perLayer), func() (*report.Accuracy, error) {
		begin := time.Now()
		r, err := s.compare(ctx, cfg, perLayer)
		if err == nil {
			s.logAccuracy(r, begin)
		}
		return r, err
	})
}

func (s *stages) compare(ctx context.Context, cfg config.Config, perLayer bool) (*report.Accuracy, error) {
	ref, err := s.referenceOutputs(ctx, cfg)
	if err != nil {
		return nil, err
	}
	loaded, err := s.load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	r := &report.Accuracy{Precision: string(cfg.Precision), Tolerance: layerTolerance, Random: s.Data.Random()}
	if s.needsCalibration(cfg) {
		r.Calibrator, r.Ranges, r.RandomRanges = cfg.Calibrator, s.rangesFrom(cfg), s.randomCalibration(cfg)
	}
	errs := make([]quant.ErrorAccumulator, len(s.model.Network.Outputs))
	all, err := s.batches(cfg, 0)
	if err != nil {
		return nil, err
	}
	score := newScore(s, cfg)
	if err := score.checkLabels(ref.outputs[0]); err != nil {
		return nil, err
	}
	var differs error
	err = s.forEach(ctx, cfg, loaded, "comparing outputs", func(b int, out map[string]graph.Value) bool {
		want, got := all.At(b).Outputs(ref.outputs[b]), all.At(b).Outputs(out)
		for i, t := range s.model.Network.Outputs {
			if e := errs[i].Add(want[t.Name].Floats(), got[t.Name].Floats()); e != nil {
				differs = fmt.Errorf("output %s: %w", t.Name, e)
				return false
			}
		}
		score.add(b, ref.outputs[b], out)
		return b+1 < len(ref.outputs)
	})
	if err = cmp.Or(err, differs); err != nil {
		return nil, err
	}
	for i, t := range s.model.Network.Outputs {
		r.Outputs = append(r.Outputs, report.OutputError{Name: t.Name, Errors: compare.ErrorsOf(errs[i].Errors())})
	}
	r.Labels, r.Items = score.result()
	if perLayer {
		if err := s.layerErrors(ctx, cfg, loaded, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// layerTolerance is the SQNR in dB under which a layer counts as bad: noise of a hundredth of the signal's power.
const layerTolerance = 20

// layerErrors compares every engine layer's output with the source network's FP32 tensor of that name. The engine
// stays as it is: what is compared is read where the fused layers leave it. A layer's accumulated error is that of the
// engine as it runs, its local error that of the layer alone on FP32's inputs.
func (s *stages) layerErrors(ctx context.Context, cfg config.Config, l *run.Loaded, r *report.Accuracy) error {
	s.device.Lock()
	defer s.device.Unlock()
	env, err := s.env(cfg)
	if err != nil {
		return err
	}
	engine, err := l.NewContext()
	if err != nil {
		return err
	}
	defer engine.Close()
	acc := make([]stepErrors, len(l.Plan.Steps))
	local := make([]stepErrors, len(l.Plan.Steps))
	items := s.TapItems
	if items <= 0 {
		items = 8
	}
	all, err := s.batches(cfg, items)
	if err != nil {
		return err
	}
	taps := 0 // two for each batch
	now := func() report.Progress {
		return report.Progress{Phase: "comparing layers", Done: taps, Total: 2 * all.Count()}
	}
	s.watch(ctx, engine, func() (report.Progress, int) { return now(), 1 })
	for b := range all.Count() {
		s.progress(now())
		batch := all.At(b)
		in, err := batch.Inputs()
		if err != nil {
			return err
		}
		want, err := s.referenceTensors(ctx, env, b, in)
		if err != nil {
			return err
		}
		for _, errs := range []struct {
			of    []stepErrors
			alone bool
		}{{acc, false}, {local, true}} {
			if err := engine.SetInputs(in); err != nil {
				return err
			}
			if err := tap(ctx, engine, l.Plan, batch, want, errs.of, errs.alone); err != nil {
				return err
			}
			taps++
		}
		r.TapItems += batch.Count
	}
	s.layerReport(l.Plan, acc, local, r)
	return nil
}

// maxTapBytes bounds the FP32 tensors of one batch that are kept from one comparison to the next.
const maxTapBytes = 16 << 20

// referenceTensors returns every real tensor of the source network in FP32 for batch b, from memory where they are small
// enough to have been kept.
func (s *stages) referenceTensors(ctx context.Context, env map[string]int, b int, in map[string]graph.Value) (map[string]graph.Value, error) {
	k := key(env, b)
	if all, ok := s.tensors.values[k]; ok {
		return all, nil
	}
	src, err := build.NewReference(ctx, s.model.Network, env, s.host())
	if err != nil {
		return nil, err
	}
	defer src.Close()
	all, err := src.Tensors(ctx, in)
	if err != nil {
		return nil, err
	}
	bytes := 0
	for _, v := range all {
		bytes += len(v.Data)
	}
	if bytes <= maxTapBytes {
		s.tensors.keep(k, all)
	}
	return all, nil
}

// stepErrors measures the error at the outputs of a step, and where in the first one it sits.
type stepErrors struct {
	quant.ErrorAccumulator
	where errorMap
}

// tap runs the engine on a batch step by step and compares each layer's outputs; alone first gives each step FP32's inputs.
func tap(ctx context.Context, c *run.ExecutionContext, p *run.Plan, batch compare.Batch, want map[string]graph.Value, errs []stepErrors, alone bool) error {
	o := run.Observer{After: func(i int) error {
		if p.Steps[i].Reformat {
			return nil
		}
		for k, out := range p.Steps[i].Out {
			t := p.Slots[out].Tensor
			ref, ok := compare.SourceTensor(want, t)
			if !ok {
				continue
			}
			v, err := c.Read(out)
			if err != nil {
				return err
			}
			at := batch.Axis(t.Dims)
			ref = batch.Counted(ref, at)
			want, got := ref.Floats(), batch.Counted(graph.ToReal(v, t.Range), at).Floats()
			if err := errs[i].Add(want, got); err != nil {
				return fmt.Errorf("layer %s: tensor %s: %w", p.Steps[i].Name, t.Name, err)
			}
			if k == 0 {
				errs[i].where.add(want, got, ref.Dims)
			}
		}
		return nil
	}}
	if alone {
		o.Before = func(i int) error {
			for _, in := range p.Steps[i].In {
				if in < 0 {
					continue
				}
				t := p.Slots[in].Tensor
				ref, ok := compare.SourceTensor(want, t)
				if !ok {
					continue
				}
				d := p.Slots[in].Desc
				v := graph.NewValue(d.Type, d.Dims...)
				graph.FromReal(v, ref.Floats(), t.Range)
				if err := c.Write(in, v); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return c.Observe(ctx, o)
}

// layerReport fills in the report's layers, and the first one under the tolerance.
func (s *stages) layerReport(p *run.Plan, acc, local []stepErrors, r *report.Accuracy) {
	for i, step := range p.Steps {
		a := acc[i].Errors()
		if step.Reformat || a.Count == 0 {
			continue
		}
		e := report.LayerError{
			Name: step.Name, Op: step.Layer.Op.Name, Precision: precisionOf(step.Layer), From: step.From,
			Tensor: step.Layer.Outputs[0].Name, Accumulated: compare.ErrorsOf(a), Local: compare.ErrorsOf(local[i].Errors()),
			AccumulatedMap: acc[i].where.report(), LocalMap: local[i].where.report(),
		}
		r.Layers = append(r.Layers, e)
		if r.FirstBad == "" && e.Accumulated.SQNR < r.Tolerance {
			r.FirstBad = e.Name
		}
	}
}

// precisionOf returns the type in which a layer computes: that of its first quantised or 16-bit input, else of its
// output.
func precisionOf(l *graph.Layer) string { return build.PrecisionOf(l).String() }
