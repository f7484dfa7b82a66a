package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestReplayOffersWhatWorks presses every key on every screen of a replay: those that the help lists may only look and
// go to what was recorded, the others say why they do nothing.
func TestReplayOffersWhatWorks(t *testing.T) {
	b, l := newReplayBench(t, ui.Options{NoColor: true})
	b.size(160, 60)
	for _, screen := range screenKeys() {
		b.press(screen, "?")
		for _, gone := range []string{"rebuild the engine", "run the inference again", "start or stop recording", "precision of the layer",
			"pin this tactic", "measure all tactics", "drop entries", "switch a rule", "next calibrator", "undo the last", "redo the change that was undone"} {
			if strings.Contains(b.screen(), gone) {
				t.Errorf("screen %s: the help offers %q", screen, gone)
			}
		}
		b.wants("next precision")
		b.press("esc")
	}
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"1", "r"}, inReplay},
		{[]string{"1", "R"}, inReplay},
		{[]string{"2", "x"}, inReplay},
		{[]string{"2", "P"}, inReplay},
		{[]string{"3", "P"}, inReplay},
		{[]string{"7", "t"}, inReplay},
		{[]string{"7", "tab", "p"}, inReplay},
		{[]string{"7", "x"}, inReplay},
		{[]string{"7", "tab", "D"}, inReplay},
		{[]string{"1", "w"}, "this is a recording already"},
		{[]string{"1", "u"}, "nothing to undo"},
		{[]string{"1", "ctrl+r"}, "nothing to redo"},
		{[]string{"1", "c"}, "the model was recorded with int8/mse only"},
		{[]string{"1", "E"}, "E does nothing here; ? lists the keys that do"},
	} {
		b.press(c.keys...)
		b.wants(c.want)
	}
	if len(b.ctl.set) != 0 || len(b.ctl.asked) != 0 || b.ctl.reruns != 0 {
		t.Errorf("asked a replay for %v, %v, %d re-runs", b.ctl.set, b.ctl.asked, b.ctl.reruns)
	}
	b.press("1", "f")
	if got := b.last(); got.Precision != config.FP32 {
		t.Errorf("f goes to %+v, which was not recorded", got)
	}
	l.Seek(3)
	b.publish(l.State())
	b.press("f")
	if got := b.last(); got.Precision != config.INT8 || got.Calibrator != "mse" {
		t.Errorf("f goes to %+v, which was not recorded", got)
	}
}

// TestKeysOfTheState offers keys where there is something for them to do.
func TestKeysOfTheState(t *testing.T) {
	snap := panetest.Fixture(t)
	own := *snap
	model := *snap.Model
	model.Ops = map[string]int{"QuantizeLinear": 3}
	own.Model = &model
	estimated := *snap
	estimated.Device.Estimated = true
	for _, c := range []struct {
		name   string
		snap   *report.Snapshot
		keys   []string
		want   string
		listed bool
		help   string
	}{
		{"pin", snap, []string{"7", "p"}, "not pinned; choose a candidate", false, "let the builder choose for this layer again"},
		{"percentile", snap, []string{"5", ","}, "press c for percentile or entropy", false, "higher percentile"},
		{"calibrator", snap, []string{"1"}, "", true, "next calibrator"},
		{"calibrator of its own", &own, []string{"1", "c"}, "calibrators do not apply", false, "next calibrator"},
		{"precision of its own", &own, []string{"2", "P"}, "its layers keep their precision", false, "precision of the layer"},
		{"re-time", snap, []string{"7"}, "", true, "measure all tactics"},
		{"re-time an estimate", &estimated, []string{"7", "t"}, "there is nothing to measure", false, "measure all tactics"},
		{"record", snap, []string{"1", "w"}, "this is a recording already", false, "start or stop recording"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, ui.Options{NoColor: true}, c.snap)
			b.size(160, 60)
			b.press(c.keys...)
			b.wants(c.want)
			b.press("?")
			if got := strings.Contains(b.screen(), c.help); got != c.listed {
				t.Errorf("the help has %q: %v, want %v", c.help, got, c.listed)
			}
		})
	}
}

// TestEscStops stops what is running, and only where there is nothing to go back from.
func TestEscStops(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.press("esc")
	if len(b.ctl.asked) != 0 {
		t.Errorf("esc asks an idle session for %q", b.ctl.asked)
	}
	b.press("f")
	b.wants("fp32: rebuilding; esc stops")
	busy := *snap
	busy.Config.Precision, busy.Stale = config.FP32, report.PartTimings
	busy.Busy = &report.Progress{Phase: "timing tactics", Done: 3}
	b.publish(&busy)
	b.press("?", "esc", "z", "esc")
	if len(b.ctl.asked) != 0 {
		t.Errorf("esc has something to go back from, but asks for %q", b.ctl.asked)
	}
	b.press("esc")
	if !slices.Equal(b.ctl.asked, []string{"cancel"}) {
		t.Errorf("esc asks for %q", b.ctl.asked)
	}
	b.wants("stopped: press r to start it again, u to undo the last change")
	stopped := busy
	stopped.Busy, stopped.Stopped = nil, true
	b.publish(&stopped)
	b.wants("STALE")
	stopped.Timings, stopped.Overview = nil, nil
	b.publish(&stopped)
	b.press("3")
	b.wants("layer times: stopped before it was available", "press r to continue")
}

// TestCutShort says of times from a measurement that was stopped that they are, and after how many runs, in a recording too.
func TestCutShort(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	for _, replay := range []string{"", "net.trtui"} {
		short, timings := *snap, *snap.Timings
		timings.Live, timings.Samples = true, 40
		short.Timings, short.Stopped, short.Replay, short.Seq = &timings, true, replay, b.ctl.snap.Seq+1
		b.size(80, 24)
		b.publish(&short)
		for _, digit := range []string{"1", "3"} {
			b.press(digit)
			b.wants(" stopped after 40 runs ", "[INT8]")
			if s := b.screen(); strings.Contains(s, "LIVE") {
				t.Errorf("screen %s looks as if it were measured on:\n%s", digit, s)
			}
		}
		b.wants("steps, stopped after 40 runs")
		b.press("1")
		b.size(160, 50)
		b.wants("median of 40, stopped")
	}
	stale := *b.ctl.snap // the times are of an older measurement, which came to its end or not
	stale.Stale, stale.Seq = report.PartTimings, stale.Seq+1
	b.publish(&stale)
	if s := b.screen(); strings.Contains(s, "stopped after") {
		t.Errorf("older times are those of the measurement that was stopped:\n%s", s)
	}
}
