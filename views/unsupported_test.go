package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// refusedSnapshot is what a session would publish of the fixture's model if a layer were not supported and blocked the last one.
func refusedSnapshot(t testing.TB) *report.Snapshot {
	full := panetest.Fixture(t)
	m, p := *full.Model, *full.Passes
	m.NotRunnable = "1 of 12 layers has an unsupported operator (Sift)"
	mark := func(list []report.Layer) []report.Layer {
		list = slices.Clone(list)
		for i := range list {
			l := &list[i]
			switch i {
			case len(list) - 2:
				l.Op, l.Precision, l.Unsupported = "Sift", "", "operator is not supported"
			case len(list) - 1:
				l.Precision, l.Unsupported, l.Behind = "", `its input "s" has no known shape: it comes from unsupported node sift`, "sift"
				l.Outputs = []report.Tensor{{Name: "y", Type: "?"}}
			}
		}
		return list
	}
	m.Layers = mark(m.Layers)
	for _, l := range m.Layers[len(m.Layers)-2:] {
		m.Unsupported = append(m.Unsupported, report.UnsupportedLayer{Layer: l.Name, Op: l.Op, Reason: l.Unsupported, Behind: l.Behind})
	}
	p.Unlowered, p.Unchanged = nil, ""
	p.Precision, p.Source, p.Engine = config.FP32, mark(p.Source), mark(p.Source)
	cfg := full.Config
	cfg.Precision = config.FP32
	return &report.Snapshot{Seq: 3, Schema: report.Schema, Config: cfg, Model: &m, Passes: &p, Device: full.Device}
}

// TestNotRunnable draws every screen for a model that cannot be run: each says so and where to look, and keys that would run
// it say why they do not.
func TestNotRunnable(t *testing.T) {
	snap := refusedSnapshot(t)
	for _, look := range []struct {
		name string
		o    ui.Options
		w, h int
	}{{"mono_80x24", ui.Options{NoColor: true}, 80, 24}, {"dark_120x40", ui.Options{Theme: "dark"}, 120, 40}} {
		b := newBench(t, look.o, snap)
		b.size(look.w, look.h)
		for _, digit := range screenKeys("2", "9", "0") {
			b.press(digit)
			b.wants("not runnable", "screen 2 marks the layers with !")
		}
		t.Run(look.name+"_overview", func(t *testing.T) {
			b.press("1")
			golden.RequireEqual(t, b.app.Content())
		})
		t.Run(look.name+"_graph", func(t *testing.T) {
			b.press("2", "G")
			b.wants("blocked", "has no known shape", "After all passes")
			golden.RequireEqual(t, b.app.Content())
		})
		for _, k := range []string{"f", "c", "r"} {
			b.press("2", k)
			b.wants("the model is not runnable: 1 of 12 layers has an unsupported operator (Sift)")
		}
		if len(b.ctl.set) > 0 || b.ctl.reruns > 0 {
			t.Errorf("asked for %v and %d runs", b.ctl.set, b.ctl.reruns)
		}
	}
}

// TestNotRunnableToggles switches a rule off, which the passes allow, and sees the work end.
func TestNotRunnableToggles(t *testing.T) {
	snap := refusedSnapshot(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.press("2", "tab", "down", "x", "enter")
	if len(b.ctl.set) == 0 {
		t.Fatal("no rule was switched off")
	}
	b.wants("rebuilding")
	done := *snap
	done.Seq, done.Config = snap.Seq+1, b.last()
	b.publish(&done)
	if s := b.screen(); strings.Contains(s, "rebuilding") || strings.Contains(s, "ERROR") {
		t.Errorf("the work has not ended:\n%s", s)
	}
}
