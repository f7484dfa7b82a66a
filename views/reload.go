package views

import "github.com/trtui/trtui/ui"

// reload opens the model anew, with the configuration as it is.
const reload ui.Intent = "reload"

// requantise opens the model anew, with the quantisation that it brings dropped, or as it brings it where that was dropped.
const requantise ui.Intent = "requantise"

// requantiseKeys do that for a model that brings one.
func requantiseKeys() []ui.IntentKey {
	return []ui.IntentKey{{Intent: requantise, Key: ui.K("ctrl+t", "requantise", "drop the quantisation that the model brings and quantise it here / leave it again")}}
}

// reloadKeys open a model anew whose files changed.
func reloadKeys() []ui.IntentKey {
	return []ui.IntentKey{{Intent: reload, Key: ui.K("ctrl+o", "reload", "open the model anew: its file changed on disk")}}
}
