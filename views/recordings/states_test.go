package recordings

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestScrub goes back and forth in a recording.
func TestScrub(t *testing.T) {
	l := &panetest.Timeline{At: 3}
	v := newStatesView(ui.NewLook(ui.Options{NoColor: true}), l, Shelf{Marked: func(string) string { return "" }})
	v.table.Select(2)
	v.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if l.At != 2 {
		t.Errorf("enter shows state %d, want 2", l.At)
	}
	if out := v.Render(60, 6); !strings.Contains(out, "int8/mse") || !strings.Contains(out, "00:04.0") {
		t.Errorf("states are missing in\n%s", out)
	}
}

// TestStates lists the states with the time of each; the cursor follows what is shown, and enter shows what is under it.
func TestStates(t *testing.T) {
	for _, o := range []ui.Options{{NoColor: true}, {NoColor: true, ASCII: true}} {
		l := &panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}
		v := newStatesView(ui.NewLook(o), l, Shelf{Marked: func(string) string { return "" }})
		v.Update(l.State())
		l.Seek(11)
		v.Update(l.State())
		if v.table.Row() != 11 {
			t.Errorf("the cursor is at %d", v.table.Row())
		}
		v.table.Select(2)
		v.Update(l.State())
		if v.table.Row() != 2 {
			t.Errorf("the cursor went to %d while the state stayed", v.table.Row())
		}
		v.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
		if l.At != 2 {
			t.Errorf("enter shows state %d, want 2", l.At)
		}
		v.Update(l.State())
		out := ansi.Strip(v.Render(78, 14))
		lines := strings.Split(out, "\n")
		if !strings.Contains(lines[0], "state 3/24, 00:01.0 after start") || !strings.Contains(lines[1], "00:11.5") || !strings.Contains(out, "05:06:08") {
			t.Errorf("state, axis or times are missing in\n%s", out)
		}
		// The mark stands below the column of the state that is shown: 61 cells for 11.5 s, of which 1 s is the sixth.
		if at := slices.Index([]rune(lines[2]), v.in.Look.Glyphs.Up); at != 9+5 {
			t.Errorf("the mark is at %d in\n%s", at, out)
		}
		if got, want := []rune(lines[1])[14], v.in.Look.Glyphs.Columns[8]; got != want {
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
