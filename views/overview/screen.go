package overview

import (
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/trials"
)

// Screen sums the engine up: how fast, where the time goes, what became of the layers, what it needs and how
// well it predicts; and how the configurations tried so far compare.
func Screen(look *ui.Look, d pane.Desk, tried *trials.List, read trials.Reader, marked pane.Marked, more trials.Measure) *ui.Screen {
	all := report.PartOverview | report.PartTimings
	views := []ui.View{
		&summaryView{in: pane.NewInput(look, all), beside: tried.BesideOthers},
		&slowestView{in: pane.NewInput(look, all)},
		&compositionView{in: pane.NewInput(look, report.PartOverview|report.PartPasses)},
		&footprintView{in: pane.NewInput(look, report.PartMemory)},
		trials.NewTable(look, d, tried, read, marked, more),
		&latencyView{in: pane.NewInput(look, report.PartTimings)},
	}
	const summary, slowest, composition, footprint, configurations, latency = 0, 1, 2, 3, 4, 5
	p := ui.Pane
	return &ui.Screen{
		Key: "1", Name: "Overview", Words: []string{"summary", "home", "latency", "throughput"}, Short: "Over", Views: views,
		Layouts: []ui.Box{
			ui.Beside(
				ui.Stack(p(summary).Share(3), p(composition).Lines(8), p(footprint).Lines(7), p(configurations).Share(2)),
				ui.Stack(p(slowest).Share(3), p(latency).Share(2))),
			ui.Beside(
				ui.Stack(p(summary), p(configurations)),
				ui.Stack(p(slowest).Share(2), p(latency))),
		},
		Medium: pane.Box(ui.Stack(
			ui.Beside(p(summary), p(slowest)),
			ui.Beside(p(composition), p(footprint)).Lines(7),
			p(configurations).Lines(8))),
		Narrow: pane.Box(ui.Stack(
			ui.Beside(p(summary), p(slowest)).Share(1),
			ui.Beside(p(composition), p(footprint)).Lines(6),
			p(configurations).Lines(5))),
	}
}
