package views

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// TestKeymap reports keys with two meanings on any screen.
func TestKeymap(t *testing.T) {
	d := &desk{Options: Options{Look: ui.NewLook(ui.Options{}), Open: func(string) tea.Cmd { return nil }}, snap: &sessions.Snapshot{}}
	if err := ui.CheckKeys(screens(d), ui.Intents()); err != nil {
		t.Error(err)
	}
	d.Timeline = &timeline{}
	if err := ui.CheckKeys(screens(d), ui.Intents()); err != nil {
		t.Error(err)
	}
}

// timeline is a replay of four states, the last of which is shown at first.
type timeline struct{ at int }

func (l *timeline) Steps() []sessions.RecordedStep {
	start := time.Date(2025, 3, 4, 5, 6, 7, 0, time.UTC)
	return []sessions.RecordedStep{
		{Time: start, Config: sessions.Config{Precision: sessions.FP32}},
		{Time: start.Add(time.Second), Config: sessions.Config{Precision: sessions.FP32}, Settled: true},
		{Time: start.Add(2 * time.Second), Config: sessions.Config{Precision: sessions.INT8, Calibrator: "mse"}},
		{Time: start.Add(4 * time.Second), Config: sessions.Config{Precision: sessions.INT8, Calibrator: "mse"}, Settled: true},
	}
}

func (l *timeline) Position() int { return l.at }
func (l *timeline) Seek(i int)    { l.at = i }

// TestScrub goes back and forth in a recording.
func TestScrub(t *testing.T) {
	l := &timeline{3}
	d := &desk{Options: Options{Look: ui.NewLook(ui.Options{NoColor: true}), Timeline: l}, snap: &sessions.Snapshot{}}
	v := newStatesView(d)
	press := func(code rune) { v.Update(tea.KeyPressMsg{Code: code, Text: string(code)}) }
	for _, step := range []struct {
		key  rune
		want int
	}{{'.', 3}, {',', 2}, {',', 1}, {',', 0}, {',', 0}, {'.', 1}} {
		press(step.key)
		if l.at != step.want || v.table.Row() != step.want {
			t.Errorf("after %c state %d is shown and the cursor is at %d, want %d", step.key, l.at, v.table.Row(), step.want)
		}
	}
	v.table.Select(2)
	v.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if l.at != 2 {
		t.Errorf("enter shows state %d, want 2", l.at)
	}
	if out := v.Render(60, 6); !strings.Contains(out, "int8/mse") || !strings.Contains(out, "4s") {
		t.Errorf("states are missing in\n%s", out)
	}
}

// TestConfiguration toggles precision and calibrator, takes that back and does it again.
func TestConfiguration(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, fixture(t))
	b.press("f")
	if c := b.last(); c.Precision != sessions.FP32 || c.Calibrator != "mse" {
		t.Errorf("f asked for %+v", c)
	}
	b.wants("[FP32]")
	b.press("u")
	if c := b.last(); c.Precision != sessions.INT8 {
		t.Errorf("u asked for %+v", c)
	}
	b.press("c")
	if c := b.last(); c.Calibrator == "mse" || c.Precision != sessions.INT8 {
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
	int8 := fixture(t)
	b := newBench(t, ui.Options{}, int8)
	b.press("f")
	b.wants("fp32: rebuilding")
	fp32, timings := *int8, *int8.Timings
	fp32.Config.Precision, fp32.Stale = sessions.FP32, sessions.PartTimings
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
	b.wants("fp32: ", "2.00x slower than int8/mse", "agreement with FP32 "+percent(int8.Accuracy.Labels.Agreement))
	b.wants("Configurations tried", "0.50x")
}

// TestRules switches a site off, and on again from where it is missing then.
func TestRules(t *testing.T) {
	snap := fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.press("2", "tab", "down", "x")
	b.wants("switch off here: ", "switch off everywhere: ")
	b.press("enter")
	off := b.last().Disable
	if len(off) != 1 || !strings.Contains(off[0], ":") {
		t.Fatalf("switched off %q", off)
	}
	b.press("x")
	b.wants("switch on  here: ")
	b.press("enter")
	if off := b.last().Disable; len(off) != 0 {
		t.Errorf("still off: %q", off)
	}
	if len(snap.Config.Disable) != 0 {
		t.Error("the snapshot's configuration was changed")
	}
}

