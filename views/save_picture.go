package views

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
)

// savePicture writes what the terminal shows to a file.
func (w *workbench) savePicture() tea.Cmd {
	svg := w.app.Picture()
	return func() tea.Msg {
		path, err := w.o.SavePicture(svg)
		if err != nil {
			return ui.StatusMsg{Text: "save the screen: " + err.Error(), Style: ui.Bad}
		}
		return ui.StatusMsg{Text: "screen saved: " + path, Style: ui.Good, Shorter: []string{"screen saved: " + filepath.Base(path)}}
	}
}
