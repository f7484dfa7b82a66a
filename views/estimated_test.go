package views

import (
	"testing"

	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/ui"
)

// estimated returns the fixture as a device without measurements would give it.
func estimated(t *testing.T) *sessions.Snapshot {
	t.Helper()
	snap := fixture(t)
	snap.Device.Backend, snap.Device.Estimated = "sim", true
	snap.Timings.Estimated = true
	for i := range snap.Tactics.Layers {
		for k := range snap.Tactics.Layers[i].Candidates {
			snap.Tactics.Layers[i].Candidates[k].Timed = false
		}
	}
	return snap
}

// Every pane with times says that they are estimates.
func TestEstimatedTimesAreLabelled(t *testing.T) {
	b := newBench(t, ui.Options{}, estimated(t))
	b.size(200, 60)
	for _, c := range []struct {
		screen string
		want   []string
	}{
		{"1", []string{"estimated by the cost model", "Slowest layers", "estimated"}},
		{"3", []string{"estimated"}},
		{"7", []string{"untimed", "~"}},
	} {
		b.press(c.screen)
		b.wants(c.want...)
	}
}
