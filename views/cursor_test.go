package views

import (
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/words"
)

// under returns the layer under the cursor of the pane that has the focus.
func (b *bench) under() string {
	b.t.Helper()
	l, _ := pane.LayerAt(b.app.Focused())
	return l.Name
}

// TestOneCursor: a layer that a cursor is put on is under that of every screen, and a screen that nobody has moved one on keeps
// its own.
func TestOneCursor(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.press("4")
	peak := b.under()
	b.press("3", "4")
	if b.under() != peak {
		t.Errorf("a cursor that was not moved is on %s, not at the peak, %s", b.under(), peak)
	}
	b.press("2", "tab", "down", "down", "down")
	want := b.under()
	for _, digit := range []string{"3", "4", "6", "7"} {
		b.press(digit)
		if b.under() != want {
			t.Errorf("screen %s: %q is under the cursor, want %q", digit, b.under(), want)
		}
	}
	b.press("down", "down")
	want = b.under()
	b.press("3")
	if b.under() != want {
		t.Errorf("%q is under the cursor, want %q", b.under(), want)
	}
	b.press("5") // of tensors the one that the layer makes
	l := pane.StepRef(want)
	if tensor := b.under(); pane.Nearest(l, 1, func(int) pane.LayerRef { return pane.StepRef(tensor) }) < 0 {
		t.Errorf("the tensor of %q is under the cursor, want of %q", tensor, want)
	}
	b.press("3", "/", "h", "e", "a", "d", "enter") // what a filter leaves counts, too
	want = b.under()
	b.press("4")
	if b.under() != want || !strings.Contains(want, "head") {
		t.Errorf("%q is under the cursor, want %q", b.under(), want)
	}
}

// TestCursorKeeps: the cursor is on its layer in reports that come later, and where a pane lacks it, on what is next to it.
func TestCursorKeeps(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.press("3", "down", "down", "down", "down")
	want := b.under()
	without := *snap
	without.Memory, without.Seq = nil, snap.Seq+1
	b.publish(&without)
	b.press("4")
	b.publish(snap)
	if b.under() != want {
		t.Errorf("%q is under the cursor of a report that came later, want %q", b.under(), want)
	}
	b.press("2", "tab", "tab", "tab", "tab") // its source layers
	source := b.under()
	b.press("3")
	if b.under() != want {
		t.Errorf("%q is under the cursor, want %q, which has %q", b.under(), want, source)
	}
	next := pane.Neighbours(snap, pane.StepRef(want))
	if len(next) < 2 || next[0].Name != snap.Memory.Steps[5] || next[1].Name != snap.Memory.Steps[3] {
		t.Errorf("next to step 4 are %v", next)
	}
	if got := pane.Neighbours(&report.Snapshot{}, pane.StepRef(want)); got != nil {
		t.Errorf("without reports %v is next to a layer", got)
	}
}

// TestGoTo: enter leads from a layer to another screen, esc and backspace back, unless another screen was turned to.
func TestGoTo(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(120, 40)
	b.press("3", "down", "down")
	want := b.under()
	for _, back := range []string{"esc", "backspace"} {
		b.press("enter")
		b.wants("Go to "+words.ShortName(want)+" on", "2 Graph", "7 Tactics")
		b.lacks("3 Timings  ")
		b.press("7")
		if b.app.Shown().Key != "7" || b.under() != want {
			t.Fatalf("screen %s, %q under the cursor", b.app.Shown().Key, b.under())
		}
		b.press("down", back)
		if b.app.Shown().Key != "3" || b.under() != want {
			t.Fatalf("%s leads to screen %s, %q under the cursor", back, b.app.Shown().Key, b.under())
		}
	}
	b.press("enter", "down", "enter") // the second: Memory
	if b.app.Shown().Key != "4" {
		t.Errorf("screen %s", b.app.Shown().Key)
	}
	b.press("enter", "2")
	if b.app.Shown().Key != "2" || b.under() != want {
		t.Errorf("screen %s, %q under the cursor", b.app.Shown().Key, b.under())
	}
	b.press("backspace", "backspace")
	if b.app.Shown().Key != "3" || b.under() != want {
		t.Errorf("two steps back is screen %s, %q under the cursor", b.app.Shown().Key, b.under())
	}
	b.press("enter", "7", "6", "esc")
	if b.app.Shown().Key != "6" {
		t.Error("esc leaves a screen that no layer led to")
	}
	b.press("backspace")
	b.wants("no layer led here")
	b.press("1", "enter") // the pane's own
	if b.app.Shown().Key != "1" {
		t.Errorf("screen %s", b.app.Shown().Key)
	}
	b.wants("no layer under the cursor here")
}

// TestCopyRow copies the row under the cursor, with the layer's whole name.
func TestCopyRow(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(200, 60)
	b.press("3", "down", "y")
	l := snap.Timings.Layers[1]
	b.wants("row copied: "+l.Name, ui.Duration(l.Median))
	if text := b.app.RowText(); strings.Count(text, "\t") < 10 || !strings.Contains(text, l.Tactic) {
		t.Errorf("%q", text)
	}
	b.press("4", "y")
	b.wants("row copied: ", " live")
	b.press("2", "y")
	b.wants("row copied: " + snap.Passes.Source[1].Name[:4])
	b.press("1", "y")
	b.wants("no row under the cursor here")
	b.press("Y")
	b.wants("lines copied: Summary")
}
