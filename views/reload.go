package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// reload opens the model anew, with the configuration as it is.
const reload ui.Intent = "reload"

// reloadKeys open a model anew whose files changed.
func reloadKeys() []ui.IntentKey {
	return []ui.IntentKey{{Intent: reload, Key: ui.K("ctrl+o", "reload", "open the model anew: its file changed on disk")}}
}

// changedOnDisk tells once that the model is not any more what was read, and which key opens it anew.
func (w *workbench) changedOnDisk(before, now *report.Snapshot) tea.Cmd {
	if w.o.Reload == nil || now.Changed == "" || before.Changed != "" {
		return nil
	}
	return news(ui.Warn, now.Changed+" changed on disk: ctrl+o opens it anew", "the model changed on disk: ctrl+o opens it anew", "ctrl+o opens the changed model")
}
