package views

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// rewritten is what has become of a model that can be opened anew.
const rewritten = "changed on disk"

// changedOnDisk tells that the model is not any more what was read, and which key opens it anew.
func (w *workbench) changedOnDisk(before, now *report.Snapshot) tea.Cmd {
	if w.o.Reload == nil || now.Changed == "" || before.ChangedHow == now.ChangedHow {
		return nil
	}
	next := w.o.Look.Keys(": {ctrl+o} opens it anew")
	if now.ChangedHow != rewritten {
		next = "; what is shown was read before"
	}
	return pane.News(ui.Warn, now.Changed+" "+now.ChangedHow+next, filepath.Base(now.Changed)+" "+now.ChangedHow+next, "the model "+now.ChangedHow+next)
}
