package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// changedOnDisk tells once that the model is not any more what was read, and which key opens it anew.
func (w *workbench) changedOnDisk(before, now *report.Snapshot) tea.Cmd {
	if w.o.Reload == nil || now.Changed == "" || before.Changed != "" {
		return nil
	}
	return news(ui.Warn, now.Changed+" changed on disk: ctrl+o opens it anew", "the model changed on disk: ctrl+o opens it anew", "ctrl+o opens the changed model")
}
