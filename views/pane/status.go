package pane

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
)

// Say answers a key.
func Say(s ui.Style, text string) tea.Cmd {
	line, _, _ := strings.Cut(text, "\n") // the log has the others
	return func() tea.Msg { return ui.StatusMsg{Text: line, Style: s} }
}

// FailedTo says that something failed, and where there is little room why alone, without the files that the error names.
func FailedTo(what string, err error) ui.StatusMsg {
	why := err
	for next := errors.Unwrap(why); next != nil; next = errors.Unwrap(why) {
		why = next
	}
	return ui.StatusMsg{Text: what + ": " + err.Error(), Shorter: []string{what + ": " + why.Error()}, Style: ui.Bad}
}

// News says what has come about, or shorter what follows.
func News(s ui.Style, text string, shorter ...string) tea.Cmd {
	line, _, _ := strings.Cut(text, "\n")
	return func() tea.Msg { return ui.StatusMsg{Text: line, Shorter: shorter, Style: s, News: true} }
}
