package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/recordings"
)

// slower is the fixture in FP32: every layer takes some times as long, the first convolutions much longer, but for one that is the
// same within noise; an element-wise layer is computed by two, and the layer that quantises is not there.
func slower(t *testing.T) *report.Snapshot {
	s, timings := *panetest.Fixture(t), report.Timings{}
	timings = *s.Timings
	timings.Layers, timings.SumMedian = nil, 0
	for i, l := range s.Timings.Layers {
		if l.Name == "Quantize_image" {
			continue
		}
		factor := 1 + float64(i%5)/4
		if i == 12 {
			factor = 1.004
		}
		l.Precision, l.Tactic = "f32", strings.Replace(l.Tactic, "int8_vnni", "f32_avx512", 1)
		l.Median = time.Duration(factor * float64(l.Median))
		parts := []report.LayerTiming{l}
		if l.Op == "Mul" {
			parts = []report.LayerTiming{l, l}
			parts[1].Name += " again"
		}
		for _, p := range parts {
			p.Rounds = rounds(p.Name, p.Median)
			timings.SumMedian += p.Median
			timings.Layers = append(timings.Layers, p)
		}
	}
	timings.EndToEnd = panetest.Around(timings.SumMedian*27/25, 200)
	timings.Gap = timings.EndToEnd.Median - timings.SumMedian
	s.Timings, s.Config.Precision, s.Seq = &timings, config.FP32, s.Seq+1
	return &s
}

// rounds invents medians of rounds around one.
func rounds(name string, median time.Duration) (list []time.Duration) {
	for i := range 15 {
		list = append(list, median*97/100+panetest.Invented(fmt.Sprint(name, i), median/70))
	}
	return list
}

func measured(t *testing.T) *report.Snapshot {
	s := panetest.Fixture(t)
	for i := range s.Timings.Layers {
		l := &s.Timings.Layers[i]
		l.Rounds = rounds(l.Name, l.Median)
	}
	return s
}

// TestCompareKeys marks what is shown, changes, and compares: which layer got slower, and is that real?
func TestCompareKeys(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, measured(t))
	b.size(120, 40)
	b.press("d")
	b.wants("nothing is marked: m marks A", "A  not marked")
	b.press("1", "m")
	b.wants("A is int8/mse")
	b.publish(slower(t))
	b.press("d")
	b.wants("What B changes of A", "slower", "A  int8/mse", "B  fp32", "1 split", "1 removed", "25 re-typed", "too few samples, not side by side")
	b.press("G")
	b.wants("noise")
	b.press("s")
	b.wants("A  fp32", "B  int8/mse", "1 merged", "1 added")
	b.press("/")
	for _, r := range "significant|Quantize" {
		b.press(string(r))
	}
	b.press("enter")
	b.wants("Quantize_image")
	b.lacks("block1/first")
}

