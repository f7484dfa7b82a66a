package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// The pages of screen 9, in order.
const (
	CompareKey     = "9"
	RecordingsPage = 1
	TriedPage      = 2
	ComparePage    = 3
	MatrixPage     = 4 // where more than two are compared
)

// GraphKey is the digit of the screen of the networks.
const GraphKey = "2"

// ShowLayerMsg asks the graph to put the cursor on a layer of either network.
type ShowLayerMsg struct{ Layer string }

// ShowLayer returns a command that goes to a layer on the graph.
func ShowLayer(layer string) tea.Cmd {
	return func() tea.Msg { return ShowLayerMsg{layer} }
}

// GraphLayer returns the layer of that name of the engine, or else of the source.
func GraphLayer(s *report.Snapshot, name string) LayerRef {
	if s.Passes != nil {
		for _, side := range [][]report.Layer{s.Passes.Engine, s.Passes.Source} {
			for i := range side {
				if side[i].Name == name {
					return RefOf(&side[i])
				}
			}
		}
	}
	return StepRef(name)
}

// LayerAt returns the layer under the cursor of a pane.
func LayerAt(v ui.View) (LayerRef, bool) {
	if p, ok := v.(pointing); ok {
		return p.Layer()
	}
	return LayerRef{}, false
}
