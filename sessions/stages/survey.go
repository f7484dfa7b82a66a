package stages

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// survey compares calibrators, on activations and on weights.
type survey struct {
	model       *model.Model
	orders      *orders
	passes      *passes
	calibration *calibration
	precisions  *precisions
	links       *links
	unseen      *unseen
	weights     *stage[rewriting, []report.WeightCalibration]
	kept        *stage[surveying, *report.Calibration]
}

func newSurvey(m *model.Model, o *orders, p *precisions, u *unseen) *survey {
	s := &survey{model: m, orders: o, passes: p.passes, calibration: p.calibration, precisions: p, links: &links{m, p.passes}, unseen: u}
	s.weights, s.kept = newStage(s.weigh), newStage(s.make)
	return s
}

// Of compares every calibrator on every tensor that a quantised build could quantise.
func (s *survey) Of(ctx context.Context, cfg config.Config) (*report.Calibration, error) {
	in, err := s.orders.surveying(cfg)
	if err != nil {
		return nil, err
	}
	return s.kept.Of(ctx, in)
}

// make compares the calibrators that there are.
func (s *survey) make(ctx context.Context, in surveying) (*report.Calibration, error) {
	start := time.Now()
	found, err := s.calibration.Hist.Of(ctx, in.Collecting)
	if err != nil {
		return nil, err
	}
	r := &report.Calibration{Active: in.By.Calibrator, Batches: s.calibration.seen(), Random: s.calibration.Data.Random()}
	var names []string
	for _, m := range s.model.Methods() {
		names = append(names, m.New(m.Value, quant.Scheme{}).String())
	}
	if active, err := s.model.Methods().Parse(in.By.Calibrator, quant.Scheme{}); err == nil {
		if r.Active = active.String(); !slices.Contains(names, r.Active) {
			names = append(names, r.Active)
		}
	}
	r.Calibrators = names
	if r.Weights, err = s.weights.Of(ctx, in.Of.Of); err != nil {
		return nil, err
	}
	used, equalized := map[string]bool{}, map[string]bool{} // of the source network
	var read map[string][]string
	if l, err := s.precisions.kept.Of(ctx, in.Of); err == nil {
		r.Weights, read = markUsed(r.Weights, l.Network), readers(l)
		for _, scaled := range l.Equalized {
			equalized[scaled.Tensor] = true
		}
		for _, layer := range l.Network.Layers {
			for _, t := range layer.Inputs {
				if t != nil && t.Quantized() {
					used[t.Name] = true
					used[l.Equalized[t.Name].Tensor] = true
				}
			}
		}
	}
	for _, l := range s.model.Network.Layers {
		if l.Op == graph.Quantize && used[l.Outputs[0].Name] {
			used[l.Inputs[0].Name] = true
		}
	}
	o, err := s.passes.kept.Of(ctx, in.Of.Of)
	if err != nil {
		return nil, err
	}
	folded := foldedTensors(s.model.Network, o.Network)
	typ := config.Quantization{Activations: in.By.Activations}.Scheme().DataType()
	ranges := make([]map[string]numeric.Range, len(names))
	for i, name := range names {
		if ranges[i], err = s.calibration.Ranges.Of(ctx, ranging{in.Collecting, finder{name, in.By.Activations, in.By.Given}}); err != nil {
			return nil, err
		}
	}
	held, err := s.unseen.kept.Of(ctx, in.Collecting)
	if err != nil {
		return nil, err
	}
	r.HeldOut, r.Shared = held.items, s.calibration.Shared()
	active, spreads := slices.Index(names, r.Active), found.Spreads()
	links, err := s.links.of(ctx, in.Of.Of)
	if err != nil {
		return nil, err
	}
	cure := func(tensor string, spread quant.ChannelSpread) *report.Cure {
		if equalized[tensor] {
			return &report.Cure{Done: true}
		}
		return cureOf(links, read, tensor, spread)
	}
	own := s.own()
	add := func(t *graph.Tensor, layer string) {
		h := found.Histograms[t.Name]
		if h == nil || h.Count() == 0 || folded[t.Name] {
			return
		}
		tc := tensorCalibration(t.Name, layer, h)
		tc.Used = used[t.Name]
		for i := range names {
			by := calibratorResult(h, held.histograms[t.Name], ranges[i][t.Name], typ)
			tc.By = append(tc.By, by)
		}
		if r, ok := own[t.Name]; ok {
			tc.Own = ownRange(h, held.histograms[t.Name], r)
		}
		if spread, ok := spreads[t.Name]; ok && active >= 0 {
			tc.Reach = channelReach(spread, ranges[active][t.Name], typ)
			if len(tc.Reach.Outliers) > 0 {
				tc.Reach.Cure = cure(t.Name, spread)
			}
		}
		r.Tensors = append(r.Tensors, tc)
	}
	for _, t := range s.model.Network.Inputs {
		add(t, "")
	}
	for _, l := range s.model.Network.Layers {
		if l.Op == graph.Quantize || l.Op == graph.Dequantize { // it has the range that the model brings for its input, or is of weights
			continue
		}
		for _, t := range l.Outputs {
			add(t, l.Name)
		}
	}
	r.Elapsed = time.Since(start)
	return r, nil
}

// own returns the ranges that the model brings, by tensors of the network that is surveyed. Where its quantisation was dropped, they are
// those of the network before, and an activation that was part of one is a layer again, whose result has the range.
func (s *survey) own() map[string]build.OwnRange {
	if s.model.Dropped == nil {
		return build.OwnRanges(s.model.Network)
	}
	own := map[string]build.OwnRange{}
	for name, r := range build.OwnRanges(s.model.Dropped.Before) {
		clamps := !math.IsInf(r.Least, -1) || !math.IsInf(r.Most, 1)
		if r.Result != "" && (clamps || s.model.Network.Tensor(name) == nil) {
			name, r.Least, r.Most = r.Result, math.Inf(-1), math.Inf(1)
		}
		own[name] = r
	}
	return own
}

// foldedTensors returns the tensors of a network that are computed of constants alone and that no layer of the optimised one makes:
// they are weights, which no calibrator is asked for.
func foldedTensors(source, optimised *graph.Network) map[string]bool {
	list := map[string]bool{}
	for _, l := range source.Layers {
		if slices.ContainsFunc(l.Inputs, func(t *graph.Tensor) bool { return t != nil && !t.IsConst() && !list[t.Name] }) {
			continue
		}
		for _, t := range l.Outputs {
			list[t.Name] = true
		}
	}
	for _, l := range optimised.Layers {
		for _, t := range l.Outputs {
			delete(list, t.Name)
		}
	}
	return list
}

// weigh assesses the weights of every layer that multiplies by constants. The lists are those of the optimised network:
// batch normalisation is folded into them, as it is when they are quantised.
func (s *survey) weigh(ctx context.Context, in rewriting) (list []report.WeightCalibration, err error) {
	if err := s.model.NeedsSource("what 8 bits do to weights"); err != nil {
		return nil, err
	}
	o, err := s.passes.kept.Of(ctx, in)
	if err != nil {
		return nil, err
	}
	for _, l := range o.Network.Layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if q, ok := quant.AssessWeights(l); ok {
			list = append(list, weightCalibration(l, q))
		}
	}
	return list, nil
}
