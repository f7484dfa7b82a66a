package ui

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func svgOf(t *testing.T, content string, theme *Theme) string {
	t.Helper()
	svg, err := Picture{Content: content, Theme: theme}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	return string(svg)
}

// TestSVG draws runs where their cells are, wide ones of two, with their colours, and escapes what is markup.
func TestSVG(t *testing.T) {
	svg := svgOf(t, "ab\x1b[0;38;2;1;2;255mc<\x1b[0;1;7m&\n\x1b[0m界 \x1b[48;2;16;32;48mx\x1b[0m", DarkTheme())
	d, texts, rects := xml.NewDecoder(strings.NewReader(svg)), []string{}, 0
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
			if e.Name.Local == "rect" {
				rects++
			}
			if e.Name.Local == "text" {
				line := ""
				for _, a := range e.Attr {
					if a.Name.Local != "lengthAdjust" && a.Name.Local != "y" {
						line += a.Value + " "
					}
				}
				texts = append(texts, line)
			}
		case xml.CharData:
			if len(texts) > 0 && strings.TrimSpace(string(e)) != "" {
				texts[len(texts)-1] += string(e)
			}
		}
	}
	want := []string{"8.0 16.8 #d8dee9 ab", "24.8 16.8 #0102ff c<", "41.6 8.4 #16181d bold &", "8.0 16.8 #d8dee9 界", "33.2 8.4 #d8dee9 x"}
	if got := strings.Join(texts, "|"); got != strings.Join(want, "|") {
		t.Errorf("%s\nwant %s", got, strings.Join(want, "|"))
	}
	if rects != 3 { // all, what is reversed, x
		t.Errorf("%d rectangles", rects)
	}
	mine, err := ReadTheme("mine.json", []byte(`{"base": "light"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range []*Theme{LightTheme(), ColourBlindLightTheme(), mine} {
		if light := svgOf(t, "a", theme); !strings.Contains(light, `fill="#ffffff"`) {
			t.Errorf("the theme %s is dark", theme.Name)
		}
	}
}

// TestSVGSpaces draws what stands behind several spaces where it stands, also for what draws one in their place.
func TestSVGSpaces(t *testing.T) {
	svg := svgOf(t, "  a b   c  \x1b[4m  d  \x1b[0m   ", DarkTheme())
	for _, want := range []string{`x="24.8" y="21.5" textLength="25.2" lengthAdjust="spacingAndGlyphs" fill="#d8dee9">a b<`, `x="75.2" y="21.5" textLength="8.4" lengthAdjust="spacingAndGlyphs" fill="#d8dee9">c<`,
		`x="100.4" y="21.5" textLength="42.0" lengthAdjust="spacingAndGlyphs" fill="#d8dee9" text-decoration="underline">  d  <`} {
		if !strings.Contains(svg, want) {
			t.Errorf("without %s:\n%s", want, svg)
		}
	}
	if n := strings.Count(svg, "<text"); n != 3 {
		t.Errorf("%d texts", n)
	}
}
