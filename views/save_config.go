package views

import (
	"cmp"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// saveConfig writes the configuration that is asked for to a file and says, also in the log, where that is and what it
// takes the place of.
func (w *workbench) saveConfig() tea.Cmd {
	cfg, label := w.config.want.Clone(), w.config.want.Label(pane.OwnRanges(w.snap))
	return func() tea.Msg {
		path, what, err := w.saves.write(w.o.SaveConfig, cfg, label)
		if err != nil {
			return pane.FailedTo("save the configuration", err)
		}
		w.ctl.Note(what + ": " + path)
		return ui.StatusMsg{Text: what + ": " + cmp.Or(w.o.hint(pane.ConfigSaved{Path: path}), path), Style: ui.Good,
			Shorter: []string{what + ": " + path, what + ": " + filepath.Base(path)}}
	}
}
