package timings

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// Screen shows the time of every layer, live while it is measured, or beside that in other precisions, which measure has measured;
// the samples of the layer under the cursor, of a language model how it writes, and what conversions between types and formats cost.
// beside tells the latency in rounds with other configurations where that is not the one shown, and otherwise 0. In a replay read
// reads for a [ColumnsMsg] what measure would measure; it is nil in a session. hint says which command helps.
func Screen(look *ui.Look, d pane.Desk, beside func(*report.Snapshot) time.Duration, measure, read func() tea.Cmd, hint func(pane.Fact) string) *ui.Screen {
	v := newTimingsView(look, d, beside)
	p := ui.Pane
	samples := &samplesView{in: pane.NewInput(look, report.PartTimings), of: v, hint: hint}
	return &ui.Screen{
		Key: "3", Name: "Timings", Words: []string{"slow", "slowest", "bottleneck", "layers", "time", "profile", "roofline", "bench", "trace"}, Short: "Time", Views: []ui.View{&layersPane{times: v, columns: newColumnsView(look), measure: measure, read: read}, samples, newGenerationView(look), newTransitionsView(look)},
		Layouts: []ui.Box{ui.Stack(p(0).Share(3), p(1).LinesOf(samples.lines(13))), ui.Beside(p(0).Share(2), p(1)), ui.Stack(p(2).Share(3), p(0).Share(2)), ui.Stack(p(3).Share(3), p(0).Share(2))},
		Narrow:  pane.Box(ui.Stack(p(0).Share(3), p(1).LinesOf(samples.lines(7)))),
	}
}