// TestLinked moves the cursor of the other graph along, and jumps to it.
func TestLinked(t *testing.T) {
	d := &desk{Options: Options{Look: ui.NewLook(ui.Options{})}, snap: &sessions.Snapshot{}}
	s := graphScreen(d)
	snap := fixture(t)
	for _, v := range s.Views {
		v.Update(snap)
	}
	source, engine := s.Views[0].(*graphList), s.Views[1].(*graphList)
	for range 5 {
		source.Update(key("down"))
	}
	if !slices.Contains(engine.layer().From, source.layer().Name) {
		t.Errorf("source at %s, engine at %s", source.layer().Name, engine.layer().Name)
	}
	cmd := source.Update(key(";"))
	if m, ok := cmd().(ui.GotoMsg); !ok || m.View != 2 {
		t.Errorf("; gives %v", cmd())
	}
	engine.Update(key("down"))
	if !slices.Contains(engine.layer().From, source.layer().Name) {
		t.Errorf("engine at %s, source at %s", engine.layer().Name, source.layer().Name)
	}
	marked := 0
	for i := range source.list.Lines {
		if source.line(i).Ground == ui.Selected {
			marked++
		}
	}
	if marked != len(engine.layer().From) {
		t.Errorf("%d layers marked for %d members", marked, len(engine.layer().From))
	}
}

// TestGraphFilter hides the layers that do not match, keeps the cursor on its layer and says how many are left.
func TestGraphFilter(t *testing.T) {
	b := newBench(t, ui.Options{}, fixture(t))
	b.size(120, 40)
	b.press("2", "down", "down", "down", "i", "/", "b", "l", "o", "c", "k", "1", "enter")
	b.wants("7 of 65 layers", "/block1", "└─ fused into", "▸▸ block1/first/conv/Conv")
	if strings.Contains(b.screen(), "stem/act/Relu") {
		t.Errorf("a layer that does not match is shown:\n%s", b.screen())
	}
	b.press("esc")
	b.wants("65 layers", "stem/act/Relu", "▸▸ block1/first/conv/Conv")
}

// TestSwitchedOff shows on every pane of the graph what is switched off, and where.
func TestSwitchedOff(t *testing.T) {
	snap := fixture(t)
	passes := *snap.Passes
	passes.Steps = slices.Clone(passes.Steps)
	name := passes.Source[2].Name
	passes.Steps[11].Missed = []sessions.MissedSite{{Rule: "fuse-activation", Site: "fuse-activation:" + name, Layers: []string{name}, Reason: "disabled", Detail: "this place is switched off"}}
	snap.Passes = &passes
	b := newBench(t, ui.Options{NoColor: true, ASCII: true}, snap)
	b.size(160, 50)
	b.press("2", "down", "down")
	b.wants("1 with a rule off", "off: fuse-activation", "= fuse-activation off "+name+", this place is switched off", passes.Steps[11].Pass+", 1 off")
}

// TestPasses walks back through the passes: the number of layers is that of the steps, and what changed is found.
func TestPasses(t *testing.T) {
	d := &desk{Options: Options{Look: ui.NewLook(ui.Options{})}, snap: &sessions.Snapshot{}}
	s := graphScreen(d)
	snap := fixture(t)
	for _, v := range s.Views {
		v.Update(snap)
	}
	engine := s.Views[1].(*graphList)
	for i := len(snap.Passes.Steps) - 1; i >= 0; i-- {
		engine.Update(key("["))
		st := snap.Passes.Steps[i]
		if engine.step != i || len(engine.layers) != st.Layers {
			t.Fatalf("step %d shows %d layers, want %d after pass %d", engine.step, len(engine.layers), st.Layers, i)
		}
		now, before := engine.network()
		changed := len(diffLayers(before, now)) > 0
		if changed != (len(st.After) > 0) {
			t.Errorf("pass %d %s: changed is %v", i, st.Pass, changed)
		}
	}
}

// TestDiffLayers keeps the order of the networks.
func TestDiffLayers(t *testing.T) {
	layers := func(texts ...string) (list []sessions.LayerInfo) {
		for _, s := range texts {
			name, _, _ := strings.Cut(s, "=")
			list = append(list, sessions.LayerInfo{Name: name, Text: s})
		}
		return list
	}
	got := ""
	for _, c := range diffLayers(layers("a=1", "b=1", "c=1", "d=1"), layers("a=1", "c=2", "e=1", "d=1")) {
		got += map[bool]string{true: "-", false: "+"}[c.removed] + c.text + " "
	}
	if want := "-b=1 -c=1 +c=2 +e=1 "; got != want {
		t.Errorf("diff %q, want %q", got, want)
	}
}

