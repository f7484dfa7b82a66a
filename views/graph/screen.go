package graph

import (
	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows the source network beside the engine's, linked layer by layer; the passes that led from one to the
// other, or what each of their rules is worth, which ablate has measured; and what is known about the layer or pass under the cursor.
func Screen(look *ui.Look, d pane.Desk, ablate func() tea.Cmd) *ui.Screen {
	g := newGraphs(look, d)
	p := ui.Pane
	return &ui.Screen{
		Key: pane.GraphKey, Name: "Graph", Words: []string{"fuse", "fused", "fusion", "fusions", "unfused", "why", "not", "rejected", "missed", "passes", "pass", "onnx", "rules", "network", "nodes"}, Views: []ui.View{newNetworkView(g, sourceSide), newNetworkView(g, engineSide), newPassesView(g, ablate), newDetailView(g)},
		Layouts: []ui.Box{
			ui.Stack(ui.Beside(p(0), p(1)).Share(3), ui.Beside(p(2), p(3)).Share(2)),
			ui.Beside(p(0), p(1), p(3)),
			ui.Beside(p(2).Share(2), ui.Stack(p(1), p(3)).Share(3)),
		},
		Linked: []int{sourceSide, engineSide},
		Narrow: pane.Box(ui.Stack(ui.Beside(p(0), p(1)).Share(3), p(3).Share(2))),
	}
}
