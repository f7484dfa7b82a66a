package views

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"

	tea "charm.land/bubbletea/v2"
)

// TestClicks clicks on many cells of every screen: each stays whole, and the memory map goes to the step clicked on.
func TestClicks(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		b.size(size[0], size[1])
		for _, digit := range screenKeys() {
			for y := 2; y < size[1]-1; y += 3 {
				for x := 2; x < size[0]; x += 31 {
					b.press("esc")
					b.press(digit)
					b.app.Content() // a click is on what was drawn
					b.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
				}
			}
			lines := strings.Split(b.app.Content(), "\n")
			for i, line := range lines {
				if got := ansi.StringWidth(line); len(lines) != size[1] || got != size[0] {
					t.Fatalf("screen %s: line %d of %d has %d cells", digit, i, len(lines), got)
				}
			}
		}
	}
	b.press("4")
	b.app.Content()
	step := regexp.MustCompile(`step \d+`)
	b.send(tea.MouseClickMsg{X: 12, Y: 6, Button: tea.MouseLeft})
	first := step.FindString(b.screen())
	b.send(tea.MouseClickMsg{X: 50, Y: 6, Button: tea.MouseLeft})
	if second := step.FindString(b.screen()); first == second || second == "" {
		t.Errorf("from %q to %q", first, second)
	}
}
