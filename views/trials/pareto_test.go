package trials

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/diff"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestExactOffScale: a configuration that is exact does not squeeze the others, and it is said that it is off the scale; where none is,
// no label says so.
func TestExactOffScale(t *testing.T) {
	v := newParetoView(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{}, &List{}, nil, nil)
	all := diff.Measures()
	v.measure = all[slices.IndexFunc(all, func(m diff.Measure) bool { return m.Name == "sqnr" })]
	point := func(db float64) report.ParetoPoint {
		p := report.ParetoPoint{}
		p.SQNR, p.Took, p.Latency = &db, 1000, 1000
		return p
	}
	v.pareto = &report.Pareto{Points: []report.ParetoPoint{point(30), point(36), point(200)}}
	v.trials = make([]trial, 3)
	s := v.scatter()
	if top := s.Points[2].Y; top != 38 || s.YLabel(top) != "exact" {
		t.Errorf("exact is at %g, %s, of 30 to 36", top, s.YLabel(top))
	}
	if text, _ := v.Note(); !strings.Contains(text, "off the scale") {
		t.Errorf("the note is %q", text)
	}
	v.pareto.Points, v.trials = v.pareto.Points[:2], v.trials[:2]
	if s = v.scatter(); s.YLabel(38) == "exact" || s.Most != 0 {
		t.Errorf("38 dB is labelled %s", s.YLabel(38))
	}
	if text, _ := v.Note(); strings.Contains(text, "off the scale") {
		t.Errorf("the note is %q", text)
	}
}