// TestCompareReads marks what has to be read first: a recording of the list, which may fail.
func TestCompareReads(t *testing.T) {
	look := ui.NewLook(ui.Options{NoColor: true})
	b := &bench{t: t, ctl: &fake{snap: measured(t)}, now: time.Now()}
	read := func(path, state string) (*report.Snapshot, error) {
		if path == "there/bad.trtui" {
			return nil, errors.New("recording there/bad.trtui: damaged")
		}
		return slower(t), nil
	}
	app, err := NewWorkbench(b.ctl, Options{Look: look, Read: read, Open: func(string) tea.Cmd { return nil }, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(120, 40)
	b.publish(b.ctl.snap)
	b.press("9")
	b.send(recordings.List(folder([]*report.Recording{{Path: "there/old.trtui", Complete: true}, {Path: "there/bad.trtui", Err: "damaged"}}))())
	b.press("m")
	b.wants("A is old.trtui: d compares it with what is shown, or M marks the other")
	b.press("down", "M")
	b.wants("recording there/bad.trtui: damaged")
	b.press("d")
	b.wants("A  old.trtui", "B  int8/mse")
}

// TestCompareWaits: what is marked and still read when a comparison is asked for is what is compared.
func TestCompareWaits(t *testing.T) {
	b := &bench{t: t, ctl: &fake{snap: measured(t)}, now: time.Now()}
	read := func(path, state string) (*report.Snapshot, error) { return slower(t), nil }
	app, err := NewWorkbench(b.ctl, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Read: read, Now: b.clock, After: b.after})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(120, 40)
	b.publish(b.ctl.snap)
	b.press("m", "9")
	b.send(recordings.List(folder([]*report.Recording{{Path: "there/old.trtui", Complete: true}}))())
	_, reading := b.app.Update(ui.Press("M"))
	b.press("d")
	b.wants("reading what is marked")
	b.lacks("is it real?")
	b.run(reading)
	b.wants("A  int8/mse", "B  old.trtui", "slower")
}

// TestCompareFile opens files that a person names as B and as A; where none are read there is no key for it.
func TestCompareFile(t *testing.T) {
	look := ui.NewLook(ui.Options{NoColor: true})
	b := &bench{t: t, ctl: &fake{snap: measured(t)}, now: time.Now()}
	var named []string
	read := func(name string) (*report.Snapshot, error) {
		if named = append(named, name); name == "bad.json" {
			return nil, errors.New("bad.json is no file of trtexec")
		}
		return slower(t), nil
	}
	for _, can := range []bool{true, false} {
		o := Options{Look: look, ReadFile: read, Now: b.clock, After: b.after}
		if !can {
			o.ReadFile = nil
		}
		app, err := NewWorkbench(b.ctl, o)
		if err != nil {
			t.Fatal(err)
		}
		b.app = app
		b.size(120, 40)
		b.publish(b.ctl.snap)
		b.press("d")
		b.press("e")
		if !can {
			b.lacks("Open a file")
			continue
		}
		b.wants("Open a file as B", "profile of ONNX Runtime")
		b.press("enter")
		b.wants("Open a file as B")
		for _, r := range "d/l.json,p.json" {
			b.press(string(r))
		}
		b.press("enter")
		b.wants("B is l.json,p.json: d compares it with what is shown")
		b.press("d")
		b.wants("What B changes of A")
		b.press("E")
		for _, r := range "bad.json" {
			b.press(string(r))
		}
		b.press("enter")
		b.wants("bad.json is no file of trtexec")
		b.press("E", "esc")
		b.lacks("Open a file")
	}
	if want := []string{"d/l.json,p.json", "bad.json"}; !slices.Equal(named, want) {
		t.Errorf("it reads %q, want %q", named, want)
	}
}

// tryFour publishes four configurations of which all is known.
func tryFour(t *testing.T, b *bench) {
	for i, c := range []struct {
		precision  config.Precision
		calibrator string
		median     time.Duration
		top1, sqnr float64
	}{
		{config.FP32, "mse", 700 * time.Microsecond, 0.991, 200}, {config.FP16, "mse", 420 * time.Microsecond, 0.991, 71.5},
		{config.INT8, "mse", 210 * time.Microsecond, 0.988, 48.5}, {config.INT8, "minmax", 230 * time.Microsecond, 0.975, 31},
	} {
		s, timings, acc := *panetest.Fixture(t), report.Timings{}, report.Accuracy{}
		timings, acc = *s.Timings, *s.Accuracy
		timings.EndToEnd = panetest.Around(c.median, 200)
		acc.Labels.Top1, acc.Labels.Agreement = c.top1, c.top1
		acc.Outputs = []report.OutputError{{Name: "y", Errors: report.Errors{SQNR: c.sqnr}}}
		s.Config.Precision, s.Config.Calibrator = c.precision, c.calibrator
		if i == 2 { // in the same rounds the ratio is not that of the medians
			first := s.Config
			first.Precision = config.FP32
			timings.Beside = &report.Beside{Config: first, Speed: report.NewSpeed(3.4, 3.35, 3.45, true)}
		}
		s.Timings, s.Accuracy, s.Seq = &timings, &acc, s.Seq+i+1
		b.publish(&s)
	}
}

// TestPareto answers which configuration is fastest within half a point, and goes to it.
func TestPareto(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(120, 40)
	tryFour(t, b)
	b.send(ui.GotoMsg{Screen: pane.CompareKey, Page: pane.TriedPage})
	b.wants("fastest within 0.5 points of the best top-1: int8/mse, 210.0 µs, 3.40x faster than fp32 ", " 0.29x ")
	b.press("<")
	b.wants("fastest within 0.2 points of the best top-1: fp16")
	b.press("p")
	b.wants("fp16, 420.0 µs, top-1 99.10%", "on the front")
	b.press("left")
	b.wants("int8/minmax, 230.0 µs", "another is as good and faster")
	b.press("s", "s")
	b.wants("Latency and SQNR", "fastest with an SQNR of 40 dB at least: int8/mse")
	b.press("p", "m")
	b.wants("A is int8/mse")
	b.press("right", "right", "enter")
	if c := b.last(); c.Precision != config.FP16 || c.Calibrator != "mse" {
		t.Errorf("enter asked for %+v", c)
	}
}

// TestFastestIsNotSure names what cannot be told from the fastest, but for noise.
func TestFastestIsNotSure(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(160, 40)
	tryFour(t, b)
	s, timings := *b.ctl.snap, *b.ctl.snap.Timings
	acc := *s.Accuracy
	timings.EndToEnd = panetest.Around(214*time.Microsecond, 200)
	first := s.Config
	first.Precision, first.Calibrator = config.FP32, "mse"
	timings.Beside = &report.Beside{Config: first, Speed: report.NewSpeed(3.3, 3.2, 3.5, true)}
	acc.Labels.Top1 = 0.99
	s.Config.Precision, s.Config.Calibrator = config.INT8, "entropy"
	s.Timings, s.Accuracy, s.Seq = &timings, &acc, s.Seq+1
	b.publish(&s)
	b.send(ui.GotoMsg{Screen: pane.CompareKey, Page: pane.TriedPage})
	b.wants("int8/mse, 210.0 µs; no significant difference from int8/entropy; 3.40x faster than fp32")
}

// TestGoldenComparison keeps the picture of the comparison and of the plot.
func TestGoldenComparison(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		for _, look := range []struct {
			name string
			o    ui.Options
		}{{"dark", ui.Options{Theme: "dark"}}, {"mono", ui.Options{NoColor: true}}} {
			b := newBench(t, look.o, measured(t))
			b.size(size[0], size[1])
			b.press("m")
			b.publish(slower(t))
			b.press("d", "down")
			t.Run(fmt.Sprintf("%s_%dx%d_compare", look.name, size[0], size[1]), func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
			tryFour(t, b)
			b.send(ui.GotoMsg{Screen: pane.CompareKey, Page: pane.TriedPage})
			t.Run(fmt.Sprintf("%s_%dx%d_tried", look.name, size[0], size[1]), func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
		}
	}
}

// TestCompareFirst opens the workbench on two: marked, compared, and not anew where a recording in front of it is left. What was
// measured in the same rounds is compared by them, also the other way round.
func TestCompareFirst(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, slower(t))
	first, second := measured(t), slower(t)
	first.Seq, second.Seq = 0, 0 // as those of commands
	beside := *second.Timings
	beside.Beside = &report.Beside{Config: first.Config, Speed: report.NewSpeed(0.4, 0.39, 0.41, true)}
	second.Timings = &beside
	mark := func(name string, s, rival *report.Snapshot) pane.Mark {
		return pane.Mark{Name: name, Read: func() (*report.Snapshot, error) { return s, nil }, Rival: rival}
	}
	app, err := NewWorkbench(silent{b.ctl}, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Now: b.clock, After: b.after,
		Compared: []pane.Mark{mark("old.engine", first, nil), mark("new.engine", second, first)}})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	b.size(160, 40)
	b.run(app.Init())
	b.wants("What B changes of A", "A  old.engine", "2.50x slower")
	b.lacks("not side by side")
	b.press("s")
	b.wants("A  new.engine", "B  old.engine", "2.50x faster")
	b.press("1")
	b.run(app.Init())
	b.wants("1 Overview")
	b.lacks("What B changes of A")
}

