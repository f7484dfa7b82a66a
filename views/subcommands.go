package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Subcommand is a command of the program that the palette finds: what it does has no screen, or is wanted as text.
type Subcommand struct {
	Line  string // "trtui lint"
	Doc   string
	Words []string                                     // by which people look for it
	Call  func(file string, s *report.Snapshot) string // what stands behind Line to call it on a file, "" for none, and what is shown of it
}

// entries are what the palette has of subcommands: each says how it is called on what is shown, and copies that.
func entries(list []Subcommand, shown func() *report.Snapshot) []ui.Entry {
	var out []ui.Entry
	for _, c := range list {
		out = append(out, ui.Entry{Text: c.Line + ": " + c.Doc, Where: "shell", Words: c.Words, Run: func() tea.Msg {
			line, file, s := c.Line, "", shown()
			switch {
			case s.Replay != "":
				file = s.Replay
			case s.Model != nil && s.Model.Path != "embedded":
				file = s.Model.Path
			}
			if call := c.Call(file, s); call != "" {
				line += " " + call
			}
			return tea.BatchMsg{tea.SetClipboard(line), pane.Say(ui.Good, "copied, for a shell: "+line)}
		}})
	}
	return out
}
