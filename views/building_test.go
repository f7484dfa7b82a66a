package views

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestRebuilding says that something is rebuilt as long as it is, and no longer: whether the work ends well, with an
// error, with the same error again, or with nothing to compare with.
func TestRebuilding(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	working := func(edit func(*report.Snapshot)) {
		t.Helper()
		next := *snap
		next.Config, next.Stale, next.Busy = b.last(), report.PartTimings, &report.Progress{Phase: "packing weights"}
		b.publish(&next)
		b.wants(": packing weights; esc stops", " 1.0 s ")
		next.Busy = nil
		edit(&next)
		b.publish(&next)
		if s := b.screen(); strings.Contains(s, "rebuilding") || strings.Contains(s, "packing weights") {
			t.Errorf("rebuilding lingers:\n%s", s)
		}
	}
	b.press("f")
	working(func(s *report.Snapshot) { s.Err = "layer Conv_3: no tactic" })
	b.wants("ERROR", "layer Conv_3: no tactic")
	b.press("u", "esc", "ctrl+r")
	working(func(s *report.Snapshot) { s.Err = "layer Conv_3: no tactic" })
	b.wants("ERROR", "layer Conv_3: no tactic")
	b.press("u")
	working(func(s *report.Snapshot) { s.Stale = 0 })
	b.press("f", "f") // the first is cancelled by the second
	working(func(s *report.Snapshot) { s.Stale = 0 })

	empty := &report.Snapshot{Seq: 1, Config: snap.Config, Busy: &report.Progress{Phase: "optimising"}}
	b = newBench(t, ui.Options{}, empty)
	b.size(120, 40)
	b.press("f")
	working(func(s *report.Snapshot) { s.Stale = 0 })
	b.wants("fp32: " + ui.Duration(snap.Timings.EndToEnd.Median))
}

// TestResizeWhileBuilding draws every screen at sizes that change between the events of a build.
func TestResizeWhileBuilding(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.press("f")
	for i, size := range [][2]int{{80, 24}, {60, 16}, {59, 16}, {200, 60}, {61, 45}, {119, 17}, {84, 24}, {1, 1}, {120, 40}} {
		next := *snap
		next.Config, next.Stale = b.last(), report.PartTimings|report.PartTactics
		next.Busy = &report.Progress{Phase: "timing tactics", Item: "stem/conv/Conv: conv_f32_avx512", Done: i}
		if i%2 == 0 {
			next.Passes, next.Timings, next.Tactics = nil, nil, nil
		}
		b.publish(&next)
		b.size(size[0], size[1])
		for _, digit := range screenKeys() {
			b.press(digit)
			lines := strings.Split(b.screen(), "\n")
			for y, line := range lines {
				if ui.Width(line) != size[0] || len(lines) != size[1] {
					t.Fatalf("%v screen %s: line %d of %d has %d cells", size, digit, y, len(lines), ui.Width(line))
				}
			}
		}
	}
	b.wants("timing tactics 8", " 9.0 s: stem")
}

// TestRecordedMidBuild replays a state that was recorded in the middle of a build: it says what was being done, and does
// not look as if that were still going on.
func TestRecordedMidBuild(t *testing.T) {
	snap := panetest.Fixture(t)
	timings := *snap.Timings
	timings.Live = true
	snap.Replay, snap.Busy, snap.Stale = "session.trtui", &report.Progress{Phase: "collecting activations", Done: 12, Total: 300}, report.PartAccuracy
	snap.Timings, snap.Accuracy = &timings, nil
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.wants("REPLAY", "mid-build")
	for _, digit := range screenKeys("6", "9", "0") {
		b.press(digit)
		if s := b.screen(); strings.Contains(s, "collecting activations") || strings.Contains(s, "LIVE") {
			t.Errorf("screen %s looks as if a build were going on:\n%s", digit, s)
		}
	}
	b.press("6")
	b.wants("comparison with FP32: not available yet when this was recorded, during", "collecting activations 12/300")
	if s := strings.Split(b.screen(), "\n"); strings.Contains(s[1], "collecting") {
		t.Errorf("a job runs in a replay:\n%s", s[1])
	}
	b.press("f")
	if s := b.screen(); strings.Contains(s, "rebuilding") {
		t.Errorf("a replay rebuilds:\n%s", s)
	}
}

// TestMidBuild tells the states of a recording at which a build was not over from those at which only its times were still
// getting better.
func TestMidBuild(t *testing.T) {
	busy := &report.Progress{Phase: "measuring"}
	for _, c := range []struct {
		name  string
		stale report.Parts
		busy  *report.Progress
		at    int
		cut   bool
		want  bool
	}{
		{"ended while measuring", 0, busy, 3, false, false},
		{"cut short while measuring", 0, busy, 3, true, true},
		{"before it was cut short", 0, busy, 1, true, false},
		{"stale", report.PartAccuracy, busy, 1, false, true},
		{"at rest", 0, nil, 3, true, false},
	} {
		snap := panetest.Fixture(t)
		snap.Replay, snap.Stale, snap.Busy = "session.trtui", c.stale, c.busy
		if got := midBuild(snap, &panetest.Timeline{At: c.at, Cut: c.cut}); got != c.want {
			t.Errorf("%s: mid-build %v", c.name, got)
		}
	}
}
