package advice

import (
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// A layer is far below its roofline that reaches less than this share of it, and loses by that at least this part of the time. What is
// shorter is spent on handing out work.
const (
	farBelow      = 0.15
	lostShare     = 0.1
	leastMeasured = 10 * time.Microsecond
)

// noPeaks says that there are no ceilings.
func noPeaks(s *report.Snapshot) []string {
	if s.Timings.Roofline.Last() == nil {
		return []string{"peaks of the device"}
	}
	return nil
}

// belowRoofline finds layers far below their ceilings. Of arithmetic that is no product nothing is said: an exponential counts as one
// operation and takes many. Nor of layers that other rules are about, nor by ceilings that are in doubt.
func belowRoofline(f *facts) (list []report.Finding) {
	line := f.Timings.Roofline
	if line.Last() == nil {
		return nil
	}
	for i := range f.Timings.Layers {
		l := &f.Timings.Layers[i]
		r := l.Roof
		if r == nil || r.OfPeak >= farBelow || l.Median < leastMeasured || l.Share*(1-r.OfPeak) < lostShare ||
			l.Tactic == referenceTactic || l.Reformat || isConversion(l.Op) || slices.Contains(line.Disturbed, r.Bound) {
			continue
		}
		_, memory, _ := line.Last().Bounds(r.Bound)
		if !memory && l.FLOPs == 0 {
			continue
		}
		what := r.Bound + " arithmetic"
		if memory {
			what = "the rate of " + r.Bound
		}
		list = append(list, report.Finding{Severity: report.Suggestion, Remedy: report.RemedyTactics, Layer: l.Name, Time: l.Median,
			Text: fmt.Sprintf("%s takes %s, %s of the time, where %s allows %s: it reaches %s of its ceiling, by %s", short(l.Name), took(l.Median), percent(l.Share),
				what, took(r.Floor), percent(r.OfPeak), l.Tactic),
			Evidence: []report.Evidence{share("of_peak", r.OfPeak), shareOf(l.Share), duration("median", l.Median), duration("floor", r.Floor)}})
	}
	byTime(list)
	return list
}
