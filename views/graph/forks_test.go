package graph

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestForks: what the plan runs side by side, and what it tried and dropped, stand with the rules behind all passes and with the layers
// that they are of; x switches one off.
func TestForks(t *testing.T) {
	desk := &panetest.Desk{}
	s := Screen(ui.NewLook(ui.Options{NoColor: true}), desk, nil)
	snap := *panetest.Fixture(t)
	layer := snap.Passes.Source[1].Name
	tactics := *snap.Tactics
	lanes := [][]report.LaneStep{{{Step: "a"}, {Step: "b"}}, {{Step: "c"}}}
	tactics.Forks = []report.Fork{{Site: "side-by-side:a,b,c", Layers: []string{"a", "b", "c"}, Lanes: lanes,
		InTurn: 20 * time.Microsecond, Beside: 15 * time.Microsecond, Gain: 0.25, Predicted: 0.3}}
	tactics.Dropped = []report.Fork{
		{Site: "side-by-side:d", Layers: []string{layer}, Lanes: lanes, InTurn: 20 * time.Microsecond, Beside: 22 * time.Microsecond, Gain: -0.1, Predicted: 0.05,
			Reason: "no gain", Detail: "as measured"},
		{Site: "side-by-side:e", Layers: []string{"e"}, Lanes: lanes, Predicted: 0.2, Reason: disabled, Detail: "this place is switched off"},
	}
	passes := *snap.Passes
	passes.Rules = []report.Rule{{Name: "side-by-side", Doc: "steps at the same time"}}
	snap.Tactics, snap.Passes = &tactics, &passes
	var detail *detailView
	for _, v := range s.Views {
		v.Update(&snap)
		if d, ok := v.(*detailView); ok {
			detail = d
		}
	}
	text := func() string {
		detail.width = 200
		detail.build()
		var lines []string
		for _, l := range detail.lines {
			line := ""
			for _, span := range l.Spans {
				line += span.Text
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n")
	}
	detail.g.show(len(passes.Steps))
	for _, want := range []string{
		"side-by-side            1 applied  2 rejected  steps at the same time",
		"side-by-side a + b + c, 3 steps in 2 lanes, in turn 20.0 µs, side by side 15.0 µs, 25.0% less, 30.0% less predicted",
		"side-by-side rejected: no gain " + layer + ", as measured: 3 steps in 2 lanes, in turn 20.0 µs, side by side 22.0 µs, 10.0% more, 5.0% less predicted",
		"side-by-side off e, this place is switched off",
	} {
		if !strings.Contains(text(), want) {
			t.Errorf("no line %q in\n%s", want, text())
		}
	}
	detail.g.state.ofPass = false
	detail.g.state.side = sourceSide
	detail.g.sides.lists[sourceSide].build()
	for i, l := range detail.g.sides.lists[sourceSide].lines {
		if l.layers == 0 && passes.Source[l.layer].Name == layer {
			detail.g.sides.lists[sourceSide].list.Select(i)
		}
	}
	if got := text(); !strings.Contains(got, "side-by-side rejected: no gain "+layer) {
		t.Errorf("layer %s has no fork in\n%s", layer, got)
	}
}
