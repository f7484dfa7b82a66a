package ui

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// TestMapNames checks that a name stands whole in cells of its own block, cut in its middle at most, or not at all.
func TestMapNames(t *testing.T) {
	large := Block{Name: "stem/first/Relu", First: 0, Last: 9, From: 0, To: 100}
	for _, c := range []struct {
		name   string
		blocks []Block
		cursor int
		want   string   // must be there
		not    []string // must not
	}{
		{"alone", []Block{large}, -1, " stem/first/Relu ", nil},
		{"beside a small block that covers its middle", []Block{large, {Name: "tiny", First: 3, Last: 4, From: 45, To: 55, Series: 1}}, -1, " stem/first/Relu ", nil},
		{"covered but for four steps", []Block{large, {First: 4, Last: 9, From: 0, To: 99, Series: 1}}, -1, " stem/first/Relu ", nil},
		{"shortened", []Block{large, {First: 3, Last: 9, From: 0, To: 100, Series: 1}}, -1, "ste/first/Relu", nil},
		{"no room", []Block{large, {First: 1, Last: 9, From: 0, To: 100, Series: 1}}, -1, "", []string{"st", "…"}},
		{"a small block has no room for its name", []Block{large, {Name: "workspace", First: 3, Last: 3, From: 0, To: 100, Series: 1}}, -1, "", []string{"work", "wo…"}},
		{"right of the cursor", []Block{large}, 4, " stem/first/Relu ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Map{Blocks: c.blocks, Steps: 10, Size: 100, Selected: -1, Cursor: c.cursor}
			got := ansi.Strip(NewLook(Options{Theme: "dark"}).Render(mapGutter+1+45, 9, m.Draw))
			if !strings.Contains(got, c.want) {
				t.Errorf("the map lacks %q:\n%s", c.want, got)
			}
			for _, n := range c.not {
				if strings.Contains(got, n) {
					t.Errorf("the map shows %q:\n%s", n, got)
				}
			}
		})
	}
}

// TestMapMarks checks that the marks of what lives at the cursor stand in its column, one for each block that shows there.
func TestMapMarks(t *testing.T) {
	m := Map{Steps: 10, Size: 100, Selected: -1, Cursor: 5, Blocks: []Block{
		{First: 0, Last: 9, From: 0, To: 50, Mark: 'a'},
		{First: 5, Last: 5, From: 50, To: 100, Series: 1, Mark: 'b'},
		{First: 6, Last: 9, From: 50, To: 100, Series: 2},
	}}
	for _, o := range []Options{{Theme: "dark"}, {NoColor: true}, {ASCII: true}} {
		look := NewLook(o)
		lines := strings.Split(ansi.Strip(look.Render(60, 11, m.Draw)), "\n")
		column := ""
		for _, line := range lines[:10] {
			column += string([]rune(line)[mapGutter+(60-mapGutter-1)/2+1])
		}
		if strings.Count(column, "a") != 1 || strings.Count(column, "b") != 1 || strings.Index(column, "b") > strings.Index(column, "a") {
			t.Errorf("%+v: the cursor's column reads %q", o, column)
		}
	}
}

// TestMapInASCII: textures have no letters, and do not run into names.
func TestMapInASCII(t *testing.T) {
	for _, r := range ASCIIGlyphs().Fills {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			t.Errorf("a texture is of %q", r)
		}
	}
	m := Map{Steps: 30, Size: 30, Cursor: -1, Selected: -1, Blocks: []Block{
		{Name: "inception/Concat", First: 0, Last: 16, From: 0, To: 30, Series: 1},
		{Name: "next", First: 17, Last: 29, From: 0, To: 30, Series: 2},
	}}
	for w := mapGutter + 22; w < 60; w++ {
		text := ansi.Strip(NewLook(Options{ASCII: true, NoColor: true}).Render(w, 8, m.Draw))
		if !regexp.MustCompile(`[%|] \S*Concat\S* [+%]`).MatchString(text) {
			t.Errorf("at %d cells a name runs into textures:\n%s", w, text)
		}
	}
}
