package views

import (
	"errors"
	"strings"
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestSavePicture saves the screen as it is shown, and says where or why not.
func TestSavePicture(t *testing.T) {
	b := newBench(t, ui.Options{Theme: "dark"}, panetest.Fixture(t))
	var saved string
	save := func(svg string) (string, error) { saved = svg; return "/tmp/s.svg", nil }
	b.size(100, 30)
	msg, _ := savePicture(b.app, save)().(ui.StatusMsg)
	if !strings.Contains(msg.Text, "/tmp/s.svg") || !strings.HasPrefix(saved, "<svg ") || !strings.Contains(saved, "Summary") {
		t.Errorf("%q: %.80s", msg.Text, saved)
	}
	full := func(string) (string, error) { return "", errors.New("the disk is full") }
	if msg, _ = savePicture(b.app, full)().(ui.StatusMsg); !strings.Contains(msg.Text, "the disk is full") {
		t.Errorf("%q", msg.Text)
	}
	if text := b.app.PaneText(); !strings.Contains(text, "Summary") || !strings.Contains(text, "latency") || strings.Contains(text, "\x1b") {
		t.Errorf("the pane is %q", text)
	}
	b.press("Y")
	b.wants("lines copied: Summary")
}

// TestPicture draws each screen without a terminal.
func TestPicture(t *testing.T) {
	for _, digit := range screenKeys() {
		svg, err := Picture(&fake{snap: panetest.Fixture(t)}, Options{}, digit, 120, 40)
		if err != nil || !strings.HasPrefix(svg, "<svg ") || strings.Count(svg, "<text") < 20 {
			t.Errorf("screen %s: %v, %.100s", digit, err, svg)
		}
		if digit == "1" && (!strings.Contains(svg, "Configurations tried") || strings.Contains(svg, "each configuration that you try")) {
			t.Error("what is shown is not listed as tried")
		}
	}
}