// TestMarkedTwice: where one thing is marked both as A and as B the pane says so, and waits for no other mark.
func TestMarkedTwice(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(160, 50)
	b.press("m", "M", "d")
	b.wants("A and B are the same: mark another one")
}

// TestMarkedUnmeasured: what is marked before it is measured is compared once it is.
func TestMarkedUnmeasured(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, measured(t))
	b.size(160, 50)
	b.press("m")
	early := slower(t)
	early.Timings = nil
	b.publish(early)
	b.press("M", "d")
	b.wants("its times are not known")
	b.publish(slower(t))
	b.wants("What B changes of A", "slower")
	b.lacks("its times are not known")
}

// TestCompareInTurns: a key has both measured in the same rounds, and what comes of that is compared.
func TestCompareInTurns(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, measured(t))
	b.size(120, 40)
	b.press("1", "m")
	fp32 := slower(t)
	b.publish(fp32)
	b.press("d")
	b.wants("A  int8/mse", "B  fp32", "not side by side")
	b.press("t")
	if n := len(b.ctl.asked); n == 0 || b.ctl.asked[n-1] != "beside int8/mse fp32" {
		t.Errorf("asked for %v", b.ctl.asked)
	}
	done, times := *fp32, *fp32.Timings
	times.EndToEnd = panetest.Around(2*measured(t).Timings.EndToEnd.Median, 200)
	first := measured(t)
	times.Beside = &report.Beside{Config: first.Config, Speed: report.NewSpeed(0.5, 0.49, 0.51, true)}
	done.Columns = &report.Columns{Live: true, Columns: []report.Column{{Config: first.Config, Timings: first.Timings}, {Config: fp32.Config, Timings: &times}}}
	b.publish(&done)
	b.wants("not side by side")
	over := *done.Columns
	over.Live = false
	done.Columns = &over
	b.publish(&done)
	b.wants("2.00x slower")
	b.lacks("not side by side")
}

