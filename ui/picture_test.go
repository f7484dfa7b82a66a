package ui

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/image/font/sfnt"
)

// styled has a letter, a full block in a colour of its own, a shade, braille, a line and a glyph of two cells.
const styled = "a\x1b[0;38;2;1;2;255m█\x1b[0m▒\x1b[0;1m⡇\x1b[0m─界\n<\x1b[48;2;16;32;48m&\x1b[0m\x1b[4m \x1b[0m"

// TestPNG draws cells where they are: blocks fill theirs, a shade covers a half of the ground, grounds and underlines are drawn.
func TestPNG(t *testing.T) {
	data, err := Picture{Content: styled, Theme: DarkTheme()}.PNG()
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if want := (image.Point{2*pngMargin + 7*pngCellWidth, 2*pngMargin + 2*pngCellHeight}); m.Bounds().Size() != want {
		t.Errorf("%v, want %v", m.Bounds().Size(), want)
	}
	at := func(column, line, x, y int) color.RGBA {
		return color.RGBAModel.Convert(m.At(pngMargin+column*pngCellWidth+x, pngMargin+line*pngCellHeight+y)).(color.RGBA)
	}
	ground, ink, blue := rgb("#16181d"), rgb("#d8dee9"), color.RGBA{1, 2, 255, 255}
	for _, c := range []struct {
		what               string
		column, line, x, y int
		want               color.RGBA
	}{
		{"ground of the letter", 0, 0, 0, 0, ground}, {"a corner of the block", 1, 0, 0, 0, blue}, {"the other", 1, 0, 11, 23, blue},
		{"the middle of the line", 4, 0, 6, 12, ink}, {"its left end", 4, 0, 0, 12, ink}, {"its right end", 4, 0, 11, 12, ink}, {"above it", 4, 0, 6, 8, ground},
		{"the first dot", 3, 0, 3, 3, ink}, {"beside it", 3, 0, 9, 3, ground}, {"a ground", 1, 1, 0, 0, color.RGBA{16, 32, 48, 255}},
		{"an underline", 2, 1, 6, pngBaseline + 3, ink}, {"above that", 2, 1, 6, pngBaseline, ground}, {"what no font has, its box", 5, 0, 12, 4, ink}, {"and its inside", 5, 0, 12, 12, ground},
	} {
		if got := at(c.column, c.line, c.x, c.y); got != c.want {
			t.Errorf("%s is %v, want %v", c.what, got, c.want)
		}
	}
	if got := at(2, 0, 5, 5); got.R <= ground.R || got.R >= ink.R {
		t.Errorf("the shade is %v", got)
	}
	drawn := 0
	for y := range pngCellHeight {
		for x := range pngCellWidth {
			if at(0, 0, x, y) != ground {
				drawn++
			}
		}
	}
	if drawn < 20 || drawn > 150 {
		t.Errorf("%d pixels of the letter are drawn", drawn)
	}
}

// TestGlyphsDrawn has a shape or a letter for every mark that widgets draw with.
func TestGlyphsDrawn(t *testing.T) {
	c, err := newPixels(1, 1, "#000000")
	if err != nil {
		t.Fatal(err)
	}
	has := func(g rune) bool {
		var buffer sfnt.Buffer
		i, err := c.letters[0].font.GlyphIndex(&buffer, g)
		return err == nil && i != 0 || shapeOf(g) != nil
	}
	var runes []rune
	for _, r := range "aZ~µ±×·…↑↓←→°≤≥λäß" {
		runes = append(runes, r)
	}
	glyphs := reflect.ValueOf(*UnicodeGlyphs())
	for i := range glyphs.NumField() {
		switch v := glyphs.Field(i).Interface().(type) {
		case rune:
			runes = append(runes, v)
		case string:
			runes = append(runes, []rune(v)...)
		case []rune:
			runes = append(runes, v...)
		case [4]rune:
			runes = append(runes, v[:]...)
		}
	}
	for g := rune(0x2580); g < 0x25a0; g++ {
		runes = append(runes, g)
	}
	for _, g := range runes {
		if g != ' ' && !has(g) {
			t.Errorf("nothing draws %q", g)
		}
	}
}

// TestHTMLPicture writes a page that parses, whose text is that of the screen, line by line, with its colours.
func TestHTMLPicture(t *testing.T) {
	page, err := Picture{Content: styled, Theme: LightTheme(), Title: "trtui <x>"}.HTML()
	if err != nil {
		t.Fatal(err)
	}
	d, text, in := xml.NewDecoder(bytes.NewReader(page)), "", ""
	d.Strict, d.AutoClose = false, []string{"meta"}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			in = e.Name.Local
			if in == "script" || in == "link" {
				t.Errorf("the page has a %s", in)
			}
		case xml.CharData:
			if in == "pre" || in == "span" {
				text += string(e)
			}
		}
	}
	plain := regexp.MustCompile("\x1b[^m]*m").ReplaceAllString(styled, "")
	if got := strings.TrimSpace(text); got != strings.TrimSpace(plain) {
		t.Errorf("%q, want %q", got, plain)
	}
	for _, want := range []string{"<title>trtui &lt;x&gt;</title>", `<span style="color:#0102ff;width:1ch">█</span>`, "background:#ffffff", "width:3ch"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("without %s", want)
		}
	}
	if !utf8.Valid(page) {
		t.Error("the page is no UTF-8")
	}
}

func BenchmarkPNG(b *testing.B) {
	p := Picture{Content: strings.Repeat(strings.Repeat("x█", 100)+"\n", 60), Theme: DarkTheme()}
	for b.Loop() {
		if _, err := p.PNG(); err != nil {
			b.Fatal(err)
		}
	}
}
