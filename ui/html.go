package ui

import (
	"fmt"
	"html"
	"strings"
)

// HTML writes the picture as a page of text, which can be searched and copied from, and needs nothing else. What is not ASCII stands
// in a box as wide as its cells, so that the columns stay where they are whatever the font.
func (p Picture) HTML() ([]byte, error) {
	ground, ink := p.Theme.sheet()
	var b strings.Builder
	lines, _ := p.lines()
	for _, line := range lines {
		for _, r := range styledRuns(line) {
			style := ""
			fg, bg := r.style.colours(ink, ground)
			if fg != ink {
				style += "color:" + fg + ";"
			}
			if bg != ground {
				style += "background:" + bg + ";"
			}
			if r.style.bold {
				style += "font-weight:bold;"
			}
			if r.style.underline {
				style += "text-decoration:underline;"
			}
			if strings.ContainsFunc(r.text, func(c rune) bool { return c > 0x7e }) {
				style += fmt.Sprintf("width:%dch;", r.width)
			}
			if style == "" {
				b.WriteString(html.EscapeString(r.text))
				continue
			}
			fmt.Fprintf(&b, `<span style="%s">%s</span>`, strings.TrimSuffix(style, ";"), html.EscapeString(r.text))
		}
		b.WriteByte('\n')
	}
	return fmt.Appendf(nil, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title>
<style>body{margin:0;background:%s;color:%s}pre{margin:8px;font:14px/18px 'DejaVu Sans Mono',Menlo,Consolas,monospace}span{display:inline-block;height:18px;white-space:pre;vertical-align:top}</style></head>
<body><pre>
%s</pre></body></html>
`, html.EscapeString(p.Title), ground, ink, b.String()), nil
}
