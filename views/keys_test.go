package views

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/recordings"
	"github.com/trtui/trtui/views/trials"
	"github.com/trtui/trtui/views/words"
)

// TestKeymap reports keys with two meanings on any screen.
func TestKeymap(t *testing.T) {
	w := &workbench{o: Options{Look: ui.NewLook(ui.Options{}), Open: func(string) tea.Cmd { return nil }}, snap: &report.Snapshot{}}
	if err := ui.CheckKeys(w.screens(), ui.Intents()); err != nil {
		t.Error(err)
	}
	w.o.Timeline = &panetest.Timeline{}
	if err := ui.CheckKeys(w.screens(), append(ui.Intents(), scrubKeys()...)); err != nil {
		t.Error(err)
	}
}

// TestConfiguration toggles precision and calibrator, takes that back and does it again.
func TestConfiguration(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.press("f")
	if c := b.last(); c.Precision != config.FP32 || c.Calibrator != "mse" {
		t.Errorf("f asked for %+v", c)
	}
	b.wants("[FP32]")
	b.press("u")
	if c := b.last(); c.Precision != config.INT8 {
		t.Errorf("u asked for %+v", c)
	}
	b.press("c")
	if c := b.last(); c.Calibrator == "mse" || c.Precision != config.INT8 {
		t.Errorf("c asked for %+v", c)
	}
	n := len(b.ctl.set)
	b.press("ctrl+r") // the new change has replaced what was taken back
	if len(b.ctl.set) != n {
		t.Errorf("ctrl+r asked for %+v", b.last())
	}
	b.press("u", "ctrl+r")
	if len(b.ctl.set) != n+2 {
		t.Errorf("%d requests, want %d", len(b.ctl.set), n+2)
	}
	b.press("r", "R")
	if b.ctl.reruns != 2 {
		t.Errorf("%d re-runs", b.ctl.reruns)
	}
}

// TestDelta states what a change made of the latency.
func TestDelta(t *testing.T) {
	int8 := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, int8)
	b.press("f")
	b.wants("fp32: rebuilding")
	fp32, timings := *int8, *int8.Timings
	fp32.Config.Precision, fp32.Stale = config.FP32, report.PartTimings
	fp32.Timings = &timings
	timings.EndToEnd.Median *= 2
	b.publish(&fp32)
	if strings.Contains(b.screen(), "slower than") {
		t.Error("compares while reports are stale")
	}
	settled := fp32
	settled.Stale = 0
	b.publish(&settled)
	b.size(120, 40)
	b.wants("fp32: ", "2.00x slower than int8/mse", "agreement with FP32 "+words.Percent(int8.Accuracy.Labels.Agreement))
	b.wants("Configurations tried", "0.50x")
}

// TestDeltaFollowsTable compares once the measurement is over, with the numbers that the table of configurations has: those
// of a first impression are neither compared nor compared with where there are better ones.
func TestDeltaFollowsTable(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(120, 40)
	show := func(precision config.Precision, samples int, median time.Duration, over bool) {
		s, timings := *snap, *snap.Timings
		timings.Samples, timings.EndToEnd = samples, panetest.Around(median, samples)
		s.Config.Precision, s.Timings, s.Seq = precision, &timings, b.ctl.snap.Seq+1
		if !over {
			s.Busy = &report.Progress{Phase: "measuring"}
		}
		b.publish(&s)
	}
	show(config.INT8, 2000, 200*time.Microsecond, true)
	show(config.INT8, 20, 300*time.Microsecond, false) // measured again, and changed before that is over
	b.press("f")
	show(config.FP32, 20, 600*time.Microsecond, false)
	if s := b.screen(); strings.Contains(s, "slower than") || strings.Contains(s, "faster than") {
		t.Errorf("compares a first impression:\n%s", s)
	}
	b.wants("fp32: measuring; esc stops")
	show(config.FP32, 2000, 400*time.Microsecond, true)
	b.wants("fp32: 400.0 µs, 2.00x slower than int8/mse (200.0 µs; not measured side by side)", "0.50x*")
}

