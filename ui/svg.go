package ui

import (
	"fmt"
	"html"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The measures of a cell in an SVG, in its units.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
)

// SVG draws the picture as shapes. Each run of cells of one style is a text of that length, so that the columns stay where they are
// whatever the font; where there are several spaces it is cut, since not all that draw SVG keep those.
func (p Picture) SVG() ([]byte, error) {
	ground, ink := p.Theme.sheet()
	lines, cells := p.lines()
	w, h := float64(cells)*cellWidth+16, float64(len(lines))*cellHeight+16
	var grounds, texts strings.Builder
	for y, line := range lines {
		for _, r := range styledRuns(line) {
			x := 8 + float64(r.column)*cellWidth
			fg, bg := r.style.colours(ink, ground)
			if bg != ground {
				fmt.Fprintf(&grounds, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.0f" fill="%s"/>`, x, 8+float64(y)*cellHeight, float64(r.width)*cellWidth, cellHeight, bg)
			}
			attrs := ""
			if r.style.bold {
				attrs += ` font-weight="bold"`
			}
			if r.style.underline {
				attrs += ` text-decoration="underline"`
			}
			for _, part := range r.parts() {
				fmt.Fprintf(&texts, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
					8+float64(part.column)*cellWidth, 8+float64(y)*cellHeight+13.5, float64(part.width)*cellWidth, fg, attrs, html.EscapeString(part.text))
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="14" xml:space="preserve">
<rect width="100%%" height="100%%" rx="6" fill="%s"/>
%s
%s</svg>
`, w, h, w, h, ground, grounds.String(), texts.String()), nil
}

// parts cuts a run at several spaces, and leaves out those at its ends, unless they are to be seen.
func (r styledRun) parts() (list []styledRun) {
	if r.style.underline {
		return []styledRun{r}
	}
	column := r.column
	for text := r.text; text != ""; {
		inner := strings.TrimLeft(text, " ")
		column += len(text) - len(inner)
		part, rest, _ := strings.Cut(inner, "  ")
		if part = strings.TrimRight(part, " "); part != "" {
			list = append(list, styledRun{column, ansi.StringWidth(part), part, r.style})
		}
		column += ansi.StringWidth(inner) - ansi.StringWidth(rest)
		text = rest
	}
	return list
}
