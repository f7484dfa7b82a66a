package views

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// reason is what an error says without the name of a file, where it knows to say so.
func reason(err error) string {
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		return r.Reason()
	}
	return err.Error()
}

// unrecorded says that a recording ended by itself; where there is little room, why alone.
func unrecorded(why string) ui.StatusMsg {
	first, _, _ := strings.Cut(why, ";")
	_, kept, _ := strings.Cut(why, "; ")
	first, _, _ = strings.Cut(first, ": ")
	return ui.StatusMsg{Text: "recording ended: " + why, Shorter: []string{"recording ended: " + first + "; " + kept, "recording ended: " + first}, Style: ui.Bad}
}

// lost is why the recording ended by itself, until that is dismissed or another one begins; "" where it did not.
type lost string

// follow says that the recording ended by itself. It does not wait until what was said before has been read: that may be that it
// goes on.
func (l *lost) follow(before, now *report.Snapshot) tea.Cmd {
	if now.Unrecorded == before.Unrecorded {
		return nil
	}
	if *l = lost(now.Unrecorded); *l == "" {
		return nil
	}
	return func() tea.Msg { return unrecorded(now.Unrecorded) }
}
