package views

import (
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestTour shows the tour once; any key ends it, does what it does, and has it noted. What cannot be noted is said.
func TestTour(t *testing.T) {
	for _, c := range []struct {
		key   string
		fails error
		now   string // what is on the screen then
	}{
		{key: "enter", now: "Configurations tried"}, {key: "esc", now: "Configurations tried"}, {key: "q", now: "Configurations tried"},
		{key: "4", now: "4 Memory"}, {key: "f", now: "[FP32]"}, {key: "?", now: "Help"},
		{key: "enter", fails: errors.New("the folder is read-only"), now: "this will be shown again: the folder is read-only"},
	} {
		b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
		seen := 0
		keys, err := ui.ReadKeymap("keys.yaml", []byte("everywhere:\n  commands: f9\n"))
		if err != nil {
			t.Fatal(err)
		}
		app, err := NewWorkbench(silent{b.ctl}, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Keys: keys, Now: b.clock, After: b.after,
			TourSeen: func() error { seen++; return c.fails }})
		if err != nil {
			t.Fatal(err)
		}
		b.app = app
		b.publish(panetest.Fixture(t))
		for _, size := range [][2]int{{ui.MinWidth, ui.MinHeight}, {80, 24}, {200, 60}} {
			b.size(size[0], size[1])
			if size[0] == ui.MinWidth {
				b.run(app.Init())
			}
			b.wants("Welcome", "Any key goes on", "f9 finds any", "f builds")
		}
		b.send(tea.MouseClickMsg{X: 20, Y: 10, Button: tea.MouseLeft})
		b.wants("Welcome")
		b.press(c.key)
		b.lacks("Welcome")
		b.wants(c.now)
		if seen != 1 {
			t.Errorf("%s: noted %d times", c.key, seen)
		}
		if asked := len(b.ctl.set); (asked > 0) != (c.key == "f") || asked > 0 && b.last().Precision != config.FP32 {
			t.Errorf("%s asked for %+v", c.key, b.ctl.set)
		}
		b.run(app.Init()) // as where a recording is left
		b.lacks("Welcome")
	}
}

// silent is a controller without events.
type silent struct{ *fake }

func (silent) Events() <-chan *report.Snapshot {
	events := make(chan *report.Snapshot)
	close(events)
	return events
}
