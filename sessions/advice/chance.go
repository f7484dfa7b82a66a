package advice

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/sessions/report"
)

// leastItems is how many items a rule on accuracy wants: of fewer nothing follows.
const leastItems = 20

// judged returns the share of right answers by which labels and data are judged, with the name of that evidence: FP32's, or the
// engine's own where there is no FP32.
func judged(a *report.Accuracy) (name string, top1 float64) {
	if a.Alone {
		return "top1", a.Labels.Top1
	}
	return "fp32_top1", a.Labels.FP32Top1
}

// chance finds a network that cannot be told from one that guesses: its share of right answers is within two standard deviations
// of what guessing gives on so many items.
func chance(f *facts) []report.Finding {
	a := f.Accuracy
	name, top1 := judged(a)
	if top1 < 0 || a.Items < leastItems || a.Labels.Offset != 0 || a.Labels.Tokens > 0 || f.Model == nil || len(f.Model.Outputs) == 0 {
		return nil
	}
	dims := f.Model.Outputs[0].Shape
	if len(dims) == 0 || dims[len(dims)-1] < 2 {
		return nil
	}
	classes := dims[len(dims)-1]
	p := 1 / float64(classes)
	bound := p + 2*math.Sqrt(p*(1-p)/float64(a.Items))
	if top1 > bound {
		return nil
	}
	return []report.Finding{{Severity: report.Problem, Remedy: report.RemedyPreprocessing,
		Text:     fmt.Sprintf("%s is right for %s of %d items of %d classes; guessing is for up to %s", a.Judged(), percent(top1), a.Items, classes, percent(bound)),
		Evidence: []report.Evidence{share(name, top1), share("guessing", bound), number("items", float64(a.Items)), number("classes", float64(classes))},
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
