package stages

import (
	"math"

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
