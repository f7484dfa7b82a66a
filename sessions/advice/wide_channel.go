package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// wideBits is how many bits of eight the other channels of a tensor lose for the widest ones to be said to set its range.
const wideBits = 2

// wideChannel finds tensors whose range is set by one channel, or by few: the worst ones, with what equalises them. Those that are
// equalised in the engine are none: what they reach is what FP32 has.
func wideChannel(f *facts) []report.Finding {
	var wide []*report.TensorCalibration
	for i := range f.Calibration.Tensors {
		t := &f.Calibration.Tensors[i]
		if t.Used && t.Reach != nil && len(t.Reach.Outliers) > 0 && t.Reach.Bits >= wideBits && (t.Reach.Cure == nil || !t.Reach.Cure.Done) {
			wide = append(wide, t)
		}
	}
	slices.SortStableFunc(wide, func(a, b *report.TensorCalibration) int { return cmp.Compare(b.Reach.Bits, a.Reach.Bits) })
	var list []report.Finding
	for _, t := range wide[:min(len(wide), mostTensors)] {
		r := t.Reach
		found := report.Finding{Severity: report.Warning, Remedy: report.RemedyPrecision, Layer: t.Layer, Tensor: t.Tensor,
			Text: fmt.Sprintf("channel %d of %s reaches %.3g, the others %.3g: they have a scale of %.3g, would need %.3g, and lose %.1f bits",
				r.Outliers[0], t.Tensor, r.Amax, r.Rest, r.Scale, r.Needed, r.Bits),
			Evidence: []report.Evidence{number("channel", float64(r.Outliers[0])), number("amax", float64(r.Amax)), number("rest", float64(r.Rest)), number("bits", r.Bits)},
		}
		if n := len(r.Outliers); n > 1 {
			found.Text = fmt.Sprintf("%d channels of %s reach up to %.3g, first of all %d, the others %.3g: they have a scale of %.3g, would need %.3g, and lose %.1f bits",
				n, t.Tensor, r.Amax, r.Outliers[0], r.Rest, r.Scale, r.Needed, r.Bits)
		}
		switch c := r.Cure; {
		case c == nil:
		case c.Equalization != "":
			found.Remedy = report.RemedyEqualization
			found.Text += fmt.Sprintf("; equalised by %s with %s", c.Equalization, shorts(c.With))
			if c.Gain > 0 {
				found.Text += fmt.Sprintf(": %+.1f dB expected", c.Gain)
				found.Evidence = append(found.Evidence, decibels("gain", c.Gain))
			}
		default:
			found.Severity = report.Suggestion
			found.Text += "; it cannot be equalised: " + c.Why
			found.Raise = c.Raise
		}
		list = append(list, found)
	}
	return list
}

// shorts names layers.
func shorts(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, short(name))
	}
	return strings.Join(list, " and ")
}
