package advice

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/sessions/report"
)

// The shares of answers that are FP32's under which accuracy is said to be lost.
const (
	goodAgreement = 0.97
	badAgreement  = 0.8
)

// accuracy finds an engine whose answers are often not FP32's, beyond what chance explains on so many items, and names the layer
// that is to blame first.
func accuracy(f *facts) []report.Finding {
	a := f.Accuracy
	got := a.Labels.Agreement
	if got < 0 || a.Items < report.LeastItems || notFinite(f) != nil {
		return nil
	}
	slack := 2 * math.Sqrt(goodAgreement*(1-goodAgreement)/float64(a.Items))
	if got >= goodAgreement-slack {
		return nil
	}
	found := report.Finding{Severity: report.Warning, Remedy: report.RemedyPrecision, Layer: worst(a),
		Text:     fmt.Sprintf("%s gives FP32's answer for %s of %d items", a.Precision, percent(got), a.Items),
		Evidence: []report.Evidence{share("agreement", got), number("items", float64(a.Items))},
	}
	if got < badAgreement {
		found.Severity = report.Problem
	}
	if t := a.Labels; t.Top1 >= 0 && t.FP32Top1 >= 0 {
		found.Text += fmt.Sprintf("; right are %s, FP32 %s", percent(t.Top1), percent(t.FP32Top1))
		found.Evidence = append(found.Evidence, share("top1", t.Top1), share("fp32_top1", t.FP32Top1))
	}
	if found.Layer != "" {
		found.Text += ". The layer that adds most error is " + short(found.Layer)
	}
	return []report.Finding{found}
}

// calibratedOnEvaluated finds ranges of items that accuracy is measured on, by which it may look better than on others.
func calibratedOnEvaluated(f *facts) []report.Finding {
	a := f.Accuracy
	if a.Shared == 0 {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyData,
		Text:     fmt.Sprintf("ranges were found on %s of the %d that are evaluated: accuracy on others may be lower", plural(a.Shared, "item"), a.Items),
		Evidence: []report.Evidence{number("calibration_items_evaluated", float64(a.Shared)), number("items", float64(a.Items))},
	}}
}

// worst returns the layer that adds most error, "" where none is known.
func worst(a *report.Accuracy) string {
	if i := a.WorstLayer(); i >= 0 {
		return a.Layers[i].Name
	}
	return ""
}
