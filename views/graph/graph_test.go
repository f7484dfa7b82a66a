package graph

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestShowFolded: a layer that is asked for is shown though it was folded away.
func TestShowFolded(t *testing.T) {
	s := Screen(ui.NewLook(ui.Options{}), &panetest.Desk{}, nil)
	for _, v := range s.Views {
		v.Update(panetest.Repeated(t))
	}
	engine := s.Views[1].(*networkView)
	engine.Update(pane.ShowLayerMsg{Layer: "block.3/LayerNorm16"})
	if l := engine.net.layer(); l == nil || l.Name != "block.3/LayerNorm16" {
		t.Errorf("the cursor is on %+v", l)
	}
}

// TestCompareLayers keeps the order of the networks.
func TestCompareLayers(t *testing.T) {
	layers := func(texts ...string) (list []report.Layer) {
		for _, s := range texts {
			name, _, _ := strings.Cut(s, "=")
			list = append(list, report.Layer{Name: name, Text: s})
		}
		return list
	}
	got := ""
	for _, c := range compareLayers(layers("a=1", "b=1", "c=1", "d=1"), layers("a=1", "c=2", "e=1", "d=1")).lines {
		got += map[bool]string{true: "-", false: "+"}[c.removed] + c.text + " "
	}
	if want := "-b=1 -c=1 +c=2 +e=1 "; got != want {
		t.Errorf("diff %q, want %q", got, want)
	}
}

// TestLinked moves the cursor of the other graph along, and jumps to it.
func TestLinked(t *testing.T) {
	s := Screen(ui.NewLook(ui.Options{}), &panetest.Desk{}, nil)
	snap := panetest.Fixture(t)
	for _, v := range s.Views {
		v.Update(snap)
	}
	source, engine := s.Views[0].(*networkView), s.Views[1].(*networkView)
	for range 5 {
		source.Update(ui.Press("down"))
	}
	if !slices.Contains(engine.net.layer().From, source.net.layer().Name) {
		t.Errorf("source at %s, engine at %s", source.net.layer().Name, engine.net.layer().Name)
	}
	cmd := source.Update(ui.Press(";"))
	if m, ok := cmd().(ui.GotoMsg); !ok || m.View != 2 {
		t.Errorf("; gives %v", cmd())
	}
	engine.Update(ui.Press("down"))
	if !slices.Contains(engine.net.layer().From, source.net.layer().Name) {
		t.Errorf("engine at %s, source at %s", engine.net.layer().Name, source.net.layer().Name)
	}
	source.Render(80, 24) // marks are found once for all lines
	marked := 0
	for i := range source.net.list.Lines {
		if source.line(i, 0).Ground == ui.Selected {
			marked++
		}
	}
	if marked != len(engine.net.layer().From) {
		t.Errorf("%d layers marked for %d members", marked, len(engine.net.layer().From))
	}
}

// TestPasses walks back through the passes: the number of layers is that of the steps, and what changed is found.
func TestPasses(t *testing.T) {
	s := Screen(ui.NewLook(ui.Options{}), &panetest.Desk{}, nil)
	snap := panetest.Fixture(t)
	for _, v := range s.Views {
		v.Update(snap)
	}
	engine := s.Views[1].(*networkView)
	for i := len(snap.Passes.Steps) - 1; i >= 0; i-- {
		engine.Update(ui.Press("["))
		st := snap.Passes.Steps[i]
		if engine.g.state.step != i || len(engine.net.layers) != st.Layers {
			t.Fatalf("step %d shows %d layers, want %d after pass %d", engine.g.state.step, len(engine.net.layers), st.Layers, i)
		}
		now, before := engine.g.state.network()
		changed := len(compareLayers(before, now).lines) > 0
		if changed != (len(st.After) > 0) {
			t.Errorf("pass %d %s: changed is %v", i, st.Pass, changed)
		}
	}
}
