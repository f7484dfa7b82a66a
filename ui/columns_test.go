package ui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestColumnsScale: a scale has values at its top, in its middle and at its bottom, and that of the line, which takes their place.
func TestColumnsScale(t *testing.T) {
	look := NewLook(Options{})
	for _, c := range []struct {
		of   Columns
		want string
	}{
		{Columns{Values: []float64{1, 8, 2}, Cursor: -1}, "8 4 0"},
		{Columns{Values: []float64{1, 8, 2}, Cursor: -1, Line: 2}, "8 4 2 0"},
		{Columns{Values: []float64{1, 8, 2}, Cursor: -1, Line: 4.4}, "8 4.4 0"},
		{Columns{Values: []float64{1, 8, 2}, Cursor: -1, Log: true}, "8 0.08 8.0e-04"},
		{Columns{Values: []float64{0, 0}, Cursor: -1}, "0 0 0"},
	} {
		var got []string
		for _, line := range strings.Split(ansi.Strip(look.Render(40, 10, c.of.Draw)), "\n") {
			name, _, _ := strings.Cut(strings.ReplaceAll(line, string(look.Glyphs.Rule), string(look.Glyphs.Wall)), string(look.Glyphs.Wall))
			if name = strings.TrimSpace(name); name != "" {
				got = append(got, name)
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%+v: the scale is %v, want %v", c.of, got, want)
		}
	}
}
