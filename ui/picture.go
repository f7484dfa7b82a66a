package ui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Picture is what a terminal shows, to be drawn outside of one.
type Picture struct {
	Content string // lines of text with the escape sequences of a [Canvas]
	Theme   *Theme
	Title   string // of the window
}

// PictureForm is a kind of file that a picture is drawn as.
type PictureForm struct {
	Name string // also the extension of its files, without the dot
	Doc  string
	Draw func(Picture) ([]byte, error)
}

// PictureForms are all there are, the usual one first.
func PictureForms() []PictureForm {
	return []PictureForm{
		{"svg", "an SVG", Picture.SVG},
		{"png", "a PNG", Picture.PNG},
		{"html", "an HTML page", Picture.HTML},
	}
}

// Picture returns the whole terminal.
func (a *App) Picture() Picture {
	return Picture{Content: a.Content(), Theme: a.look.Theme, Title: a.title()}
}

// lines returns the lines of a picture, and how many cells the longest has.
func (p Picture) lines() (lines []string, cells int) {
	lines = strings.Split(p.Content, "\n")
	for _, l := range lines {
		cells = max(cells, ansi.StringWidth(l))
	}
	return lines, cells
}

// sheet returns the colours of a terminal that a theme is for: of its ground, and of text that has no other.
func (t *Theme) sheet() (ground, ink string) {
	if t.light {
		return "#ffffff", "#1f2328"
	}
	return "#16181d", "#d8dee9"
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
