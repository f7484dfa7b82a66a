package stages

import (
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// RoundsOf returns what the rounds of a lane came to.
func RoundsOf(l *compare.Lane) []report.Round {
	rounds := make([]report.Round, len(l.Medians))
	for i := range rounds {
		rounds[i] = report.Round{Median: l.Medians[i], P99: l.P99s[i]}
	}
	return rounds
}
