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
	save := func(extension string, data []byte) (string, error) {
		saved = string(data)
		return "/tmp/s." + extension, nil
	}
	b.size(100, 30)
	msg, _ := savePicture(b.app, ui.PictureForms()[0], save)().(ui.StatusMsg)
	if !strings.Contains(msg.Text, "/tmp/s.svg") || !strings.HasPrefix(saved, "<svg ") || !strings.Contains(saved, "Summary") {
		t.Errorf("%q: %.80s", msg.Text, saved)
	}
	full := func(string, []byte) (string, error) { return "", errors.New("the disk is full") }
	if msg, _ = savePicture(b.app, ui.PictureForms()[0], full)().(ui.StatusMsg); !strings.Contains(msg.Text, "the disk is full") {
		t.Errorf("%q", msg.Text)
	}
	if text := b.app.PaneText(); !strings.Contains(text, "Summary") || !strings.Contains(text, "latency") || strings.Contains(text, "\x1b") {
		t.Errorf("the pane is %q", text)
	}
	b.press("Y")
	b.wants("lines copied: Summary")
}
