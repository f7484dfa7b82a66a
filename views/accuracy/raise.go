package accuracy

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// raiseKey is there where a list of layers to raise is, or where raising those that read a layer's output helps it.
func raiseKey(d pane.Desk) ui.Key {
	return pane.When(d, pane.NeedsChoice, ui.K("A", "raise", "raise the layers of the list, or those that read what one channel widens; undo takes it back"))
}

// raised returns the layers whose raising helps a row of the layers, nil where there are none.
func raised(s *report.Snapshot, row int) []string {
	if s.Accuracy == nil || row < 0 || row >= len(s.Accuracy.Layers) {
		return nil
	}
	if why := s.Accuracy.Layers[row].Cause; why != nil && why.Reach != nil && why.Reach.Cure != nil {
		return why.Reach.Cure.Raise
	}
	return nil
}

// raisedGain says what raising layers together was found to win; nothing where that is not known.
func raisedGain(snap *report.Snapshot, names []string) string {
	s := snap.Sensitivity
	if s == nil || s.To != string(config.FP32) || !s.Config.SameEngine(snap.Config, pane.OwnRanges(snap)) {
		return ""
	}
	for i := range s.Layers {
		if slices.Equal(s.Layers[i].Layers, names) {
			return fmt.Sprintf(": %+.1f dB expected", s.Layers[i].Gain)
		}
	}
	return ""
}

// raise has layers in FP32.
func raise(look *ui.Look, d pane.Desk, names []string) tea.Cmd {
	cmd := d.Change(func(c *config.Config) {
		for _, name := range names {
			c.SetLayerPrecision(name, config.FP32)
		}
	})
	return tea.Batch(cmd, pane.Say(ui.Plain, words.ShortNames(names)+" in fp32"+look.Keys("; {u} undoes")))
}
