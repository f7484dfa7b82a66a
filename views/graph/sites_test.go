package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestManySites: many places of one cause are one line with their number, below which enter shows them.
func TestManySites(t *testing.T) {
	s := Screen(ui.NewLook(ui.Options{NoColor: true}), &panetest.Desk{}, nil)
	snap := *panetest.Fixture(t)
	passes := *snap.Passes
	passes.Steps = []report.PassStep{{Pass: "many", Layers: len(passes.Source)}}
	for i := range 12 {
		passes.Steps[0].Fired = append(passes.Steps[0].Fired, report.FiredSite{Rule: "fuse", Layers: []string{fmt.Sprint("into", i)}, KernelsSaved: 2})
		passes.Steps[0].Missed = append(passes.Steps[0].Missed, report.MissedSite{
			Rule: "tie", Layers: []string{fmt.Sprint("layer", i)}, Reason: "shape", Detail: fmt.Sprint("t", i, " is no matrix"), Cause: "… is no matrix",
		})
	}
	passes.Steps[0].Missed = append(passes.Steps[0].Missed, report.MissedSite{Rule: "tie", Layers: []string{"alone"}, Reason: "dtype", Detail: "i8"})
	snap.Passes = &passes
	for _, v := range s.Views {
		v.Update(&snap)
	}
	var detail *detailView
	for _, v := range s.Views {
		if d, ok := v.(*detailView); ok {
			detail = d
		}
	}
	detail.g.show(0)
	lines := func() (text []string) {
		detail.build()
		for _, l := range detail.lines {
			line := ""
			for _, span := range l.Spans {
				line += span.Text
			}
			text = append(text, line)
		}
		return text
	}
	find := func(want string) int {
		for i, line := range lines() {
			if line == want {
				return i
			}
		}
		t.Fatalf("no line %q in\n%s", want, strings.Join(lines(), "\n"))
		return -1
	}
	find("fuse at 12 places, saves 24 layers")
	find("tie rejected: dtype alone, i8")
	folded := len(lines())
	detail.list.Select(find("tie rejected at 12 places: shape, … is no matrix"))
	detail.Update(ui.Press("enter"))
	find("tie rejected: shape layer11, t11 is no matrix")
	if n := len(lines()); n != folded+12 {
		t.Errorf("%d lines, and %d with 12 places unfolded", folded, n)
	}
	detail.Update(ui.Press("enter"))
	if n := len(lines()); n != folded {
		t.Errorf("%d lines, and %d folded again", folded, n)
	}
}

// TestRejectedByPass: that a pass rejects what another rejects, too, is told apart.
func TestRejectedByPass(t *testing.T) {
	snap := &report.Snapshot{Passes: &report.Passes{Steps: make([]report.PassStep, 9)}}
	g := newGraphs(ui.NewLook(ui.Options{}), &panetest.Desk{})
	g.state.in.Snap = snap
	text := func() (s string) {
		for _, span := range siteLine(g.state, &site{rule: "fuse-sum", reason: "no gain", pass: 4, layers: []string{"conv"}}).Spans {
			s += span.Text
		}
		return s
	}
	if got, want := text(), "fuse-sum pass 5 rejected: no gain conv"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.state.ofPass = true
	if got, want := text(), "fuse-sum rejected: no gain conv"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
