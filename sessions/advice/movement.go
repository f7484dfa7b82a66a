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
	why := f.copied(sum.Name)
	if why != "" {
		why = ", which is no view: " + why
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyModel, Layer: sum.Name, Time: sum.Median, Bytes: sum.Bytes,
		Text: fmt.Sprintf("%s that only move elements take %s of the time and move %s; the longest is %s (%s, %s)%s",
			plural(n, "layer"), percent(sum.Share), size(sum.Bytes), short(sum.Name), f.steps[sum.Name].Op, size(f.steps[sum.Name].Bytes), why),
		Evidence: []report.Evidence{number("layers", float64(n)), shareOf(sum.Share), bytes("moved", sum.Bytes)}}}
}

// copied says why a layer that only moves elements copies them: what the planner says of it, or else a pass.
func (f *facts) copied(name string) string {
	if c := f.Tactics.Copied(name); c != nil {
		return c.Reason
	}
	if f.Passes == nil {
		return ""
	}
	for _, st := range f.Passes.Steps {
		for _, m := range st.Missed {
			if m.Reason == movesElements && f.engineLayer(m.Layers[0]) == name {
				return m.Detail
			}
		}
	}
	return ""
}

// movesElements is the reason of sites whose output is no view of the input.
const movesElements = "moves elements"

// movers are the ops that put elements at other places.
var movers = map[string]bool{
	"Concat": true, "DepthToSpace": true, "Expand": true, "Pad": true, "Reshape": true, "Slice": true, "SpaceToDepth": true,
	"Split": true, "Tile": true, "Transpose": true, "Gather": true, "GatherElements": true, "GatherND": true,
}
