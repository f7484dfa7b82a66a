package advice

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// notableShare is the part of the time from which a layer is worth a word.
const notableShare = 0.05

// unlowered finds layers that take much of the time in another precision than the one asked for, with the reason: not those of which
// nothing that a person may ask makes more.
func unlowered(f *facts) (list []report.Finding) {
	for _, u := range f.Passes.Unlowered {
		share, took := f.share(u.Layer)
		if share < notableShare || u.Formless {
			continue
		}
		list = append(list, report.Finding{Severity: report.Warning, Remedy: report.RemedyPrecision, Layer: u.Layer, Time: took,
			Text:     fmt.Sprintf("%s runs in %s and takes %s of the time: %s", short(u.Layer), u.Precision, percent(share), u.Reason),
			Evidence: []report.Evidence{shareOf(share), duration("median", took)},
		})
	}
	byTime(list)
	return list[:min(len(list), mostTensors)]
}

func shareOf(v float64) report.Evidence { return share("time", v) }

// byTime puts what is about most time first.
func byTime(list []report.Finding) {
	slices.SortStableFunc(list, func(a, b report.Finding) int { return int(b.Time - a.Time) })
}
