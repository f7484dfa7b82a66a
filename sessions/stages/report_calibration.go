package stages

import (
	"math"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/report"
)

// histogramBins is how many bins a report's histogram has.
const histogramBins = 160

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

// calibratorResult tells what a range makes of the values of a tensor; held are those that calibration did not see, nil where there
// are none.
func calibratorResult(h, held *quant.Histogram, r numeric.Range, t numeric.DataType) report.CalibratorResult {
	q := quant.Assess(h, r, t)
	by := report.CalibratorResult{
		Low: float32(q.Lo), High: float32(q.Hi), Scale: float32(q.Scale), Zero: int32(q.Zero), Clip: q.Clipped, Loss: q.Beyond, KL: q.KL, SQNR: q.SQNRdB,
	}
	if q.Hi == q.AMax { // it is symmetric: what one integer more would reach is not meant
		by.Low = -by.High
	}
	by.Amax = max(-by.Low, by.High)
	if held != nil && held.Count() > 0 {
		unseen := quant.Assess(held, r, t).SQNRdB
		by.HeldOut = &unseen
	}
	return by
}

// ownRange tells the same of the range that the model brings.
func ownRange(h, held *quant.Histogram, r build.OwnRange) *report.OwnRange {
	left := h.Clamped(r.Least, r.Most)
	if held != nil {
		held = held.Clamped(r.Least, r.Most)
	}
	return &report.OwnRange{CalibratorResult: calibratorResult(left, held, r.Range, r.Type), Type: r.Type.String(), Clamps: left != h}
}
