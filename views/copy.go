package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// copyRow copies the row under the cursor; a layer is named in full.
func copyRow(app *ui.App) tea.Cmd {
	text := app.RowText()
	if text == "" {
		return pane.Say(ui.Warn, "no row under the cursor here")
	}
	if l, ok := pane.LayerAt(app.Focused()); ok {
		if rest, named := strings.CutPrefix(text, words.ShortName(l.Name)); named {
			text = l.Name + rest
		}
	}
	return tea.Batch(tea.SetClipboard(text), pane.Say(ui.Good, "row copied: "+strings.ReplaceAll(text, "\t", "  ")))
}

// copyPane copies the text of the pane that has the focus.
func copyPane(app *ui.App) tea.Cmd {
	text := app.PaneText()
	return tea.Batch(tea.SetClipboard(text), pane.Say(ui.Good, words.Plural(strings.Count(text, "\n")+1, "line")+" copied: "+app.Focused().Title()))
}
