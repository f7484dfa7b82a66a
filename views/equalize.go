package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
)

// equalizeKey is the key that equalises channels.
func equalizeKey(d desk) ui.Key {
	return when(d, needsQuantization, ui.K("E", "equalise", "equalise channels, by the way that helps the layer under the cursor; again: not. u undoes"))
}

// equalize equalises the channels of all tensors, by the way that helps a layer, or takes that back.
func equalize(d desk, way string) tea.Cmd {
	if d.Want().Quantization.Full().Equalization != "off" {
		way = "off"
	}
	cmd := d.Change(func(c *config.Config) {
		c.Quantization.Equalization = way
		c.Quantization = c.Quantization.Effective()
	})
	return tea.Batch(cmd, say(ui.Plain, "equalization: "+way+"; u undoes"))
}
