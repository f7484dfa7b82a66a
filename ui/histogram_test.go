package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestHistogramThreshold draws a threshold where nearly all values lie: their column is seen whole, and the line above it.
func TestHistogramThreshold(t *testing.T) {
	h := Histogram{Counts: []float64{1, 1, 90, 1, 1, 1, 1, 1, 1, 1}, Lo: 0, Hi: 10, Thresholds: []Threshold{{Name: "minmax", At: []float64{2.5}}}}
	look := NewLook(Options{ASCII: true, NoColor: true})
	text := ansi.Strip(look.Render(12, 10, func(c *Canvas) { h.Draw(c) }))
	lines := strings.Split(text, "\n")
	full := look.Glyphs.Columns[len(look.Glyphs.Columns)-1]
	for i, line := range lines[1:8] {
		if got := []rune(line)[3]; got != full {
			t.Errorf("line %d of the column is %q, want %q:\n%s", i, got, full, text)
		}
	}
	if got := []rune(lines[0])[3]; got != look.Glyphs.Mark {
		t.Errorf("above it is %q:\n%s", got, text)
	}
}
