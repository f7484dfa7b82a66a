package ui

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The measures of a cell in a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
)

// SVG draws what a terminal shows: lines of text with the escape sequences of a [Canvas]. Each run of cells of one style is a text of
// that length, so that the columns stay where they are whatever the font; where there are several spaces it is cut, since not all
// that draw SVG keep those.
func SVG(content string, t *Theme) string {
	ground, ink := "#16181d", "#d8dee9"
	if t.light {
		ground, ink = "#ffffff", "#1f2328"
	}
	lines := strings.Split(content, "\n")
	cells := 0
	for _, l := range lines {
		cells = max(cells, ansi.StringWidth(l))
	}
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
			for _, p := range r.parts() {
				fmt.Fprintf(&texts, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
					8+float64(p.column)*cellWidth, 8+float64(y)*cellHeight+13.5, float64(p.width)*cellWidth, fg, attrs, html.EscapeString(p.text))
			}
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="14" xml:space="preserve">
<rect width="100%%" height="100%%" rx="6" fill="%s"/>
%s
%s</svg>
`, w, h, w, h, ground, grounds.String(), texts.String())
}

// textStyle is how cells look.
type textStyle struct {
	fg, bg                   string // "" for the terminal's own
	bold, underline, reverse bool
}

// colours returns those of text and ground.
func (s textStyle) colours(ink, ground string) (fg, bg string) {
	fg, bg = ink, ground
	if s.fg != "" {
		fg = s.fg
	}
	if s.bg != "" {
		bg = s.bg
	}
	if s.reverse {
		fg, bg = bg, fg
	}
	return fg, bg
}

// styledRun is cells side by side that look the same.
type styledRun struct {
	column, width int
	text          string
	style         textStyle
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

// styledRuns reads a line.
func styledRuns(line string) (runs []styledRun) {
	var style textStyle
	column := 0
	for line != "" {
		next := strings.IndexByte(line, 0x1b)
		if next < 0 {
			next = len(line)
		}
		if text := line[:next]; text != "" {
			w := ansi.StringWidth(text)
			runs = append(runs, styledRun{column, w, text, style})
			column += w
		}
		if line = line[next:]; line == "" {
			break
		}
		end := strings.IndexByte(line, 'm')
		if !strings.HasPrefix(line, "\x1b[") || end < 0 {
			line = line[1:]
			continue
		}
		style.apply(strings.FieldsFunc(line[2:end], func(r rune) bool { return r == ';' || r == ':' }))
		line = line[end+1:]
	}
	return runs
}

// apply follows the parameters of a sequence that selects how text looks; none are a reset.
func (s *textStyle) apply(params []string) {
	if len(params) == 0 {
		*s = textStyle{}
	}
	for i := 0; i < len(params); i++ {
		switch params[i] {
		case "", "0":
			*s = textStyle{}
		case "1":
			s.bold = true
		case "4":
			s.underline = true
		case "7":
			s.reverse = true
		case "38", "48":
			if i+4 >= len(params) || params[i+1] != "2" { // of what is drawn all colours are of three numbers
				return
			}
			colour := "#"
			for _, p := range params[i+2 : i+5] {
				n, err := strconv.Atoi(p)
				if err != nil || n < 0 || n > 255 {
					return
				}
				colour += fmt.Sprintf("%02x", n)
			}
			if params[i] == "38" {
				s.fg = colour
			} else {
				s.bg = colour
			}
			i += 4
		}
	}
}
