package views

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// savePicture has what the terminal shows written to a file.
func savePicture(app *ui.App, save func(svg string) (string, error)) tea.Cmd {
	svg := app.Picture()
	return func() tea.Msg {
		path, err := save(svg)
		if err != nil {
			return pane.FailedTo("save the screen", err)
		}
		return ui.StatusMsg{Text: "screen saved: " + path, Style: ui.Good, Shorter: []string{"screen saved: " + filepath.Base(path)}}
	}
}
