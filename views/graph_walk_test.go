package views

import (
	"testing"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
)

// on checks which layer is under the cursor.
func (b *bench) on(name string) {
	b.t.Helper()
	if l, ok := pane.LayerAt(b.app.Focused()); !ok || l.Name != name {
		b.t.Errorf("the cursor is on %s, not on %s:\n%s", l.Name, name, b.screen())
	}
}

// TestWalk goes along the edges of a residual block by keys, and back, and by the detail's lines.
func TestWalk(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(160, 50)
	b.press("2")
	b.send(pane.ShowLayer("block1/Add")())
	b.press("2", "shift+tab")
	for b.app.Place().View != 1 {
		b.press("tab")
	}
	b.on("block1/Add")
	b.wants("reads       block1/", "read by     block1/")
	b.press("<")
	b.wants("block1/Add reads from")
	b.press("enter")
	first, _ := pane.LayerAt(b.app.Focused())
	b.press(">")
	b.on("block1/Add")
	b.press("(", "(")
	b.on("block1/Add")
	b.press("(")
	b.wants("this is where the walk began")
	b.press(")")
	b.on(first.Name)
	b.press(")", ")")
	b.wants("this is where the walk has come to")
	b.on("block1/Add")
	b.press("g", "<")
	b.wants("it reads from no layer", "reads       input ")
	b.press("G")
	b.wants("read by     output ")
	b.press(">")
	b.wants("no layer reads it")
}
