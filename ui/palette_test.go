package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// TestPalette finds commands by their names, and runs them where they belong.
func TestPalette(t *testing.T) {
	var intents []Intent
	app, p := probes(t, func(i Intent) tea.Cmd { intents = append(intents, i); return nil })
	p[2].keys = []Key{K("y", "", "count the lines"), {Keys: []string{"w"}, Long: "weigh", Off: "there is no scale"}}
	run := func(text string) {
		t.Helper()
		press(app, ":")
		for _, r := range text {
			if r == ' ' {
				press(app, "space")
				continue
			}
			press(app, string(r))
		}
		press(app, "enter")
		if app.dialog() != nil {
			t.Errorf("%q: a dialog is open", text)
		}
	}
	run("lines count")
	if !slices.Equal(p[2].got, []string{"y"}) || app.screen().Key != "0" {
		t.Errorf("the pane of another screen got %q, screen %s is shown", p[2].got, app.screen().Key)
	}
	run("nxtcal") // letters in their order
	run("toggle")
	if !slices.Equal(intents, []Intent{NextCalibrator}) || !slices.Equal(p[0].got, []string{"x"}) || app.screen().Key != "1" {
		t.Errorf("intents %q, left got %q, screen %s", intents, p[0].got, app.screen().Key)
	}
	run("show log")
	if app.screen().Key != "0" {
		t.Errorf("screen %s", app.screen().Key)
	}
	run("weigh")
	if !strings.Contains(app.status.Text, "no scale") || len(p[2].got) != 1 {
		t.Errorf("what does nothing: status %q, got %q", app.status.Text, p[2].got)
	}
	press(app, "1", ":")
	first := app.dialog().(*palette).found[:3]
	if first[0].text != "weigh" || first[1].text != "show Log" || first[2].text != "toggle" {
		t.Errorf("not what ran last: %v", first)
	}
	run("what are the lines of my weights")
	if len(p[2].got) != 2 {
		t.Errorf("of a question it runs %q", p[2].got)
	}
	press(app, "1", ":")
	press(app, "q", "q", "q", "%")
	if screen := ansi.Strip(app.Content()); !strings.Contains(screen, "nothing is called that") {
		t.Error(screen)
	}
	press(app, "enter", "esc")
	if app.dialog() != nil {
		t.Error("esc leaves it open")
	}
}

// TestPress makes every key that the frame knows, by its name.
func TestPress(t *testing.T) {
	names := []string{"x", "X", "%", "é", "ctrl+d", "ctrl+r", "shift+tab", "backspace", "delete", "alt+x"}
	for _, keys := range [][]Key{MotionKeys(), FilterKeys(), frameKeys(&Screen{Views: make([]View, 2), Layouts: make([]Box, 2)})} {
		for _, k := range keys {
			names = append(names, k.Keys...)
		}
	}
	for _, name := range names {
		if got := Press(name).String(); got != name {
			t.Errorf("%s is %s", name, got)
		}
	}
}

// TestPictureOfDialog: ctrl+s saves a picture of what is open, too.
func TestPictureOfDialog(t *testing.T) {
	for _, dialog := range []string{":", "?"} {
		var intents []Intent
		app, _ := probes(t, func(i Intent) tea.Cmd { intents = append(intents, i); return nil })
		for _, key := range []string{dialog, "ctrl+s"} {
			if cmd := app.key(Press(key)); cmd != nil {
				cmd()
			}
		}
		if !slices.Equal(intents, []Intent{SavePicture}) || app.dialog() == nil {
			t.Errorf("%s: %v", dialog, intents)
		}
	}
}