// TestLayerPrecision sets a layer's precision from each pane with layers, takes that back, and shows it by the layer.
func TestLayerPrecision(t *testing.T) {
	snap := fixture(t)
	b := newBench(t, ui.Options{NoColor: true, ASCII: true}, snap)
	b.size(160, 50)
	want := func(rules ...string) {
		t.Helper()
		if got := b.last().LayerPrecisions; !slices.Equal(got, rules) {
			t.Errorf("asked for %q, want %q", got, rules)
		}
	}
	b.press("2", "down", "P") // a BatchNormalization, which is part of a convolution but folded into it
	b.wants("Precision of stem/norm/BatchNormalization", "auto: as the builder chooses for INT8")
	b.press("g", "enter")
	want("stem/norm/BatchNormalization:fp32")
	b.wants("1 layer set", "stem/norm/BatchNormalization       fp32*", "i8* stem/conv/Conv +2", "fp32 by stem/norm/BatchNormalization:fp32", "(1 layer set): rebuilding")
	b.press("u")
	want()
	b.press("tab", "P", "g", "down", "enter")
	want("stem/conv/Conv:fp16") // of the members, the one with the most arithmetic
	b.press("3", "g", "down", "P")
	b.wants("reset: forget the precision of all layers (1 rule set)")
	b.press("g", "enter")
	want("stem/conv/Conv:fp32")
	b.wants("*stem/conv/Conv +2")
	b.press("6", "g", "down", "down", "P", "g", "enter")
	if got := b.last().LayerPrecisions; len(got) != 2 || !strings.HasSuffix(got[1], ":fp32") {
		t.Errorf("asked for %q", got)
	}
	b.wants("2 layers set")
	b.press("P", "G", "enter")
	want()
	b.press("3", "g", "P") // the first layer of the engine was put there by quantisation
	b.wants("Quantize_image is no layer of the model's own")
	b.press("a", "P")
	b.wants("press a until the rows are layers")
	if len(snap.Config.LayerPrecisions) != 0 {
		t.Error("the snapshot's configuration was changed")
	}
	own := *snap
	model := *snap.Model
	model.Ops = map[string]int{"QuantizeLinear": 1}
	own.Model = &model
	b = newBench(t, ui.Options{}, &own)
	b.press("2", "P")
	b.wants("the model brings its own quantisation")
}

// TestTactics pins and forbids a candidate.
func TestTactics(t *testing.T) {
	b := newBench(t, ui.Options{}, fixture(t))
	b.press("7", "down", "tab", "down", "p")
	c := b.last()
	if len(c.Pin) != 1 {
		t.Fatalf("pinned %v", c.Pin)
	}
	b.press("p", "x")
	if c := b.last(); len(c.Pin) != 0 || len(c.Forbid) != 1 {
		t.Errorf("pinned %v, forbidden %v", c.Pin, c.Forbid)
	}
	b.press("x")
	if c := b.last(); c.Forbid != nil {
		t.Errorf("forbidden %v", c.Forbid)
	}
}

// TestPercentile moves the percentile where that calibrator is active.
func TestPercentile(t *testing.T) {
	snap := fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.press("5", ",")
	b.wants("press c for the percentile calibrator")
	active := *snap
	active.Config.Calibrator = "percentile:99.99"
	b = newBench(t, ui.Options{}, &active)
	for _, c := range []struct{ key, want string }{{",", "percentile:99.95"}, {".", "percentile:99.99"}, {".", "percentile:99.995"}} {
		b.press("5", c.key)
		if got := b.last().Calibrator; got != c.want {
			t.Errorf("%s asks for %s, want %s", c.key, got, c.want)
		}
	}
}

// TestGroups sums layers up without losing time.
func TestGroups(t *testing.T) {
	layers := fixture(t).Timings.Layers
	for _, by := range groupings {
		rows, count := groupLayers(layers, by)
		share, n := 0.0, 0
		for i := range rows {
			share += rows[i].Share
			n += count[i]
		}
		if share < 0.999 || share > 1.001 || n != len(layers) {
			t.Errorf("by %s: share %f of %d layers", by, share, n)
		}
	}
}

