package views

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/recordings"
)

// TestBackToLive leaves a replay for the session that it was opened from: by esc on any screen, once there is nothing else to
// go back from, and by the first row of the recordings.
func TestBackToLive(t *testing.T) {
	l := &panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}
	returned, opened := 0, ""
	live := &recordings.Live{Snapshot: func() *report.Snapshot { return l.Snap }, Return: func() tea.Msg { returned++; return nil }}
	b := &bench{t: t, ctl: &fake{snap: l.State()}, now: l.Moment(0).Time}
	open := func(path string) tea.Cmd { opened = path; return nil }
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Timeline: l, Live: live, Open: open, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(120, 40)
	b.publish(l.State())
	for i, screen := range screenKeys() {
		b.press(screen)
		if i > 0 && i < 7 {
			b.press("z", "esc")
		}
		if returned != i {
			t.Fatalf("screen %s: esc leaves the replay instead of the zoom", screen)
		}
		b.press("esc")
		if returned != i+1 {
			t.Fatalf("screen %s: esc does not lead back", screen)
		}
	}
	b.press("1", "?")
	b.wants("back to the live session")
	b.press("esc", "r")
	b.wants("esc leads back to the live session")
	b.send(ui.GotoMsg{Screen: "9", Page: pane.RecordingsPage})
	b.press("tab")
	b.wants("live session", "esc live")
	b.send(recordings.List(folder([]*report.Recording{{Path: "there/old.trtui", Complete: true}}))())
	rows := strings.Split(b.screen(), "\n")
	at := func(text string) int {
		for i, r := range rows {
			if strings.Contains(r, text) {
				return i
			}
		}
		return -1
	}
	if first, second := at("live session"), at("old.trtui"); first < 0 || second != first+1 {
		t.Errorf("the live session is in line %d, the recording in %d:\n%s", first, second, b.screen())
	}
	returned = 0
	b.press("enter")
	if returned != 1 || opened != "" {
		t.Errorf("enter on the first row: %d returns, opened %q", returned, opened)
	}
	b.press("down", "enter")
	if returned != 1 || opened != "there/old.trtui" {
		t.Errorf("enter on the second row: %d returns, opened %q", returned, opened)
	}
}

// TestReplayAlone shows a recording without a session behind it: there is nothing to go back to.
func TestReplayAlone(t *testing.T) {
	b, _ := newReplayBench(t, ui.Options{NoColor: true})
	b.press("9")
	b.wants("tab Recordings")
	b.press("tab")
	b.wants("tab States")
	b.send(recordings.List(folder([]*report.Recording{{Path: "old.trtui", Complete: true}}))())
	b.wants("old.trtui")
	if s := b.screen(); strings.Contains(s, "live") {
		t.Errorf("a session is shown:\n%s", s)
	}
	if cmd := func() tea.Cmd { _, cmd := b.app.Update(ui.Press("esc")); return cmd }(); cmd != nil {
		t.Errorf("esc does something: %v", cmd())
	}
	b.press("r")
	b.wants("open the model to change or measure it")
}

// folder is one of recordings, in which none can be made.
type folder []*report.Recording

func (f folder) String() string { return "there" }

func (f folder) List() ([]*report.Recording, error) { return f, nil }

func (f folder) Names() string { return fmt.Sprint(len(f)) }

func (f folder) New(string, time.Time) (string, error) { return "", errors.New("not here") }

// TestFirstFrame: what is known when the program begins is in its first frame.
func TestFirstFrame(t *testing.T) {
	l := &panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}
	app, err := NewWorkbench(&fake{snap: l.State()}, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Timeline: l})
	if err != nil {
		t.Fatal(err)
	}
	app.Init()
	app.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	if out := ansi.Strip(app.Content()); strings.Contains(out, "opening the model") || !strings.Contains(out, "in layers") {
		t.Errorf("the first frame of a replay is\n%s", out)
	}
}

// TestMarksShow: what is marked is so in the lists, and recordings of one model have its whole name.
func TestMarksShow(t *testing.T) {
	l := &panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}
	b := &bench{t: t, ctl: &fake{snap: l.State()}, now: l.Moment(0).Time}
	read := func(path, state string) (*report.Snapshot, error) { return measured(t), nil }
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Timeline: l, Recordings: folder(nil), Read: read, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(120, 40)
	b.publish(l.State())
	b.press("9")
	b.wants("reading the recordings in there")
	b.press("1")
	b.send(recordings.List(folder([]*report.Recording{
		{Path: "there/monday.trtui", Model: "resnet8_float32.onnx", Started: b.now, Complete: true}, {Path: "there/tuesday.trtui", Model: "resnet8_float32.onnx", Started: b.now, Complete: true},
	}))())
	b.press("9", "m", "tab")
	b.lacks("reading the recordings")
	b.wants("int8/mse (A)", "resnet8_float32.onnx")
	b.size(60, 16)
	b.wants("complete", "2025-03-04 05:06")
	b.size(120, 40)
	b.lacks("monday.trtui (")
	b.press("g", "m", "j", "M")
	b.wants("monday.trtui (A)", "tuesday.trtui (B)")
	b.lacks("int8/mse (A)")
}

// filling is a folder in which recordings appear.
type filling struct{ folder }

// TestRecordingsAppear lists what appears in the folder, and what goes.
func TestRecordingsAppear(t *testing.T) {
	f := &filling{folder([]*report.Recording{{Path: "there/old.trtui", Complete: true}})}
	b := &bench{t: t, ctl: &fake{snap: panetest.Fixture(t)}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	var err error
	b.app, err = NewWorkbench(b.ctl, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Recordings: f, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.size(100, 30)
	b.publish(b.ctl.snap)
	b.send(recordings.List(f)())
	b.press("9")
	b.wants("old.trtui")
	f.folder = append(f.folder, &report.Recording{Path: "there/new.trtui", Complete: true})
	if b.pass(time.Second); strings.Contains(b.app.Content(), "new.trtui") {
		t.Error("the folder is looked at too often")
	}
	b.pass(3 * time.Second)
	b.wants("old.trtui", "new.trtui")
	f.folder = f.folder[:1]
	b.pass(3 * time.Second)
	if strings.Contains(b.app.Content(), "new.trtui") {
		t.Error("what is gone is listed")
	}
	if len(b.due) > 3 {
		t.Errorf("%d reminders wait", len(b.due))
	}
}
