package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

func (l *timeline) Moment(i int) report.Moment {
	steps := l.Steps()
	return report.Moment{State: i + 1, States: len(steps), After: steps[i].Time.Sub(steps[0].Time), Time: steps[i].Time}
}

// film is a replay of 24 states, one every half second: FP32 first, then INT8; every third has all reports.
type film struct {
	timeline
	snap *report.Snapshot
}

func (l *film) Steps() []report.Step {
	steps := make([]report.Step, 24)
	for i := range steps {
		cfg := config.Config{Precision: config.FP32}
		if i >= 12 {
			cfg = config.Config{Precision: config.INT8, Calibrator: "mse"}
		}
		steps[i] = report.Step{Time: l.Moment(i).Time, After: l.Moment(i).After, Config: cfg, Settled: i%3 == 2}
	}
	return steps
}

func (l *film) Moment(i int) report.Moment {
	after := time.Duration(i) * 500 * time.Millisecond
	return report.Moment{State: i + 1, States: 24, After: after, Time: time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC).Add(after)}
}

// state returns the snapshot of the state that is shown.
func (l *film) state() *report.Snapshot {
	c, step, at := *l.snap, l.Steps()[l.at], l.Moment(l.at)
	c.Replay, c.At, c.Config = "session.trtui", &at, step.Config
	if !step.Settled {
		c.Stale, c.Busy = report.PartAccuracy, &report.Progress{Phase: "timing", Item: "conv1"}
	}
	return &c
}

// newReplayBench shows the last state of a film.
func newReplayBench(t *testing.T, o ui.Options) (*bench, *film) {
	t.Helper()
	l := &film{timeline: timeline{at: 23}, snap: fixture(t)}
	b := &bench{t: t, ctl: &fake{snap: l.state()}, now: l.Moment(0).Time}
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(o), Timeline: l, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(120, 40)
	b.publish(l.state())
	return b, l
}

// TestScrubEverywhere goes back and forth in a recording, on every screen.
func TestScrubEverywhere(t *testing.T) {
	b, l := newReplayBench(t, ui.Options{NoColor: true})
	b.wants("REPLAY 24/24")
	for _, screen := range screenKeys() {
		l.Seek(23)
		b.publish(l.state())
		b.press(screen)
		for _, step := range []struct {
			key  string
			want int
		}{{".", 24}, {",", 23}, {",", 22}, {"{", 12}, {"{", 2}, {"{", 1}, {",", 1}, {".", 2}, {"}", 12}, {"}", 22}, {"}", 24}} {
			b.press(step.key)
			b.publish(l.state())
			if l.at+1 != step.want {
				t.Errorf("screen %s: after %s state %d is shown, want %d", screen, step.key, l.at+1, step.want)
			}
			b.wants(fmt.Sprintf("REPLAY %d/24", step.want))
		}
	}
}

// TestScrubTells says where in the recording one is, and no more than that of states on the way.
func TestScrubTells(t *testing.T) {
	b, l := newReplayBench(t, ui.Options{NoColor: true})
	b.press(",")
	b.publish(l.state())
	b.wants("state 23/24, 00:11.0 after start, 2025-03-04 05:06:18: int8/mse, mid-build: timing conv1", "mid-build")
	b.size(80, 24)
	b.wants("state 23/24, 00:11.0 after start: int8/mse, mid-build: timing conv1")
	b.size(120, 40)
	b.press("{", ",")
	on := l.state()
	l.Seek(13)
	b.publish(l.state())
	if s := b.screen(); strings.Contains(s, "state 14/24, 00") {
		t.Errorf("tells of a state on the way:\n%s", s)
	}
	l.Seek(11)
	b.publish(on)
	b.wants("state 12/24, 00:05.5 after start, 2025-03-04 05:06:12: fp32")
	b.press("{", "{", ",")
	b.wants("state 1/24, 00:00.0 after start, 2025-03-04 05:06:07: the first that was recorded")
	l.Seek(2)
	broken := l.state()
	broken.Err = "report is damaged"
	l.Seek(1)
	b.press(".")
	b.publish(broken)
	b.wants("state 3/24", "report is damaged")
}

// TestStates lists the states with the time of each; the cursor follows what is shown, and enter shows what is under it.
func TestStates(t *testing.T) {
	for _, o := range []ui.Options{{NoColor: true}, {NoColor: true, ASCII: true}} {
		l := &film{timeline: timeline{at: 23}, snap: fixture(t)}
		v := newStatesView(ui.NewLook(o), l, nil)
		v.Update(l.state())
		l.Seek(11)
		v.Update(l.state())
		if v.table.Row() != 11 {
			t.Errorf("the cursor is at %d", v.table.Row())
		}
		v.table.Select(2)
		v.Update(l.state())
		if v.table.Row() != 2 {
			t.Errorf("the cursor went to %d while the state stayed", v.table.Row())
		}
		v.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
		if l.at != 2 {
			t.Errorf("enter shows state %d, want 2", l.at)
		}
		v.Update(l.state())
		out := ansi.Strip(v.Render(78, 14))
		lines := strings.Split(out, "\n")
		if !strings.Contains(lines[0], "state 3/24, 00:01.0 after start") || !strings.Contains(lines[1], "00:11.5") || !strings.Contains(out, "05:06:08") {
			t.Errorf("state, axis or times are missing in\n%s", out)
		}
		// The mark stands below the column of the state that is shown: 61 cells for 11.5 s, of which 1 s is the sixth.
		if at := slices.Index([]rune(lines[2]), v.in.look.Glyphs.Up); at != 9+5 {
			t.Errorf("the mark is at %d in\n%s", at, out)
		}
		if got, want := []rune(lines[1])[14], v.in.look.Glyphs.Columns[8]; got != want {
			t.Errorf("state 3 is drawn as %c, want %c in\n%s", got, want, out)
		}
		for _, size := range [][2]int{{1, 1}, {10, 3}, {20, 12}, {200, 7}, {0, 0}} {
			v.Render(size[0], size[1])
		}
	}
}

// TestWhenAtOnce draws states of one moment, and states that a clock set back has put before the first.
func TestWhenAtOnce(t *testing.T) {
	start := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, steps := range [][]report.Step{
		{{Time: start}},
		{{Time: start}, {Time: start.Add(-time.Hour), Settled: true}},
	} {
		look := ui.NewLook(ui.Options{NoColor: true})
		out := look.Render(60, 2, func(c *ui.Canvas) { drawWhen(c, steps, report.Moment{State: 1, States: len(steps), Time: start}) })
		if strings.Count(out, "00:00.0") != 2 || strings.Count(out, "▲") != 1 {
			t.Errorf("%d states:\n%s", len(steps), out)
		}
	}
}
