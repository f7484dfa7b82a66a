package ui

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestRoofline draws points under ceilings whose names are there, and whatever it is given at any size.
func TestRoofline(t *testing.T) {
	r := Roofline{
		Roofs:  []Ceiling{{Name: "f32", Rate: 100e9, On: true}, {Name: "i8", Rate: 400e9}},
		Slopes: []Ceiling{{Name: "L1", Rate: 200e9}, {Name: "DRAM", Rate: 10e9}},
		Points: []RooflinePoint{{X: 20, Y: 80e9}, {X: 0.25, Y: 5e9}, {Y: 4e9}, {X: math.NaN(), Y: 1}, {X: 1, Y: math.Inf(1)}},
		XUnit:  "op/B", YUnit: "op/s",
	}
	for _, o := range []Options{{NoColor: true}, {ASCII: true}} {
		look := NewLook(o)
		text := ansi.Strip(look.Render(80, 16, r.Draw))
		for _, want := range []string{"f32 100 Gop/s", "i8 400 Gop/s", "L1 200 GB/s", "DRAM 10 GB/s", "op/B"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if n := strings.Count(text, string(look.Glyphs.Record)); n != 1 {
			t.Errorf("%d cursors in\n%s", n, text)
		}
		t.Log("\n" + text)
	}
	// Names stay whole among points, and the cursor's point is seen.
	crowded := r
	crowded.Points = nil
	for x := 0.05; x < 1e3; x *= 1.07 {
		crowded.Points = append(crowded.Points, RooflinePoint{X: x, Y: min(10e9*x, 100e9)}, RooflinePoint{X: x, Y: min(200e9*x, 400e9)}, RooflinePoint{Y: 10e9 * x})
	}
	look := NewLook(Options{NoColor: true})
	for crowded.Cursor = range crowded.Points {
		text := ansi.Strip(look.Render(80, 16, crowded.Draw))
		if !strings.Contains(text, string(look.Glyphs.Record)) {
			t.Errorf("no cursor in\n%s", text)
		}
		for _, want := range []string{"f32 100 Gop/s", "i8 400 Gop/s", "L1 200 GB/s", "DRAM 10 GB/s"} {
			if !strings.Contains(text, want) {
				t.Fatalf("no %q in\n%s", want, text)
			}
		}
	}
	for w := range 60 {
		for h := range 12 {
			look.Render(w, h, r.Draw)
			look.Render(w, h, Roofline{Cursor: -1}.Draw)
			look.Render(w, h, Roofline{Roofs: []Ceiling{{Rate: math.NaN()}}, Slopes: []Ceiling{{Rate: -1}}}.Draw)
			look.Render(w, h, Roofline{Roofs: []Ceiling{{Rate: 1e9}, {Rate: 0}}, Slopes: []Ceiling{{Rate: 1e30}, {Rate: 1e-3}}, Points: r.Points}.Draw)
		}
	}
}
