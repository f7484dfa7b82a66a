package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Subcommand is a command of the program that the palette finds: what it does has no screen, or is wanted as text.
type Subcommand struct {
	Line  string // "trtui lint"
	Doc   string
	Words []string // by which people look for it
	// Call is what stands behind Line to call it on a file, "" for none, and on what is shown of it; lost is what of the configuration
	// it does not say.
	Call func(file string, s *report.Snapshot) (call string, lost []string)
}

// entries are what the palette has of subcommands: each says how it is called on what is shown, and copies that.
func entries(list []Subcommand, shown func() *report.Snapshot, keys func(string) string) []ui.Entry {
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
			call, lost := c.Call(file, s)
			if call != "" {
				line += " " + call
			}
			say := pane.Say(ui.Good, "copied, for a shell: "+line)
			if len(lost) > 0 {
				say = pane.Say(ui.Warn, keys("copied, but no flag says "+strings.Join(lost, ", ")+", which the file that {W} saves does: ")+line)
			}
			return tea.BatchMsg{tea.SetClipboard(line), say}
		}})
	}
	return out
}