// TestCompareRecordingsInTurns: recordings of the model that is open are measured in turns, from every pane of the screen, by their
// configurations; those of other models, and two of one configuration, are not, and a configuration of which there is no engine is told.
func TestCompareRecordingsInTurns(t *testing.T) {
	first, second := measured(t), slower(t)
	first.Replay, second.Replay, first.Seq, second.Seq = "one.trtui", "two.trtui", 0, 0
	second.Config.Pin = map[string]string{"conv": "direct"}
	open := func(first, second *report.Snapshot) *bench {
		b := newBench(t, ui.Options{NoColor: true}, measured(t))
		mark := func(s *report.Snapshot) pane.Mark {
			return pane.Mark{Name: s.Replay, Read: func() (*report.Snapshot, error) { return s, nil }}
		}
		app, err := NewWorkbench(silent{b.ctl}, Options{Look: ui.NewLook(ui.Options{NoColor: true}), Now: b.clock, After: b.after, Compared: []pane.Mark{mark(first), mark(second)}})
		if err != nil {
			t.Fatal(err)
		}
		b.app = app
		b.size(200, 60)
		b.run(app.Init())
		b.wants("A  one.trtui", "B  two.trtui")
		return b
	}
	b := open(first, second)
	for pane := range 4 {
		b.ctl.asked = nil
		b.press("t")
		if len(b.ctl.asked) != 1 || !strings.HasPrefix(b.ctl.asked[0], "beside int8/mse fp32") {
			t.Errorf("pane %d: asked for %v", pane, b.ctl.asked)
		}
		b.press("tab")
	}
	done, times := *b.ctl.snap, *second.Timings
	times.EndToEnd = panetest.Around(2*first.Timings.EndToEnd.Median, 200)
	times.Beside = &report.Beside{Config: first.Config, Speed: report.NewSpeed(0.5, 0.49, 0.51, true)}
	done.Columns = &report.Columns{Columns: []report.Column{{Config: first.Config, Timings: first.Timings}, {Config: second.Config, Timings: &times}}}
	b.publish(&done)
	b.wants("2.00x slower", "measured in turns")
	b.lacks("not side by side")

	b.press("t")
	done.Columns = &report.Columns{Columns: []report.Column{{Config: first.Config, Timings: first.Timings}, {Config: second.Config, Err: "conv has no tactic direct"}}}
	b.publish(&done)
	b.wants("two.trtui cannot be measured here: conv has no tactic direct")

	alike := *second
	alike.Config = first.Config
	b = open(first, &alike)
	b.press("t")
	b.wants("A and B are of one configuration, int8/mse")

	other, model := *second, *second.Model
	model.SHA256 = "0123"
	other.Model = &model
	b = open(first, &other)
	b.press("t")
	b.wants("two.trtui cannot be measured here: it is of another model than the one that is open")
}
