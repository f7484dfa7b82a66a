package sessions

import (
	"context"
	"math"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/config"
)

// CalibrationReport compares calibrators tensor by tensor (trtui calibrate --compare).
type CalibrationReport struct {
	Calibrators []string // "minmax", "entropy", "percentile:99.99", "mse"
	Active      string
	Tensors     []TensorCalibration
	Weights     []WeightCalibration `json:",omitempty"`
	Batches     int
	Random      bool
	Elapsed     time.Duration
}

// TensorCalibration is one tensor under every calibrator.
type TensorCalibration struct {
	Tensor    string
	Layer     string // its producer, "" for a network input
	Min, Max  float32
	Mean, Std float64
	Zeros     float64 `unit:"share"`
	Count     int64
	Histogram HistogramBins
	By        []CalibratorResult // in the order of Calibrators
	Used      bool               // the engine quantises it
}

// HistogramBins are equally wide bins from Low to High, few enough to draw.
type HistogramBins struct {
	Low, High float32
	Counts    []int64
}

// CalibratorResult is what one calibrator makes of one tensor.
type CalibratorResult struct {
	Amax  float32
	Scale float32
	Zero  int32
	Clip  float64 `unit:"share"`            // of elements outside
	KL    float64 `unit:"nats"`             // divergence of the quantised distribution
	SQNR  float64 `unit:"db" exact:"exact"` // expected
}

// histogramBins is how many bins a report's histogram has.
const histogramBins = 160

// calibration compares every calibrator on every tensor that a quantised build could quantise.
func (s *stages) calibration(ctx context.Context, cfg config.Config) (*CalibrationReport, error) {
	pc, err := s.passConfig(cfg)
	if err != nil {
		return nil, err
	}
	return s.calibrations.get(key(s.loweredKey(cfg, pc, cfg.Calibrator)), func() (*CalibrationReport, error) {
		return s.compareCalibrators(ctx, cfg)
	})
}

func (s *stages) compareCalibrators(ctx context.Context, cfg config.Config) (*CalibrationReport, error) {
	start := time.Now()
	hist, err := s.histograms(ctx, cfg)
	if err != nil {
		return nil, err
	}
	r := &CalibrationReport{Active: config.FullCalibrator(cfg.Calibrator), Batches: s.calibrationItems(), Random: s.CalData.Random()}
	var names []string
	for _, m := range quant.Calibrators() {
		names = append(names, m.New(m.Value, quant.Scheme{}).String())
	}
	if active, err := quant.ParseCalibrator(cfg.Calibrator, quant.Scheme{}); err == nil && !contains(names, active.String()) {
		names = append(names, active.String())
	}
	r.Calibrators = names
	if r.Weights, err = s.weights(ctx, cfg); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	if l, err := s.lower(ctx, cfg); err == nil {
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
		if ranges[i], err = s.calibrate(ctx, cfg, name); err != nil {
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
			tc.By = append(tc.By, CalibratorResult{
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

func tensorCalibration(name, layer string, h *quant.Histogram) TensorCalibration {
	mean := h.Mean()
	n := int64(h.Count())
	tc := TensorCalibration{
		Tensor: name, Layer: layer, Min: h.Min(), Max: h.Max(), Mean: mean,
		Std: math.Sqrt(max(0, h.Power()-mean*mean)), Zeros: float64(h.Zeros()) / float64(n), Count: n,
	}
	lo, hi := float64(h.Min()), float64(h.Max())
	if lo == hi {
		hi = lo + 1
	}
	tc.Histogram = HistogramBins{Low: float32(lo), High: float32(hi)}
	for _, c := range h.Bars(lo, hi, histogramBins) {
		tc.Histogram.Counts = append(tc.Histogram.Counts, int64(math.Round(c)))
	}
	return tc
}