// TestDeltaShort says at every width what the ratio is and to what.
func TestDeltaShort(t *testing.T) {
	now := panetest.Fixture(t)
	now.Config.LayerPrecisions = []string{"a:fp32", "b:fp32"}
	was, timings := *now, *now.Timings
	was.Config = config.Config{Precision: config.INT8, Calibrator: "percentile:99.99", Batch: 1, Disable: []string{"fuse-activation"}}
	was.Timings = &timings
	timings.EndToEnd.Median *= 2
	say := func() []string {
		return trials.Delta(was.Config, ui.Duration(was.Timings.EndToEnd.Median), now, ui.Duration(now.Timings.EndToEnd.Median), now.Timings.Measured(now.Config).Over(was.Timings.Measured(was.Config), false), was.Timings.EndToEnd.Median)
	}
	lines := say()
	for i, line := range lines {
		for _, want := range []string{"2.00x faster than int8/percentile:99.99"} {
			if !strings.Contains(line, want) {
				t.Errorf("%q lacks %q", line, want)
			}
		}
		if i > 0 && ui.Width(line) > ui.Width(lines[0]) {
			t.Errorf("%q is longer than %q", line, lines[0])
		}
	}
	if short := lines[len(lines)-3]; ui.Width(short) > 76 {
		t.Errorf("no line that names both fits 80 columns: %q", short)
	}
	was.Config, now.Config.LayerPrecisions = now.Config, []string{"c:fp32"}
	was.Config.LayerPrecisions = nil
	if lines := say(); !strings.Contains(lines[0], "mse, 1 layer in fp32: ") || !strings.Contains(lines[0], "faster than int8/mse (") || !strings.Contains(lines[4], "mse, 1 layer in fp32: ") || !strings.Contains(lines[7], "int8/mse: ") || !strings.Contains(lines[7], "faster than before (") {
		t.Errorf("%q", lines)
	}
	now.Config.Calibrator, was.Config.LayerPrecisions = "minmax", now.Config.LayerPrecisions // both have it
	if lines := say(); !strings.Contains(lines[4], "int8/minmax +1: ") || !strings.Contains(lines[4], "faster than int8/mse +1 (") {
		t.Errorf("%q", lines)
	}
}

// TestParameter moves the parameter of the active calibrator, if it has one.
func TestParameter(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.press("5", ",")
	b.wants("press c for percentile or entropy")
	active := *snap
	active.Config.Calibrator = "percentile:99.99"
	b = newBench(t, ui.Options{}, &active)
	moves := func(list []struct{ key, want string }) {
		t.Helper()
		for _, c := range list {
			b.press("5", c.key)
			if got := b.last().Calibrator; got != c.want {
				t.Errorf("%s asks for %s, want %s", c.key, got, c.want)
			}
		}
	}
	moves([]struct{ key, want string }{{",", "percentile:99.95"}, {".", "percentile:99.99"}, {".", "percentile:99.995"}})
	active.Config.Calibrator = "entropy"
	b = newBench(t, ui.Options{}, &active)
	moves([]struct{ key, want string }{{",", "entropy:bins=1024"}, {",", "entropy:bins=512"}, {".", "entropy:bins=1024"}, {".", "entropy"}})
}

// TestFrozen keeps the panes and the header as they are until the screen thaws.
func TestFrozen(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("space")
	later, timings := *snap, *snap.Timings
	timings.Samples = 4321
	later.Timings = &timings
	b.publish(&later)
	b.wants("200 runs", "FROZEN", "median of 200")
	b.press("f")
	b.wants("INT8   mse", "fp32: rebuilding; esc stops (frozen: press space to see the result)")
	b.press("space")
	b.wants("4,321 runs", "median of 4,321")
}

// recorder is a recorder that fails when it is told to.
type recorder struct {
	path string
	err  error
}

func (r *recorder) Record(path string) error { r.path = path; return r.err }

func (r *recorder) StopRecording() error { return r.err }

