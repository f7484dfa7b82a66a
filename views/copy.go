package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
)

// copyRow copies the row under the cursor; a layer is named in full.
func copyRow(app *ui.App) tea.Cmd {
	text := app.RowText()
	if text == "" {
		return say(ui.Warn, "no row under the cursor here")
	}
	if l, ok := layerAt(app.Focused()); ok {
		if rest, named := strings.CutPrefix(text, shortName(l.name)); named {
			text = l.name + rest
		}
	}
	return tea.Batch(tea.SetClipboard(text), say(ui.Good, "row copied: "+strings.ReplaceAll(text, "\t", "  ")))
}

// copyPane copies the text of the pane that has the focus.
func copyPane(app *ui.App) tea.Cmd {
	text := app.PaneText()
	return tea.Batch(tea.SetClipboard(text), say(ui.Good, plural(strings.Count(text, "\n")+1, "line")+" copied: "+app.Focused().Title()))
}
