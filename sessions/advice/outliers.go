package advice

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// When a few elements are said to set a range: it is so many times what almost all elements need, and leaves less than so many
// decibels.
const (
	widened     = 8
	almostAll   = 0.999
	poorQuality = 30
	mostTensors = 3 // that a rule names one by one
)

// outliers finds tensors whose range is set by a few elements: the worst ones.
func outliers(f *facts) (list []report.Finding) {
	active := slices.Index(f.Calibration.Calibrators, f.Calibration.Active)
	if active < 0 {
		return nil
	}
	for i := range f.Calibration.Tensors {
		t := &f.Calibration.Tensors[i]
		if !t.Used || len(t.By) <= active {
			continue
		}
		most, by := quantile(t, almostAll), t.By[active]
		ratio := float64(by.Amax) / most
		if most <= 0 || ratio < widened || by.SQNR >= poorQuality {
			continue
		}
		found := report.Finding{Severity: report.Warning, Remedy: report.RemedyCalibrator, Layer: t.Layer, Tensor: t.Tensor,
			Text: fmt.Sprintf("the range of %s reaches %.3g, %s of its elements are within %.3g: a factor of %.0f, and %.1f dB are left",
				t.Tensor, by.Amax, percent(almostAll), most, ratio, by.SQNR),
			Evidence: []report.Evidence{number("amax", float64(by.Amax)), number("quantile", most), times("widened", ratio), decibels("sqnr", by.SQNR)},
		}
		if best := bestOf(t); best != active && t.By[best].SQNR >= by.SQNR+3 {
			found.Text += fmt.Sprintf("; %s leaves %.1f", f.Calibration.Calibrators[best], t.By[best].SQNR)
		} else {
			found.Severity, found.Remedy = report.Suggestion, report.RemedyPrecision
			found.Text += ", and no calibrator leaves much more"
		}
		list = append(list, found)
	}
	slices.SortStableFunc(list, func(a, b report.Finding) int { return int(1e3 * (a.Evidence[3].Value - b.Evidence[3].Value)) })
	return list[:min(len(list), mostTensors)]
}

// quantile returns the size within which so large a share of a tensor's elements is, as its bins tell.
func quantile(t *report.TensorCalibration, share float64) float64 {
	h := t.Histogram
	var total int64
	for _, n := range h.Counts {
		total += n
	}
	width := float64(h.High-h.Low) / float64(max(1, len(h.Counts)))
	size := func(i int) float64 { // of the bin's farther end
		low := float64(h.Low) + float64(i)*width
		return max(abs(low), abs(low+width))
	}
	far, inside := 0.0, total
	for first, last := 0, len(h.Counts)-1; first <= last; { // the farthest bin is one of the outermost
		at := last
		if size(first) > size(last) {
			at = first
		}
		far = size(at)
		if inside -= h.Counts[at]; float64(inside) < share*float64(total) {
			break
		}
		if at == first {
			first++
		} else {
			last--
		}
	}
	return far
}

func abs(v float64) float64 { return max(v, -v) }

// bestOf returns the calibrator that leaves most of a tensor.
func bestOf(t *report.TensorCalibration) (best int) {
	for i := range t.By {
		if t.By[i].SQNR > t.By[best].SQNR {
			best = i
		}
	}
	return best
}
