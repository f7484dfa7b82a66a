package memory

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows how the arena is shared out over the steps of the plan.
func Screen(look *ui.Look) *ui.Screen {
	m := &mapView{in: pane.NewInput(look, report.PartMemory)}
	views := []ui.View{m, newLiveView(m), newSlotsView(m), &footprintDetail{in: pane.NewInput(look, report.PartMemory)}}
	p := ui.Pane
	return &ui.Screen{
		Key: "4", Name: "Memory", Words: []string{"arena", "ram", "peak", "planner", "allocation", "bytes"}, Short: "Mem", Views: views,
		Layouts: []ui.Box{
			ui.Stack(ui.Beside(p(0).Share(3), ui.Stack(p(3).Lines(8), p(1)).Share(2)).Share(3), p(2).Share(2)),
			ui.Stack(p(0).Share(2), p(1)),
		},
		Medium: pane.Box(ui.Stack(ui.Beside(p(0).Share(3), p(1).Share(2)).Share(3), ui.Beside(p(2).Share(3), p(3).Share(2)).Share(2))),
		Narrow: pane.Box(ui.Stack(p(0).Share(3), p(1).Share(2))),
	}
}