// TestFrozen keeps the panes and the header as they are until the screen thaws.
func TestFrozen(t *testing.T) {
	snap := fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("space")
	later, timings := *snap, *snap.Timings
	timings.Samples = 4321
	later.Timings = &timings
	b.publish(&later)
	b.wants("200 runs", "FROZEN", "median of 200")
	b.press("f")
	b.wants("INT8   mse", "fp32: rebuilding (frozen: space shows what comes of it)")
	b.press("space")
	b.wants("4,321 runs", "median of 4,321")
}

// TestRebuilding says that something is rebuilt as long as it is, and no longer: whether the work ends well, with an
// error, with the same error again, or with nothing to compare with.
func TestRebuilding(t *testing.T) {
	snap := fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	working := func(edit func(*sessions.Snapshot)) {
		t.Helper()
		next := *snap
		next.Config, next.Stale, next.Busy = b.last(), sessions.PartTimings, &sessions.Progress{Phase: "packing weights"}
		b.publish(&next)
		b.wants("rebuilding", "packing weights", " 1.0s ")
		next.Busy = nil
		edit(&next)
		b.publish(&next)
		if s := b.screen(); strings.Contains(s, "rebuilding") || strings.Contains(s, "packing weights") {
			t.Errorf("rebuilding lingers:\n%s", s)
		}
	}
	b.press("f")
	working(func(s *sessions.Snapshot) { s.Err = "layer Conv_3: no tactic" })
	b.wants("ERROR", "layer Conv_3: no tactic")
	b.press("u", "esc", "ctrl+r")
	working(func(s *sessions.Snapshot) { s.Err = "layer Conv_3: no tactic" })
	b.wants("ERROR", "layer Conv_3: no tactic")
	b.press("u")
	working(func(s *sessions.Snapshot) { s.Stale = 0 })
	b.press("f", "f") // the first is cancelled by the second
	working(func(s *sessions.Snapshot) { s.Stale = 0 })

	empty := &sessions.Snapshot{Seq: 1, Config: snap.Config, Busy: &sessions.Progress{Phase: "optimising"}}
	b = newBench(t, ui.Options{}, empty)
	b.size(120, 40)
	b.press("f")
	working(func(s *sessions.Snapshot) { s.Stale = 0 })
	b.wants("fp32: " + ui.Duration(snap.Timings.EndToEnd.Median))
}

// TestResizeWhileBuilding draws every screen at sizes that change between the events of a build.
func TestResizeWhileBuilding(t *testing.T) {
	snap := fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.press("f")
	for i, size := range [][2]int{{80, 24}, {60, 16}, {59, 16}, {200, 60}, {61, 45}, {119, 17}, {84, 24}, {1, 1}, {120, 40}} {
		next := *snap
		next.Config, next.Stale = b.last(), sessions.PartTimings|sessions.PartTactics
		next.Busy = &sessions.Progress{Phase: "timing tactics", Item: "stem/conv/Conv: conv_f32_avx512", Done: i}
		if i%2 == 0 {
			next.Passes, next.Timings, next.Tactics = nil, nil, nil
		}
		b.publish(&next)
		b.size(size[0], size[1])
		for _, digit := range []string{"1", "2", "3", "4", "5", "6", "7", "9", "0"} {
			b.press(digit)
			lines := strings.Split(b.screen(), "\n")
			for y, line := range lines {
				if ui.Width(line) != size[0] || len(lines) != size[1] {
					t.Fatalf("%v screen %s: line %d of %d has %d cells", size, digit, y, len(lines), ui.Width(line))
				}
			}
		}
	}
	b.wants("timing tactics 8", " 9.0s ")
}

// recorder is a recorder that fails when it is told to.
type recorder struct {
	path string
	err  error
}

func (r *recorder) Record(path string) error { r.path = path; return r.err }
func (r *recorder) StopRecording() error     { return r.err }

// TestRecord starts a recording named after model and time, and tells why one cannot be started.
func TestRecord(t *testing.T) {
	r := &recorder{}
	d := &desk{Options: Options{Recorder: r, Recordings: t.TempDir(), Now: (&bench{}).clock}, snap: fixture(t)}
	msg := d.record()().(ui.StatusMsg)
	if msg.Style != ui.Good || !strings.HasSuffix(r.path, "embedded-00010101-000000.trtui") {
		t.Errorf("%v, %s", msg, r.path)
	}
	r.err = errors.New("disk full")
	if msg := d.record()().(ui.StatusMsg); msg.Style != ui.Bad || !strings.Contains(msg.Text, "disk full") {
		t.Errorf("%v", msg)
	}
}
