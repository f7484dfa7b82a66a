package sessions

import (
	"context"
	"math"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// histogramBins is how many bins a report's histogram has.
const histogramBins = 160

// calibration compares every calibrator on every tensor that a quantised build could quantise.
func (s *stages) calibration(ctx context.Context, cfg config.Config) (*report.Calibration, error) {
	in, err := s.surveying(cfg)
	if err != nil {
		return nil, err
	}
	return s.surveys.of(ctx, in)
}

func (s *stages) makeSurvey(ctx context.Context, in surveying) (*report.Calibration, error) {
	start := time.Now()
	hist, err := s.hist.of(ctx, in.Collecting)
	if err != nil {
		return nil, err
	}
	r := &report.Calibration{Active: config.FullCalibrator(in.Calibrator), Batches: s.calibrationItems(), Random: s.CalData.Random()}
	var names []string
	for _, m := range quant.Calibrators() {
		names = append(names, m.New(m.Value, quant.Scheme{}).String())
	}
	if active, err := quant.ParseCalibrator(in.Calibrator, quant.Scheme{}); err == nil && !contains(names, active.String()) {
		names = append(names, active.String())
	}
	r.Calibrators = names
	if r.Weights, err = s.weights.of(ctx, in.Of.Of); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	if l, err := s.lowered.of(ctx, in.Of); err == nil {
		r.Weights = markUsed(r.Weights, l.Network)
		for _, layer := range l.Network.Layers {
			for _, t := range layer.Inputs {
				if t != nil && t.Quantized() {
					used[t.Name] = true
				}
			}
		}
	}
	ranges := make([]map[string]graph.Range, len(names))
	for i, name := range names {
		if ranges[i], err = s.ranges.of(ctx, ranging{in.Collecting, name}); err != nil {
			return nil, err
		}
	}
	add := func(t *graph.Tensor, layer string) {
		h := hist[t.Name]
		if h == nil || h.Count() == 0 {
			return
		}
		tc := tensorCalibration(t.Name, layer, h)
		tc.Used = used[t.Name]
		for i := range names {
			q := quant.Assess(h, ranges[i][t.Name], graph.I8)
			tc.By = append(tc.By, report.CalibratorResult{
				Amax: float32(q.AMax), Scale: float32(q.Scale), Zero: int32(q.Zero), Clip: q.Clipped, KL: q.KL, SQNR: q.SQNRdB,
			})
		}
		r.Tensors = append(r.Tensors, tc)
	}
	for _, t := range s.model.Network.Inputs {
		add(t, "")
	}
	for _, l := range s.model.Network.Layers {
		for _, t := range l.Outputs {
			add(t, l.Name)
		}
	}
	r.Elapsed = time.Since(start)
	return r, nil
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func tensorCalibration(name, layer string, h *quant.Histogram) report.TensorCalibration {
	mean := h.Mean()
	n := int64(h.Count())
	tc := report.TensorCalibration{
		Tensor: name, Layer: layer, Min: h.Min(), Max: h.Max(), Mean: mean,
		Std: math.Sqrt(max(0, h.Power()-mean*mean)), Zeros: float64(h.Zeros()) / float64(n), Count: n,
	}
	lo, hi := float64(h.Min()), float64(h.Max())
	if lo == hi {
		hi = lo + 1
	}
	tc.Histogram = report.HistogramBins{Low: float32(lo), High: float32(hi)}
	for _, c := range h.Bars(lo, hi, histogramBins) {
		tc.Histogram.Counts = append(tc.Histogram.Counts, int64(math.Round(c)))
	}
	return tc
}
