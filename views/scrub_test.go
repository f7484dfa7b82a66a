package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// newReplayBench shows the last state of a film.
func newReplayBench(t *testing.T, o ui.Options) (*bench, *panetest.Film) {
	t.Helper()
	l := &panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}
	b := &bench{t: t, ctl: &fake{snap: l.State()}, now: l.Moment(0).Time}
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(o), Timeline: l, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(120, 40)
	b.publish(l.State())
	return b, l
}

// TestScrubEverywhere goes back and forth in a recording, on every screen.
func TestScrubEverywhere(t *testing.T) {
	b, l := newReplayBench(t, ui.Options{NoColor: true})
	b.wants("REPLAY 24/24")
	for _, screen := range screenKeys() {
		l.Seek(23)
		b.publish(l.State())
		b.press(screen)
		for _, step := range []struct {
			key  string
			want int
		}{{".", 24}, {",", 23}, {",", 22}, {"{", 12}, {"{", 2}, {"{", 1}, {",", 1}, {".", 2}, {"}", 12}, {"}", 22}, {"}", 24}} {
			b.press(step.key)
			b.publish(l.State())
			if l.At+1 != step.want {
				t.Errorf("screen %s: after %s state %d is shown, want %d", screen, step.key, l.At+1, step.want)
			}
			b.wants(fmt.Sprintf("REPLAY %d/24", step.want))
		}
	}
}

// TestScrubTells says where in the recording one is, and no more than that of states on the way.
func TestScrubTells(t *testing.T) {
	b, l := newReplayBench(t, ui.Options{NoColor: true})
	b.press(",")
	b.publish(l.State())
	b.wants("state 23/24, 00:11.0 after start, 2025-03-04 05:06:18: int8/mse, mid-build: timing conv1", "mid-build")
	b.size(80, 24)
	b.wants("state 23/24, 00:11.0 after start: int8/mse, mid-build: timing conv1")
	b.size(120, 40)
	b.press("{", ",")
	on := l.State()
	l.Seek(13)
	b.publish(l.State())
	if s := b.screen(); strings.Contains(s, "state 14/24, 00") {
		t.Errorf("tells of a state on the way:\n%s", s)
	}
	l.Seek(11)
	b.publish(on)
	b.wants("state 12/24, 00:05.5 after start, 2025-03-04 05:06:12: fp32")
	b.press("{", "{", ",")
	b.wants("state 1/24, 00:00.0 after start, 2025-03-04 05:06:07: the first that was recorded")
	l.Seek(2)
	broken := l.State()
	broken.Err = "report is damaged"
	l.Seek(1)
	b.press(".")
	b.publish(broken)
	b.wants("state 3/24", "report is damaged")
}
