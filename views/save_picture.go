package views

import (
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// savePicture has what the terminal shows written to a file of that form.
func savePicture(app *ui.App, form ui.PictureForm, save func(extension string, data []byte) (string, error)) tea.Cmd {
	picture := app.Picture()
	return func() tea.Msg {
		data, err := form.Draw(picture)
		var path string
		if err == nil {
			path, err = save(form.Name, data)
		}
		if err != nil {
			return pane.FailedTo("save the screen", err)
		}
		return ui.StatusMsg{Text: "screen saved: " + path, Style: ui.Good, Shorter: []string{"screen saved: " + filepath.Base(path)}}
	}
}

// pictureMsg asks for what the terminal shows in a form.
type pictureMsg struct{ form ui.PictureForm }

// pictureEntries are what the palette has for the forms that no key is for.
func pictureEntries() (list []ui.Entry) {
	for _, f := range ui.PictureForms()[1:] {
		list = append(list, ui.Entry{Text: "save the screen as " + f.Doc + " in the folder trtui was started in", Where: "workbench",
			Words: []string{"picture", "screenshot", "export", f.Name}, Run: func() tea.Msg { return pictureMsg{f} }})
	}
	return list
}
