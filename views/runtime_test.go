package views

import (
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestRuntime looks at the panes of an engine that serves ranges.
func TestRuntime(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		b := newBench(t, ui.Options{NoColor: true}, &snap)
		b.size(size[0], size[1])
		b.press("8", "tab", "tab", "down")
		b.wants("Profile", "Least, best, largest", "Along an axis", "length 256", "Contexts at a time", "3 best")
		if size[0] == 120 {
			t.Run("120x40", func(t *testing.T) { golden.RequireEqual(t, b.app.Content()) })
		}
		b.press("tab", "=")
		b.wants("2 best", "at most 3.20 ms")
	}
}
