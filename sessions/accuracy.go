package sessions

import (
	"context"
	"fmt"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/core/run"
)

// reference holds what FP32 gives for every item of the data: the outputs, as long as they are small enough to keep.
type reference struct {
	outputs []map[string]graph.Value
	bytes   int
}

// maxReferenceBytes bounds the outputs that are kept; items beyond it are not compared.
const maxReferenceBytes = 256 << 20

// fp32 returns the configuration whose engine is the reference: everything fused as by default, nothing lowered.
func (s *stages) fp32(cfg Config) Config {
	return Config{Precision: FP32, Batch: cfg.Batch, Shapes: cfg.Shapes}
}

// referenceOutputs runs the FP32 engine over the data, once for each set of shapes.
func (s *stages) referenceOutputs(ctx context.Context, cfg Config) (*reference, error) {
	base := s.fp32(cfg)
	loaded, err := s.load(ctx, base)
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

// accuracy compares the configuration's engine with FP32: outputs and labels over all data, layers over a few items.
func (s *stages) accuracy(ctx context.Context, cfg Config, perLayer bool) (*AccuracyReport, error) {
	pc, err := s.passConfig(cfg)
	if err != nil {
		return nil, err
	}
	return s.accuracies.get(key(s.planKey(cfg, pc), perLayer), func() (*AccuracyReport, error) {
		return s.compare(ctx, cfg, perLayer)
	})
}

func (s *stages) compare(ctx context.Context, cfg Config, perLayer bool) (*AccuracyReport, error) {
	ref, err := s.referenceOutputs(ctx, cfg)
	if err != nil {
		return nil, err
	}
	loaded, err := s.load(ctx, cfg)
	if err != nil {
		return nil, err
	}
	r := &AccuracyReport{Precision: string(cfg.Precision), Tolerance: layerTolerance, Random: s.Data.Random()}
	if s.needsCalibration(cfg) {
		r.Calibrator = cfg.Calibrator
	}
	errs := make([]quant.ErrorAccumulator, len(s.model.Network.Outputs))
	score := newScore(s, cfg)
	err = s.forEach(ctx, cfg, loaded, "comparing outputs", func(b int, out map[string]graph.Value) bool {
		for i, t := range s.model.Network.Outputs {
			if e := errs[i].Add(ref.outputs[b][t.Name].Floats(), out[t.Name].Floats()); e != nil {
				err = e
			}
		}
		score.add(b, ref.outputs[b], out)
		return b+1 < len(ref.outputs)
	})
	if err != nil {
		return nil, err
	}
	for i, t := range s.model.Network.Outputs {
		r.Outputs = append(r.Outputs, OutputError{t.Name, errorsOf(errs[i].Errors())})
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

func errorsOf(e quant.Errors) Errors {
	return Errors{
		MaxAbs: e.MaxAbs, MeanAbs: e.MeanAbs, MedianAbs: e.MedianAbs, MaxRel: e.MaxRel, MeanRel: e.MeanRel,
		L2: e.L2, Cosine: e.Cosine, SQNR: e.SQNRdB, PSNR: e.PSNRdB,
	}
}

// score counts how often the first classes are right, and how often they are FP32's. The output that counts is the
// first one of floating type.
type score struct {
	*stages
	batch             int
	output            string
	items, labelled   int
	top1, top5        int
	ref1, ref5, agree int
	below, above      int // items whose label is the class before or after FP32's
}

func newScore(s *stages, cfg Config) *score {
	sc := &score{stages: s, batch: max(1, cfg.Batch)}
	for _, t := range s.model.Network.Outputs {
		if t.RealType().IsFloat() {
			sc.output = t.Name
			break
		}
	}
	return sc
}

func (sc *score) add(b int, ref, got map[string]graph.Value) {
	if sc.output == "" {
		return
	}
	r, g := ref[sc.output].Floats(), got[sc.output].Floats()
	each := len(g) / sc.batch
	for k := range sc.batch {
		item := b*sc.batch + k
		if item >= sc.Data.Len() || each == 0 {
			break
		}
		x, y := r[k*each:(k+1)*each], g[k*each:(k+1)*each]
		first := argmax(x)
		sc.items++
		if rank(y, first) == 0 {
			sc.agree++
		}
		class, ok := sc.Data.Label(item)
		if !ok || class < 0 || class >= each {
			continue
		}
		sc.labelled++
		switch first - class {
		case 1:
			sc.below++
		case -1:
			sc.above++
		}
		count(&sc.ref1, &sc.ref5, rank(x, class))
		count(&sc.top1, &sc.top5, rank(y, class))
	}
}

func count(first, five *int, rank int) {
	if rank == 0 {
		*first++
	}
	if rank < 5 {
		*five++
	}
}

func argmax(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// rank returns how many classes come before the given one: those of a higher value, and those of the same value and a
// lower number.
func rank(x []float32, class int) int {
	n := 0
	for i, v := range x {
		if v > x[class] || v == x[class] && i < class {
			n++
		}
	}
	return n
}

func (sc *score) result() (LabelAccuracy, int) {
	share := func(n, of int) float64 {
		if of == 0 {
			return -1
		}
		return float64(n) / float64(of)
	}
	return LabelAccuracy{
		Top1: share(sc.top1, sc.labelled), Top5: share(sc.top5, sc.labelled),
		FP32Top1: share(sc.ref1, sc.labelled), FP32Top5: share(sc.ref5, sc.labelled),
		Agreement: share(sc.agree, sc.items), Offset: sc.offset(),
	}, sc.items
}

// offset returns by how much the labels seem to be off: with that, FP32 is right on a fifth of the items at least, and
// five times as often as without.
func (sc *score) offset() int {
	for _, c := range []struct{ right, offset int }{{sc.below, 1}, {sc.above, -1}} {
		if 5*c.right >= sc.labelled && c.right >= 5*max(sc.ref1, 1) {
			return c.offset
		}
	}
	return 0
}

// layerErrors compares every engine layer's output with the source network's FP32 tensor of that name. The engine
// stays as it is: what is compared is read where the fused layers leave it. A layer's accumulated error is that of the
// engine as it runs, its local error that of the layer alone on FP32's inputs.
func (s *stages) layerErrors(ctx context.Context, cfg Config, l *run.Loaded, r *AccuracyReport) error {
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
	size := max(1, cfg.Batch)
	items := s.TapItems
	if items <= 0 {
		items = 8
	}
	for b := range max(1, min(items, s.Data.Len())/size) {
		s.progress(Progress{Phase: "comparing layers", Done: b * size, Total: items})
		in, err := batch(s.Data, s.model.Network, b*size, size)
		if err != nil {
			return err
		}
		want, err := s.referenceTensors(ctx, env, b, in)
		if err != nil {
			return err
		}
		if err := engine.SetInputs(in); err != nil {
			return err
		}
		if err := tap(ctx, engine, l.Plan, want, acc, false); err != nil {
			return err
		}
		if err := engine.SetInputs(in); err != nil {
			return err
		}
		if err := tap(ctx, engine, l.Plan, want, local, true); err != nil {
			return err
		}
		r.TapItems += size
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

// tap runs the engine step by step and compares each layer's outputs; alone first gives each step FP32's inputs.
func tap(ctx context.Context, c *run.ExecutionContext, p *run.Plan, want map[string]graph.Value, errs []stepErrors, alone bool) error {
	o := run.Observer{After: func(i int) error {
		if p.Steps[i].Reformat {
			return nil
		}
		for k, out := range p.Steps[i].Out {
			t := p.Slots[out].Tensor
			ref, ok := want[t.Name]
			if !ok || !t.RealType().IsFloat() {
				continue
			}
			v, err := c.Read(out)
			if err != nil {
				return err
			}
			want, got := ref.Floats(), graph.ToReal(v, t.Range).Floats()
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
				ref, ok := want[t.Name]
				if !ok || !t.RealType().IsFloat() {
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
func (s *stages) layerReport(p *run.Plan, acc, local []stepErrors, r *AccuracyReport) {
	for i, step := range p.Steps {
		a := acc[i].Errors()
		if step.Reformat || a.Count == 0 {
			continue
		}
		e := LayerError{
			Name: step.Name, Op: step.Layer.Op.Name, Precision: precisionOf(step.Layer), From: step.From,
			Tensor: step.Layer.Outputs[0].Name, Accumulated: errorsOf(a), Local: errorsOf(local[i].Errors()),
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
func precisionOf(l *graph.Layer) string {
	for _, t := range l.OpInputs() {
		if t != nil && !t.IsConst() && (t.Quantized() || t.Type == graph.F16) {
			return t.Type.String()
		}
	}
	return l.Outputs[0].RealType().String()
}
