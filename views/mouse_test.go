package views

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestMouseEverywhere: in every pane of every screen that has a cursor, a click on another row moves it, and so does the wheel; where
// rows can be sorted, a click on a title does that. Bars and points without rows can be clicked on, too.
func TestMouseEverywhere(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, measured(t))
	b.size(120, 40)
	b.press("m")
	b.publish(slower(t))
	b.press("d")
	click := func(x, y int) {
		b.pass(time.Second) // so that no two are a pair
		b.app.Content()
		b.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	}
	moved, sorted := 0, 0
	for _, s := range b.app.Screens() {
		for i, v := range s.Views {
			name, place := s.Name+": "+v.Title(), b.app.PlaceOf(s, i)
			b.send(place)
			b.press("z", "g")
			first := b.app.RowText()
			b.press("down")
			second := b.app.RowText()
			b.press("g")
			if first != "" && first != second {
				moved++
				b.send(tea.MouseWheelMsg{X: 40, Y: 20, Button: tea.MouseWheelDown})
				if b.app.RowText() == first {
					t.Errorf("%s: the wheel does not move the cursor", name)
				}
				b.press("g")
				for y := 4; y < 38 && b.app.RowText() == first; y++ {
					click(8+41*(y%3), y)
				}
				if b.app.RowText() == first {
					t.Errorf("%s: clicks do not move the cursor", name)
				}
			}
			if slices.ContainsFunc(v.Keys(), func(k ui.Key) bool { return k.Short == "sort" }) && b.app.RowText() != "" {
				sorted++
				before, after := b.screen(), ""
				for y := 3; y < 20 && (after == "" || after == before); y++ {
					for x := 4; x < 116 && (after == "" || after == before); x += 6 {
						click(x, y)
						after = b.screen()
					}
				}
				if after == before {
					t.Errorf("%s: clicks on titles do not sort", name)
				}
			}
			b.send(place)
			b.press("z")
		}
	}
	if moved < 12 || sorted < 10 {
		t.Errorf("only %d panes with rows and %d with columns were tried", moved, sorted)
	}
	b.press("1")
	x, y := b.find("inception/three/conv/Conv")
	click(x+50, y)
	b.wants("Source", "▸ inception/three/conv/Conv")
}

// TestDoubleClick: two clicks on a pane without rows are its enter.
func TestDoubleClick(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(120, 40)
	x, y := b.find("no reuse")
	for range 2 {
		b.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
	}
	b.wants("Arena by step")
}

// find returns where a text is on the screen.
func (b *bench) find(text string) (x, y int) {
	b.t.Helper()
	for y, line := range strings.Split(b.screen(), "\n") {
		if at := strings.Index(line, text); at >= 0 {
			return ui.Width(line[:at]), y
		}
	}
	b.t.Fatalf("the screen does not show %q:\n%s", text, b.screen())
	return 0, 0
}
