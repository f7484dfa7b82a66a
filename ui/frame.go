package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"
)

// View implements tea.Model.
func (a *App) View() tea.View {
	v := tea.NewView(a.pacer.picture(a.Content, a.now))
	v.AltScreen = true
	if !a.noMouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = a.title()
	return v
}

// title is that of the window.
func (a *App) title() string {
	if a.header.Model == "" {
		return "trtui"
	}
	return "trtui " + printable(a.header.Model)
}

// Content returns the picture of the whole terminal: as many lines as it has,
// each exactly as wide.
func (a *App) Content() string {
	if a.frame == "" && a.w > 0 && a.h > 0 {
		a.frame = a.compose()
	}
	return a.frame
}

// PaneText returns what the focused pane shows, as text.
func (a *App) PaneText() string {
	a.Content() // which draws it
	s := a.screen()
	if s.focus >= len(s.panes) {
		return ""
	}
	var lines []string
	for _, l := range s.panes[s.focus].lines {
		lines = append(lines, strings.TrimRight(ansi.Strip(l), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// RowText returns the text of the row under the cursor of the focused pane, "" where it has none.
func (a *App) RowText() string {
	a.Content() // which draws it
	if s := a.screen(); s.focus < len(s.panes) && s.panes[s.focus].row != nil {
		return s.panes[s.focus].row()
	}
	return ""
}

func (a *App) tooSmall() bool { return a.w < MinWidth || a.h < MinHeight }

func (a *App) compose() string {
	if a.tooSmall() {
		return a.look.Render(a.w, a.h, a.drawTooSmall)
	}
	head, foot := a.look.Canvas(a.w, headLines), a.look.Canvas(a.w, 1)
	foot.y = a.h - 1
	a.spots = a.look.spotted(func() {
		a.drawHeader(head)
		a.drawFooter(foot)
	})
	lines := make([]string, 0, a.h)
	lines = append(lines, head.Lines()...)
	body := a.screen().lines(a.look, a.w, a.h-chrome)
	if len(a.dialogs) > 0 {
		a.spots = append(a.spots, a.look.spotted(func() { body = a.overlay(body) })...)
	}
	lines = append(lines, body...)
	lines = append(lines, foot.Lines()...)
	return strings.Join(lines, "\n")
}

// overlay draws the dialogs over a greyed body.
func (a *App) overlay(body []string) []string {
	c := a.look.Canvas(a.w, len(body))
	c.y = headLines
	for y, line := range body {
		c.Text(0, y, Faint, ansi.Strip(line))
	}
	for _, d := range a.dialogs {
		drawDialog(c, d)
	}
	return c.Lines()
}

func (a *App) drawTooSmall(c *Canvas) {
	text := []string{
		"Terminal too small",
		fmt.Sprintf("is %dx%d", a.w, a.h),
		fmt.Sprintf("needs %dx%d", MinWidth, MinHeight),
		"q quits",
	}
	y := max((c.H-len(text))/2, 0)
	for i, line := range text {
		style := Plain
		if i == 0 {
			style = Bold
		}
		c.Fit(max((c.W-Width(line))/2, 0), y+i, c.W, style, line)
	}
}

// printable drops what must not reach a window title.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if glyphWidth(r) == 0 {
			return -1
		}
		return r
	}, s)
}
