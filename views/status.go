package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
)

// say answers a key.
func say(s ui.Style, text string) tea.Cmd {
	line, _, _ := strings.Cut(text, "\n") // the log has the others
	return func() tea.Msg { return ui.StatusMsg{Text: line, Style: s} }
}

// news says what has come about, or shorter what follows.
func news(s ui.Style, text string, shorter ...string) tea.Cmd {
	line, _, _ := strings.Cut(text, "\n")
	return func() tea.Msg { return ui.StatusMsg{Text: line, Shorter: shorter, Style: s, News: true} }
}
