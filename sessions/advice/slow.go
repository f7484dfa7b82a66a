package advice

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// referenceTactic is the tactic of every backend that computes by the layer's definition.
const referenceTactic = "eval"

// reference finds layers that no kernel computes.
func reference(f *facts) (list []report.Finding) {
	for i := range f.Timings.Layers {
		l := &f.Timings.Layers[i]
		if l.Tactic != referenceTactic || l.Share < noticeable {
			continue
		}
		found := report.Finding{Severity: report.Warning, Remedy: report.RemedyTactics, Layer: l.Name, Time: l.Median,
			Text:     fmt.Sprintf("%s (%s in %s) runs by its definition, element by element, and takes %s of the time", short(l.Name), l.Op, l.Precision, percent(l.Share)),
			Evidence: []report.Evidence{shareOf(l.Share), duration("median", l.Median)}}
		if l.Share >= 0.5 {
			found.Severity = report.Problem
		}
		if onlyReference(f.Tactics, l.Name) {
			found.Remedy, found.Text = report.RemedyModel, found.Text+"; no other kernel computes it"
		}
		list = append(list, found)
	}
	byTime(list)
	return list
}

// onlyReference reports whether it is known that a layer has no other tactic: there is none to time again, or to pin.
func onlyReference(t *report.Tactics, layer string) bool {
	if t == nil {
		return false
	}
	i := slices.IndexFunc(t.Layers, func(l report.LayerTactics) bool { return l.Layer == layer })
	return i >= 0 && !slices.ContainsFunc(t.Layers[i].Candidates, func(c report.Candidate) bool { return c.Tactic != referenceTactic && !c.Unfit })
}

// A layer is slow that takes at least this part of the time, so many times its part of the arithmetic and of the bytes.
const (
	slowShare  = 0.1
	slowFactor = 4
	fewLayers  = 4 // of which every one takes much
)

// slow finds layers that take far more of the time than of the arithmetic and of the bytes.
func slow(f *facts) (list []report.Finding) {
	if len(f.Timings.Layers) < fewLayers || f.flops == 0 || f.bytes == 0 {
		return nil
	}
	for i := range f.Timings.Layers {
		l := &f.Timings.Layers[i]
		work := max(float64(l.FLOPs)/float64(f.flops), float64(l.Bytes)/float64(f.bytes))
		if l.Share < slowShare || l.Share < slowFactor*work || l.Tactic == referenceTactic || l.Reformat || isConversion(l.Op) || len(l.Inside) > 0 {
			continue
		}
		list = append(list, report.Finding{Severity: report.Suggestion, Remedy: report.RemedyTactics, Layer: l.Name, Time: l.Median,
			Text: fmt.Sprintf("%s takes %s of the time for %s of the arithmetic and %s of the bytes, by %s", short(l.Name), percent(l.Share),
				percent(float64(l.FLOPs)/float64(f.flops)), percent(float64(l.Bytes)/float64(f.bytes)), l.Tactic),
			Evidence: []report.Evidence{shareOf(l.Share), share("arithmetic", float64(l.FLOPs)/float64(f.flops)), share("bytes_moved", float64(l.Bytes)/float64(f.bytes))}})
	}
	byTime(list)
	return list
}
