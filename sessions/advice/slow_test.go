package advice

import (
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestReferenceRemedy: tactics help a layer that runs by its definition where another kernel computes it; else the model does.
func TestReferenceRemedy(t *testing.T) {
	eval, fast := report.Candidate{Tactic: referenceTactic, Chosen: true}, report.Candidate{Tactic: "fast"}
	unfit := fast
	unfit.Unfit = true
	for _, c := range []struct {
		candidates []report.Candidate
		want       report.Remedy
	}{
		{[]report.Candidate{eval}, report.RemedyModel}, {[]report.Candidate{eval, unfit}, report.RemedyModel}, {[]report.Candidate{eval, fast}, report.RemedyTactics},
	} {
		found := reference(&facts{Snapshot: &report.Snapshot{
			Timings: &report.Timings{Layers: []report.LayerTiming{{Name: "nms", Op: "NonMaxSuppression", Tactic: referenceTactic, Share: 0.6}}},
			Tactics: &report.Tactics{Layers: []report.LayerTactics{{Layer: "nms", Candidates: c.candidates}}},
		}})
		if len(found) != 1 || found[0].Remedy != c.want {
			t.Errorf("%v: found %+v, want the remedy %v", c.candidates, found, c.want)
		}
	}
}
