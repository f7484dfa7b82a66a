package accuracy

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// equalizeKey is the key that equalises channels.
func equalizeKey(d pane.Desk) ui.Key {
	return pane.When(d, pane.NeedsQuantization, ui.K("E", "equalise", "equalise channels, by the way that helps the layer under the cursor; again: as by default"))
}

// equalize equalises the channels of all tensors, by the way that helps a layer, or as by default where that is so already.
func equalize(look *ui.Look, d pane.Desk, way string) tea.Cmd {
	if d.Want().Quantization.Full().Equalization == way {
		way = config.DefaultQuantization().Equalization
	}
	cmd := d.Change(func(c *config.Config) {
		c.Quantization.Equalization = way
		c.Quantization = c.Quantization.Effective()
	})
	return tea.Batch(cmd, pane.Say(ui.Plain, "equalization: "+way+look.Keys("; {u} undoes")))
}
