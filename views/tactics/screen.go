package tactics

import (
	"time"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows every candidate of every layer with its time, or the reason why it cannot be, and the timing cache.
func Screen(look *ui.Look, d tacticsDesk, now func() time.Time) *ui.Screen {
	v := newChosenView(look, d)
	p := ui.Pane
	return &ui.Screen{
		Key: "7", Name: "Tactics", Words: []string{"kernels", "kernel", "candidates", "timing-cache", "cache", "builder", "tuning"}, Short: "Tact", Views: []ui.View{v, newCandidatesView(v), newCacheView(look, d, now)},
		Layouts: []ui.Box{
			ui.Beside(p(0).Share(12), ui.Stack(p(1).Share(3), p(2).Share(2)).Share(13)),
			ui.Stack(p(0), p(1), p(2)),
		},
		MediumTo: 159, // beside the layers there is no room for the reasons of candidates
		Medium:   pane.Box(ui.Stack(p(0).Share(3), p(1).Share(2), p(2).Lines(7))),
		Narrow:   pane.Box(ui.Stack(p(0).Share(3), p(1).Share(2), p(2).Lines(4))),
	}
}
