package advice

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// Calibrators disagree where the widest range is so many times the narrowest, and the active one leaves so many decibels less
// than the best.
const (
	disagreement = 4
	worthwhile   = 3
)

// calibrators finds tensors on whose range calibrators disagree to the disadvantage of the active one, and says so of the worst.
func calibrators(f *facts) []report.Finding {
	c := f.Calibration
	active := slices.Index(c.Calibrators, c.Active)
	var found report.Finding
	count, most := 0, 0.0
	for i := range c.Tensors {
		t := &c.Tensors[i]
		if !t.Used || active < 0 || len(t.By) <= active || len(t.By) < 2 {
			continue
		}
		low, high := t.By[0].Amax, t.By[0].Amax
		for _, r := range t.By {
			low, high = min(low, r.Amax), max(high, r.Amax)
		}
		best := bestOf(t)
		lost := t.By[best].SQNR - t.By[active].SQNR
		if low <= 0 || high < disagreement*low || lost < worthwhile {
			continue
		}
		if count++; lost <= most {
			continue
		}
		most = lost
		found = report.Finding{Severity: report.Warning, Remedy: report.RemedyCalibrator, Layer: t.Layer, Tensor: t.Tensor,
			Text: fmt.Sprintf("of %s, where ranges reach from %.3g to %.3g, %s leaves %.1f dB and %s %.1f",
				t.Tensor, low, high, c.Active, t.By[active].SQNR, c.Calibrators[best], t.By[best].SQNR),
			Evidence: []report.Evidence{number("narrowest", float64(low)), number("widest", float64(high)), decibels("active_sqnr", t.By[active].SQNR), decibels("best_sqnr", t.By[best].SQNR)},
		}
	}
	if count == 0 {
		return nil
	}
	found.Text = fmt.Sprintf("calibrators disagree on %s; ", plural(count, "tensor")) + found.Text
	found.Evidence = append(found.Evidence, number("tensors", float64(count)))
	return []report.Finding{found}
}
