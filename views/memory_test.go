package views

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestPlanners looks at the planners beside each other, and at a report that has none.
func TestPlanners(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
		o    ui.Options
	}{{"80x24", 80, 24, ui.Options{NoColor: true}}, {"120x40", 120, 40, ui.Options{NoColor: true, ASCII: true}}, {"200x60", 200, 60, ui.Options{NoColor: true}}} {
		b := newBench(t, size.o, panetest.Fixture(t))
		b.size(size.w, size.h)
		b.press("4", "v", "down", "down")
		b.wants("Arena by planner", "this plan", "greedy by size", "greedy in order", "lower bound")
		t.Run(size.name, func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
		b.press("v")
		b.lacks("greedy in order")
	}
	snap := *panetest.Fixture(t)
	m := *snap.Memory
	m.Planners, snap.Memory = nil, &m
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.press("4", "v")
	b.wants("no other planner was recorded")
}
