package views

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
)

// shot draws a screen as text.
func shot(t *testing.T, o Options, s Shot) string {
	t.Helper()
	s.Cells, s.Lines = 120, 40
	picture, err := Picture(&fake{snap: panetest.Fixture(t)}, o, s)
	if err != nil {
		t.Fatalf("%s %s: %v", s.Screen, s.Keys, err)
	}
	return ansi.Strip(picture.Content)
}

// TestPicture draws each screen without a terminal, by its name, and what keys lead to.
func TestPicture(t *testing.T) {
	for _, name := range ScreenNames(&fake{snap: &report.Snapshot{}}) {
		text := shot(t, Options{}, Shot{Screen: name})
		if n := strings.Count(text, "\n"); n != 39 {
			t.Errorf("screen %s has %d lines", name, n+1)
		}
		if name == "overview" && (!strings.Contains(text, "Configurations tried") || strings.Contains(text, "each configuration that you try")) {
			t.Error("what is shown is not listed as tried")
		}
		if want := strings.ToUpper(name[:1]) + name[1:]; !strings.Contains(text, want) {
			t.Errorf("screen %s is not named:\n%s", name, text)
		}
	}
	for name, want := range map[string]string{"Tried": "Configurations tried", "9": "Recordings", "3": "histogram"} {
		if text := shot(t, Options{}, Shot{Screen: name}); !strings.Contains(text, want) {
			t.Errorf("screen %s is without %q", name, want)
		}
	}
	if text := shot(t, Options{}, Shot{Screen: "timings", Keys: []string{"v", "v", "v"}}); !strings.Contains(text, "lanes") {
		t.Errorf("v three times:\n%s", text)
	}
	for says, s := range map[string]Shot{"want overview, graph, timings": {Screen: "nowhere"}, `called "hyper"`: {Screen: "1", Keys: []string{"hyper"}}} {
		if _, err := Picture(&fake{snap: panetest.Fixture(t)}, Options{}, s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// TestPictureCompared draws two side by side, which are read first.
func TestPictureCompared(t *testing.T) {
	snap, slower := panetest.Fixture(t), *panetest.Fixture(t)
	timings := *slower.Timings
	timings.EndToEnd.Median += 300 * time.Microsecond
	slower.Timings = &timings
	mark := func(name string, s *report.Snapshot) pane.Mark {
		return pane.Mark{Name: name, Read: func() (*report.Snapshot, error) { return s, nil }}
	}
	text := shot(t, Options{Compared: []pane.Mark{mark("monday", snap), mark("tuesday", &slower)}}, Shot{Screen: "compare"})
	if !strings.Contains(text, "monday") || !strings.Contains(text, "tuesday") || strings.Contains(text, "nothing is compared") {
		t.Errorf("nothing is compared:\n%s", text)
	}
	three := Options{Compared: []pane.Mark{mark("monday", snap), mark("tuesday", &slower), mark("tuesday", snap)}}
	text = shot(t, three, Shot{Screen: "matrix"})
	for _, want := range []string{"A  monday", "C  tuesday (2)", "farthest apart", "Latency and", "stem/conv"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
}

// TestPictureEntries saves the screen as PNG and as HTML by the palette.
func TestPictureEntries(t *testing.T) {
	saved := map[string]string{}
	app, err := NewWorkbench(&fake{snap: panetest.Fixture(t)}, Options{SavePicture: func(extension string, data []byte) (string, error) {
		saved[extension] = string(data[:min(len(data), 15)])
		return "/tmp/s." + extension, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	app.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, e := range pictureEntries() {
		settle(app, e.Run)
	}
	if !strings.HasPrefix(saved["png"], "\x89PNG") || !strings.HasPrefix(saved["html"], "<!DOCTYPE html>") || len(saved) != len(ui.PictureForms())-1 {
		t.Errorf("saved %q", saved)
	}
}
