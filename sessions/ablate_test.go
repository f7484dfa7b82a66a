package sessions

import (
	"testing"

	"github.com/trtui/trtui/sessions/report"
)

// TestFiredRules counts what each rule did over all passes, once each, and names those that did nothing.
func TestFiredRules(t *testing.T) {
	p := &report.Passes{
		Rules: []report.Rule{{Name: "a"}, {Name: "b", Doc: "joins"}, {Name: "c"}, {Name: "b", Doc: "joins"}},
		Steps: []report.PassStep{
			{Fired: []report.FiredSite{{Rule: "b", KernelsSaved: 1, BytesSaved: 10}, {Rule: "always", KernelsSaved: 9}}},
			{Fired: []report.FiredSite{{Rule: "b", KernelsSaved: 2, BytesSaved: 20}}, Missed: []report.MissedSite{{Rule: "c"}}},
		},
	}
	rows, idle := firedRules(p, 0)
	if len(rows) != 1 || rows[0].Rule != "b" || rows[0].Sites != 2 || rows[0].LayersSaved != 3 || rows[0].BytesSaved != 30 {
		t.Errorf("rows are %+v", rows)
	}
	if len(idle) != 2 || idle[0] != "a" || idle[1] != "c" {
		t.Errorf("idle are %v", idle)
	}
}
