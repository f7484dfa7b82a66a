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

// prepareReference builds the FP32 engine.
func (s *stages) prepareReference(ctx context.Context, cfg config.Config) error {
	return s.log.asOne("built the FP32 reference", func() error {
		_, err := s.loadReference(ctx, s.fp32(cfg))
		return err
	})
}

// makeReference runs the FP32 engine over the data.
func (s *stages) makeReference(ctx context.Context, in referring) (*reference, error) {
	engines := s.loaded
	if s.Host != nil {
		engines = s.onHost
	}
	loaded, err := engines.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	r := &reference{}
	err = s.forEach(ctx, in.Batch, loaded, "running FP32", func(_ int, out map[string]graph.Value) bool {
		r.outputs = append(r.outputs, out)
		for _, v := range out {
			r.bytes += len(v.Data)
		}
		return r.bytes < maxReferenceBytes
	})
	return r, err
}

// loadReference returns the FP32 engine, on the host where the device is another one.
func (s *stages) loadReference(ctx context.Context, base config.Config) (*run.Loaded, error) {
	if s.Host == nil {
		return s.load(ctx, base)
	}
	if _, err := s.lower(ctx, base); err != nil {
		return nil, err
	}
	in, err := s.planning(base)
	if err != nil {
		return nil, err
	}
	return s.onHost.of(ctx, in)
}

// makeOnHost plans by the host's best guess: nobody asks how fast it is.
func (s *stages) makeOnHost(ctx context.Context, in planning) (*run.Loaded, error) {
	l, err := s.lowered.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	s.progress(report.Progress{Phase: "preparing FP32"})
	p, err := build.Plan(ctx, l.Network, in.symbols(), s.Host, build.PlanConfig{Untimed: true})
	if err != nil {
		return nil, err
	}
	return run.LoadTelling(ctx, p, s.Host, func(done, total int, layer string) {
		s.progress(report.Progress{Phase: "preparing FP32", Item: layer, Done: done, Total: total})
	})
}

// accuracy compares the configuration's engine with FP32: outputs and labels over all data, layers over a few items.
func (s *stages) accuracy(ctx context.Context, cfg config.Config, perLayer bool) (*report.Accuracy, error) {
	in, err := s.examining(cfg, perLayer)
	if err != nil {
		return nil, err
	}
	if r, ok := s.accuracies.known(in); ok {
		return r, nil
	}
	if err := s.model.needsSource("comparing with FP32"); err != nil {
		return nil, err
	}
	if err := s.prepareReference(ctx, cfg); err != nil {
		return nil, err
	}
	if _, err := s.load(ctx, cfg); err != nil {
		return nil, err
	}
	if in, err = s.examining(cfg, perLayer); err != nil { // a plan in the engine file may have turned out to be stale
		return nil, err
	}
	return s.accuracies.of(ctx, in)
}

func (s *stages) makeAccuracy(ctx context.Context, in examining) (*report.Accuracy, error) {
	begin := time.Now()
	ref, err := s.references.of(ctx, in.Reference)
	if err != nil {
		return nil, err
	}
	loaded, err := s.loaded.of(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	r := &report.Accuracy{Precision: string(in.Of.Of.Precision), Tolerance: layerTolerance, Random: s.Data.Random()}
	if ranges := in.Of.Of.Ranges; ranges != nil {
		r.Calibrator, r.Ranges, r.RandomRanges = in.Calibrator, s.rangesFrom(ranges.Calibrator), s.randomRanges(ranges.Calibrator)
	}
	if err := s.compareOutputs(ctx, in, loaded, ref, r); err != nil {
		return nil, err
	}
	if in.Layers {
		if err := s.layerErrors(ctx, in, loaded, r); err != nil {
			return nil, err
		}
	}
	s.log.accuracy(r, begin)
	return r, nil
}

// compareOutputs compares an engine's outputs with FP32's over all data, and both with the labels.
func (s *stages) compareOutputs(ctx context.Context, in examining, loaded *run.Loaded, ref *reference, r *report.Accuracy) error {
	errs := make([]quant.ErrorAccumulator, len(s.model.Network.Outputs))
	all, err := s.batches(in.Reference.Batch, in.Shapes, 0)
	if err != nil {
		return err
	}
	score := newScore(s, in.Reference.Batch)
	if err := score.checkLabels(ref.outputs[0]); err != nil {
		return err
	}
	var differs error
	err = s.forEach(ctx, in.Reference.Batch, loaded, "comparing outputs", func(b int, out map[string]graph.Value) bool {
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
		return err
	}
	for i, t := range s.model.Network.Outputs {
		r.Outputs = append(r.Outputs, report.OutputError{Name: t.Name, Errors: compare.ErrorsOf(errs[i].Errors())})
	}
	r.Labels, r.Items = score.result()
	return nil
}

// layerTolerance is the SQNR in dB under which a layer counts as bad: noise of a hundredth of the signal's power.
const layerTolerance = 20

// layerErrors compares every engine layer's output with the source network's FP32 tensor of that name. The engine
// stays as it is: what is compared is read where the fused layers leave it. A layer's accumulated error is that of the
// engine as it runs, its local error that of the layer alone on FP32's inputs.
func (s *stages) layerErrors(ctx context.Context, in examining, l *run.Loaded, r *report.Accuracy) error {
	s.device.Lock()
	defer s.device.Unlock()
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
	all, err := s.batches(in.Reference.Batch, in.Shapes, items)
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
		inputs, err := batch.Inputs()
		if err != nil {
			return err
		}
		want, err := s.referenceTensors(ctx, in.Of.symbols(), b, inputs)
		if err != nil {
			return err
		}
		for _, errs := range []struct {
			of    []stepErrors
			alone bool
		}{{acc, false}, {local, true}} {
			if err := engine.SetInputs(inputs); err != nil {
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
