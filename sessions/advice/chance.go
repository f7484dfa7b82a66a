package advice

import (
	"fmt"

	"github.com/trtui/trtui/sessions/report"
)

// judged returns the share of right answers by which labels and data are judged, with the name of that evidence: FP32's, or the
// engine's own where there is no FP32.
func judged(a *report.Accuracy) (name string, top1 float64) {
	if a.Alone {
		return "top1", a.Labels.Top1
	}
	return "fp32_top1", a.Labels.FP32Top1
}

// chance finds a network that cannot be told from one that guesses.
func chance(f *facts) []report.Finding {
	c := f.Guesses()
	if c == nil {
		return nil
	}
	a := f.Accuracy
	name, top1 := judged(a)
	return []report.Finding{{Severity: report.Problem, Remedy: report.RemedyPreprocessing,
		Text:     fmt.Sprintf("%s is right for %s of %d items of %d classes; guessing is for up to %s", a.Judged(), percent(top1), a.Items, c.Classes, percent(c.Bound)),
		Evidence: []report.Evidence{share(name, top1), share("guessing", c.Bound), number("items", float64(a.Items)), number("classes", float64(c.Classes))},
	}}
}

// labelOffset finds labels that count otherwise than the network.
func labelOffset(f *facts) []report.Finding {
	l := f.Accuracy.Labels
	if l.Offset == 0 {
		return nil
	}
	name, top1 := judged(f.Accuracy)
	return []report.Finding{{Severity: report.Problem, Remedy: report.RemedyLabelOffset,
		Text:     fmt.Sprintf("%s is right for %s of the items, and far more often if %d is added to every label", f.Accuracy.Judged(), percent(top1), l.Offset),
		Evidence: []report.Evidence{share(name, top1), number("offset", float64(l.Offset))},
	}}
}