// TestRecord starts a recording named after model and time, and tells why one cannot be started.
func TestRecord(t *testing.T) {
	r := &recorder{}
	w := &workbench{o: Options{Recorder: r, Recordings: recording.Folder(t.TempDir()), Now: (&bench{}).clock}, snap: panetest.Fixture(t)}
	msg := w.record()().(ui.StatusMsg)
	if msg.Style != ui.Good || !strings.HasSuffix(r.path, "embedded-00010101-000000.trtui") {
		t.Errorf("%v, %s", msg, r.path)
	}
	r.err = errors.New("disk full")
	if msg := w.record()().(ui.StatusMsg); msg.Style != ui.Bad || !strings.Contains(msg.Text, "disk full") {
		t.Errorf("%v", msg)
	}
}

// TestRecordingEnds: that a recording ended by itself is said where it was said that it is going on, and in the header until
// it is dismissed.
func TestRecordingEnds(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	next := func(change func(*report.Snapshot)) {
		s := *b.ctl.snap
		s.Seq++
		change(&s)
		b.ctl.snap = &s
		b.publish(&s)
	}
	next(func(s *report.Snapshot) { s.Recording = "m.trtui" })
	b.send(ui.StatusMsg{Text: "recording to m.trtui", Style: ui.Good})
	b.wants("REC")
	next(func(s *report.Snapshot) {
		s.Recording, s.Unrecorded = "", "the disk is full: database or disk is full (13); nothing was recorded, no file is left"
	})
	b.wants("recording ended: the disk is full", "nothing was recorded", "NOT RECORDING")
	b.lacks("recording to m.trtui")
	b.press("esc")
	b.lacks("RECORDING")
}

// TestStatusProceeds: the line about a build says which phase it is in, as long as it is the line that is there.
func TestStatusProceeds(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	b.press("f")
	b.wants("fp32: rebuilding; esc stops")
	s := *b.ctl.snap
	s.Seq, s.Config, s.Stale, s.Busy = s.Seq+1, b.last(), report.PartTimings, &report.Progress{Phase: "measuring"}
	b.publish(&s)
	b.wants("fp32: measuring; esc stops")
	b.send(ui.StatusMsg{Text: "copied"})
	again := s
	again.Seq, again.Busy = s.Seq+1, &report.Progress{Phase: "comparing"}
	b.publish(&again)
	b.wants("copied")
}

// TestCompareWithItself: what is marked as A and as B is not compared.
func TestCompareWithItself(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	b.press("m", "M", "d")
	b.wants("A and B are both ")
}

// TestCompareStateWithItself: a state of a recording is one, as what is shown, by its number and as the recording's last, whatever
// number it was published with.
func TestCompareStateWithItself(t *testing.T) {
	l := &panetest.Film{Timeline: panetest.Timeline{At: 23}, Snap: panetest.Fixture(t)}
	shown := l.State()
	read := func(path, state string) (*report.Snapshot, error) {
		s := *shown
		s.Seq += 7
		if state != "" && state != "24" {
			at := l.Moment(0)
			s.At = &at
		}
		return &s, nil
	}
	b := &bench{t: t, ctl: &fake{snap: shown}, now: l.Moment(0).Time}
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Timeline: l, Read: read, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(120, 40)
	b.publish(shown)
	b.press("1", "m", "9", "M", "d")
	b.wants("A and B are both ")
	b.press("9", "tab")
	b.send(recordings.List(folder([]*report.Recording{{Path: shown.Replay, Complete: true}}))())
	b.press("M", "d")
	b.wants("A and B are both ")
	b.press("9", "tab", "g", "M", "d")
	b.lacks("A and B are both ")
}

