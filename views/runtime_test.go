package views

import (
	"slices"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestRuntime looks at the panes of an engine that serves ranges.
func TestRuntime(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		b := newBench(t, ui.Options{NoColor: true}, &snap)
		b.size(size[0], size[1])
		b.press("8", "tab", "tab", "down")
		b.wants("Profile", "Least, best, largest", "Along an axis", "length", "256", "Contexts at a time", "3 best")
		if size[0] == 120 {
			t.Run("120x40", func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
		}
		b.press("tab", "=")
		b.wants("2 best", "at most 3.20 ms")
	}
}

// TestAlongAxis: every axis with a range has its curve, as a picture where there is room and as a table, and the point to choose within
// a latency is marked: of a batch the most items a second, of another axis the largest.
func TestAlongAxis(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(200, 60)
	b.press("8", "tab", "tab")
	b.wants("axis 2 of 2, any latency, at batch 2, items/s by median", "17.22 ms │", " length ", "10.24 ms")
	b.lacks("512 largest", "1 best")
	b.press("=", "=", "=", "=", "=", "=", "=", "=")
	b.wants("at most 5.00 ms", "128 largest")
	t.Run("length", func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
	b.press("=", "=")
	b.wants("any latency")
	b.press("s", "s")
	b.wants("axis 1 of 2, any latency", "8 best")
	b.press("=")
	b.wants("at most 2.00 ms", "1 best")
	t.Run("batch", func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
	b.press("s")
	b.wants("axis 2 of 2, at most 2.00 ms")
	b.press("s")
	b.wants("batch × length", "median ms, * best, ( ) over the limit, length across", "*1.92", "4x64 best")
	t.Run("both", func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
	b.press("A")
	b.wants("two profiles are of one axis")
	b.press("s", "s")
	b.wants("axis 2 of 2, at most 2.00 ms")
	for _, c := range []struct {
		state func(*report.Snapshot)
		want  string
	}{
		{func(s *report.Snapshot) { s.Stopped = true }, "length is not measured: r goes on"},
		{func(s *report.Snapshot) { s.Replay = "a" }, "length was not measured when this was recorded"},
		{func(s *report.Snapshot) { s.Device.Estimated = true }, "nothing is measured here: times are estimates"},
		{func(s *report.Snapshot) { s.Busy = &report.Progress{Phase: "measuring"} }, "length will be measured"},
	} {
		now := snap
		r := *snap.Runtime
		r.Axes = slices.Clone(r.Axes)
		r.Axes[1].Curve = nil
		now.Runtime = &r
		c.state(&now)
		b.publish(&now)
		b.wants(c.want)
	}
}

// TestSplitRange: a key has a range measured beside parts of it, the curve of the faster part is drawn beside that of the range, and another
// key asks for the two profiles.
func TestSplitRange(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(200, 60)
	b.press("8", "tab", "tab", "p")
	b.wants("not measured yet")
	b.press("A")
	if got := b.ctl.asked[len(b.ctl.asked)-1]; got != "split length" {
		t.Errorf("A asks for %q", got)
	}
	with := snap
	with.Split = panetest.Split(snap.Config)
	b.publish(&with)
	b.wants("split at 33: -20.0 % at 1, noise ±2.4 %, +3.0 MiB", "-20.0 %")
	t.Run("wide", func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
	b.press("p")
	if c := b.last(); len(c.Profiles) != 1 || c.MinShapes["ids"][1] != 33 || c.Profiles[0].MaxShapes["ids"][1] != 32 {
		t.Errorf("p asks for %+v", c)
	}
	b.press("s")
	b.lacks("split at")
	one := *with.Split
	one.Found, one.Base.Precision = nil, config.FP32
	other := with
	other.Split = &one
	b.press("s", "s")
	b.publish(&other)
	b.wants("of fp32: one range is enough", "-20.0 %", "+11.1 %")
}

// TestServedUnmeasured: the shapes that an engine serves are there to be changed before anything is measured.
func TestServedUnmeasured(t *testing.T) {
	snap := *panetest.Fixture(t)
	served := panetest.Served()
	served.Contexts, served.Points = nil, served.Points[1:2]
	served.Points[0].Latency = report.Latency{}
	for i := range served.Axes {
		served.Axes[i].Curve = nil
	}
	snap.Runtime, snap.Busy = served, &report.Progress{Phase: "measuring"}
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(120, 40)
	b.press("8")
	b.wants("length                           1        128        512", "it will be measured", "length will be measured")
	b.press("tab", "tab", "=", "s", "s", "tab", "=", "e")
	b.lacks("best 0", "0 ns")
	b.press("tab", "e")
	b.wants("batch=1..2..8 length=1..128..512")
}

// TestContextsThreads: each context has a thread at least, and where the best number of them has more than the engine was given it is
// said; what items per second are counted by is, too.
func TestContextsThreads(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	snap.Device.Threads = 1
	for i := range snap.Runtime.Contexts {
		snap.Runtime.Contexts[i].Threads = 1
	}
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(200, 40)
	b.press("8")
	b.wants("items/s by median", "best takes 3 threads, engine has 1", "threads")
	snap.Device.Threads = 4
	b.publish(&snap)
	b.wants(" by wall time, any latency")
	b.lacks("best takes")
}

// TestEditShapes: the dialog has the shapes as they are, stays where something is wrong, and rebuilds.
func TestEditShapes(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	for _, size := range []struct {
		name string
		w, h int
		o    ui.Options
	}{{"edit_80x24", 80, 24, ui.Options{NoColor: true}}, {"edit_120x40", 120, 40, ui.Options{NoColor: true, ASCII: true}}, {"edit_200x60", 200, 60, ui.Options{NoColor: true}}} {
		b := newBench(t, size.o, &snap)
		b.size(size.w, size.h)
		b.press("8", "e")
		b.wants("Shapes to serve", "batch=1..2..8 length=1..128..512")
		b.press("backspace", "backspace", "backspace", "6", "4", "enter")
		b.wants("axis length: 1..128..64: want 1 to", "Shapes to serve")
		t.Run(size.name, func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
		b.press("backspace", "backspace", "2", "5", "6", "enter")
		b.lacks("Shapes to serve")
		if got := b.last(); got.MaxShapes["ids"][1] != 256 || got.Shapes["mask"][1] != 128 || got.Batch != 2 {
			t.Errorf("it asks for %v", got)
		}
	}
}

// TestPlannedAgain: the header says that an engine runs at other shapes than those of its file.
func TestPlannedAgain(t *testing.T) {
	snap := *panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(160, 40)
	b.lacks(report.PlannedAgain)
	again, overview := snap, *snap.Overview
	overview.Badges = []report.Badge{{Text: report.PlannedAgain, Why: "the engine was built for x:1x4 alone"}}
	again.Overview, again.Seq = &overview, snap.Seq+1
	b.publish(&again)
	b.wants(report.PlannedAgain)
}
