package ui

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestScatter draws the points of a front filled, others as circles, and none that is no number, whatever the size.
func TestScatter(t *testing.T) {
	line := 3.0
	s := Scatter{Cursor: 1, Line: &line, Points: []ScatterPoint{{X: 1, Y: 1, Front: true}, {X: 2, Y: 5, Front: true}, {X: 2.5, Y: 2}, {X: math.NaN(), Y: 9}, {X: 3, Y: math.Inf(1)}}}
	for _, o := range []Options{{NoColor: true}, {ASCII: true}} {
		look := NewLook(o)
		text := ansi.Strip(look.Render(60, 12, s.Draw))
		if n := strings.Count(text, string(look.Glyphs.Record)); n != 2 || strings.Count(text, "o") != 1 {
			t.Errorf("%d filled:\n%s", n, text)
		}
	}
	look := NewLook(Options{ASCII: true})
	one := Scatter{Cursor: 0, Points: []ScatterPoint{{X: 5, Y: 0.99, Front: true}}}
	if text := ansi.Strip(look.Render(60, 12, one.Draw)); strings.Count(text, string(look.Glyphs.Record)) != 1 {
		t.Errorf("one point:\n%s", text)
	}
	top := Scatter{Cursor: 0, Most: 1, Points: []ScatterPoint{{X: 5, Y: 1}}, YLabel: func(y float64) string {
		if y >= 1 {
			return "exact"
		}
		return "1.0 dB"
	}}
	if text := ansi.Strip(look.Render(60, 12, top.Draw)); !strings.Contains(text, "exact") || strings.Contains(text, "1.0 dB") {
		t.Errorf("a label twice:\n%s", text)
	}
	for w := range 40 {
		for h := range 8 {
			look.Render(w, h, s.Draw)
			look.Render(w, h, one.Draw)
			look.Render(w, h, Scatter{Cursor: -1}.Draw)
		}
	}
}
