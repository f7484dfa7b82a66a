package advice

import (
	"fmt"

	"github.com/trtui/trtui/sessions/report"
)

// movement finds layers without any arithmetic that take much of the time together, such as transpositions and strided slices.
func movement(f *facts) []report.Finding {
	sum, n := f.sumOf(func(l *report.LayerTiming) bool {
		return movers[l.Op] && !l.Reformat
	})
	if sum.Share < costly {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyModel, Layer: sum.Name, Time: sum.Median, Bytes: sum.Bytes,
		Text: fmt.Sprintf("%s that only move elements take %s of the time and move %s; the longest is %s (%s)",
			plural(n, "layer"), percent(sum.Share), size(sum.Bytes), short(sum.Name), f.steps[sum.Name].Op),
		Evidence: []report.Evidence{number("layers", float64(n)), shareOf(sum.Share), bytes("moved", sum.Bytes)}}}
}

// movers are the ops that put elements at other places.
var movers = map[string]bool{
	"Concat": true, "DepthToSpace": true, "Expand": true, "Pad": true, "Reshape": true, "Slice": true, "SpaceToDepth": true,
	"Split": true, "Tile": true, "Transpose": true, "Gather": true, "GatherElements": true, "GatherND": true,
}
