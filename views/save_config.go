package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
)

// saveConfig writes the configuration that is asked for to a file and says where that is.
func (d *desk) saveConfig() tea.Cmd {
	cfg, label := cloneConfig(d.want), d.want.Label(ownRanges(d.snap))
	return func() tea.Msg {
		path, err := d.SaveConfig(cfg)
		if err != nil {
			return ui.StatusMsg{Text: "save the configuration: " + err.Error(), Style: ui.Bad}
		}
		return ui.StatusMsg{Text: label + " saved: build it with --config " + path, Style: ui.Good}
	}
}