// TestSaveConfig saves what is asked for and says, in the log too, where and over what, or why not.
func TestSaveConfig(t *testing.T) {
	var saved config.Config
	var failure error
	save := func(c config.Config) (string, error) { saved = c; return "there/net.config.json", failure }
	ctl := &fake{}
	w := &workbench{o: Options{SaveConfig: save, Hint: hinted}, ctl: ctl, snap: panetest.Fixture(t)}
	int8 := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1, Pin: map[string]string{"a": "b"}}
	for _, c := range []struct {
		cfg  config.Config
		want string
	}{
		{int8, "int8/mse, 1 pin saved: "},
		{int8, "int8/mse, 1 pin saved again, overwritten: "},
		{config.Config{Precision: config.FP32}, "fp32 saved, overwriting int8/mse, 1 pin: "},
	} {
		w.config.want = c.cfg
		msg := w.intent(ui.SaveConfig)().(ui.StatusMsg)
		if msg.Style != ui.Good || msg.Text != c.want+`ConfigSaved{Path:"there/net.config.json"}` || !reflect.DeepEqual(saved, w.config.want) {
			t.Errorf("%v, %+v", msg, saved)
		}
		if got := ctl.notes[len(ctl.notes)-1]; got != c.want+"there/net.config.json" {
			t.Errorf("the log says %q", got)
		}
	}
	failure = errors.New("disk full")
	if msg := w.intent(ui.SaveConfig)().(ui.StatusMsg); msg.Style != ui.Bad || !strings.Contains(msg.Text, "disk full") || len(ctl.notes) != 3 {
		t.Errorf("%v, %q", msg, ctl.notes)
	}
}

// TestCalibrationIsAskedFor asks for the report of calibration when its screen is shown.
func TestCalibrationIsAskedFor(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	b.press("4")
	if len(b.ctl.asked) != 0 {
		t.Error(b.ctl.asked)
	}
	b.press("5")
	if !slices.Equal(b.ctl.asked, []string{fmt.Sprint("ask ", report.PartCalibration)}) {
		t.Error(b.ctl.asked)
	}
}

// TestKeyContexts: the keys of all screens have names, that say one thing each on a screen.
func TestKeyContexts(t *testing.T) {
	contexts, err := KeyContexts(&fake{snap: &report.Snapshot{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range contexts {
		names = append(names, c.Name)
		for i, k := range c.Keys {
			if k.Name == "" || len(k.Keys) == 0 || ui.Width(k.Name) > 24 {
				t.Errorf("%s: %+v", c.Name, k)
			}
			for _, o := range c.Keys[:i] {
				if o.Name == k.Name && len(o.Default) != len(k.Default) {
					t.Errorf("%s: %s is of %d keys and of %d", c.Name, k.Name, len(o.Default), len(k.Default))
				}
			}
		}
	}
	for _, want := range []string{ui.Everywhere, "Graph", "Timings", "Compare", "Log"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q lacks %s", names, want)
		}
	}
}

// TestKeysInTexts: what panes say names keys in braces, so that a file of keys has its say, see [ui.Look.Keys]; those that no file
// can change are named as they are.
func TestKeysInTexts(t *testing.T) {
	literal := regexp.MustCompile(`"[^"\n]*\b(press ([a-zA-Z]|space|tab)|([a-zA-Z]|ctrl\+\w) (undoes|marks|compares|lists|opens|times|pins)|, \w to undo)\b[^"\n]*"`)
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	own, _ := filepath.Glob("*.go")
	for _, file := range append(files, own...) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, text := range literal.FindAllString(string(source), -1) {
			t.Errorf("%s: %s names a key", file, text)
		}
	}
	m, err := ui.ReadKeymap("keys.yaml", []byte("everywhere:\n  next precision: f4\n"))
	if err != nil {
		t.Fatal(err)
	}
	look := ui.NewLook(ui.Options{})
	app, err := NewWorkbench(&fake{snap: &report.Snapshot{}}, Options{Look: look, Keys: m})
	if err != nil {
		t.Fatal(err)
	}
	app.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	app.Update(&report.Snapshot{Seq: 1})
	app.Update(ui.Press("9"))
	app.Update(ui.Press("9"))
	if text := ansi.Strip(app.Content()); !strings.Contains(text, "press f4 for another precision") {
		t.Errorf("the table of what was tried does not name the key that there is:\n%s", text)
	}
}
