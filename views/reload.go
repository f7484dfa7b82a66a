package views

import "github.com/trtui/trtui/ui"

// reload opens the model anew, with the configuration as it is.
const reload ui.Intent = "reload"

// reloadKeys open a model anew whose files changed.
func reloadKeys() []ui.IntentKey {
	return []ui.IntentKey{{Intent: reload, Key: ui.K("ctrl+o", "reload", "open the model anew: its file changed on disk")}}
}
