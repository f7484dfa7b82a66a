package ui

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

// TestSVG draws runs where their cells are, wide ones of two, with their colours, and escapes what is markup.
func TestSVG(t *testing.T) {
	svg := SVG("ab\x1b[0;38;2;1;2;255mc<\x1b[0;1;7m&\n\x1b[0m界 \x1b[48;2;16;32;48mx\x1b[0m", DarkTheme())
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
	want := []string{"8.0 16.8 #d8dee9 ab", "24.8 16.8 #0102ff c<", "41.6 8.4 #16181d bold &", "8.0 25.2 #d8dee9 界 ", "33.2 8.4 #d8dee9 x"}
	if got := strings.Join(texts, "|"); got != strings.Join(want, "|") {
		t.Errorf("%s\nwant %s", got, strings.Join(want, "|"))
	}
	if rects != 3 { // all, what is reversed, x
		t.Errorf("%d rectangles", rects)
	}
	if light := SVG("a", LightTheme()); !strings.Contains(light, `fill="#ffffff"`) {
		t.Error("the light theme is dark")
	}
}
