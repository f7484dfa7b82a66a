package recordings

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane"
)

// Shelf is what a workbench can show besides what it shows.
type Shelf struct {
	Folder     Folder // nil: none
	Live       *Live  // nil: no session is behind this one
	Open       func(path string) tea.Cmd
	Read       func(path, state string) (*report.Snapshot, error)
	Marked     pane.Marked
	Recordable bool // what is shown can be recorded
	// After gives a message after a time; nil: the folder is looked at once.
	After func(time.Duration, tea.Msg) tea.Cmd
}
