package timings

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestLanes draws a fork in every room that there may be, and names the lanes that there is none for.
func TestLanes(t *testing.T) {
	snap := panetest.Fixture(t)
	timings := *snap.Timings
	snap.Timings = &timings
	fork := report.Fork{InTurn: 30 * time.Microsecond, Beside: 20 * time.Microsecond, Gain: 1. / 3, Predicted: 0.4}
	timings.Layers = append([]report.LayerTiming(nil), timings.Layers...)
	for k := range 3 {
		timings.Layers[k].Fork, timings.Layers[k].Lane = 1, k+1
		fork.Lanes = append(fork.Lanes, []report.LaneStep{{Step: timings.Layers[k].Name, Median: time.Duration(10+5*k) * time.Microsecond}})
	}
	timings.Forks = []report.Fork{fork}
	look := ui.NewLook(ui.Options{})
	v := newTimingsView(look, &panetest.Desk{}, func(*report.Snapshot) time.Duration { return 0 })
	s := &samplesView{in: pane.NewInput(look, report.PartTimings), of: v}
	for range 3 {
		v.plot++
	}
	v.Update(snap)
	s.Update(snap)
	if text := s.Render(100, 6); !strings.Contains(text, "fork 1 of 1: 3 steps in 3 lanes") || !strings.Contains(text, "33.3%") && !strings.Contains(text, "33%") || strings.Count(text, "\n") < 3 {
		t.Errorf("drawn as\n%s", text)
	}
	if text := s.Render(60, 3); !strings.Contains(text, "and 2 lanes more") {
		t.Errorf("drawn as\n%s", text)
	}
	for w := range 30 {
		for h := range 5 {
			s.Render(w, h)
			v.Render(w, h)
		}
	}
	if text := v.Render(200, 20); !strings.Contains(text, "1.3") || !strings.Contains(text, "lane") {
		t.Errorf("the table is\n%s", text)
	}
	timings.Gap = -time.Microsecond
	for i := range timings.Forks {
		timings.Forks[i].InTurn, timings.Forks[i].Beside = time.Microsecond, 3*time.Microsecond
	}
	v.Update(snap)
	if text := v.Render(200, 20); !strings.Contains(text, "side by side "+ui.Duration(2*time.Microsecond*time.Duration(len(timings.Forks)))+" lost") {
		t.Errorf("forks that cost are\n%s", text)
	}
	timings.Forks = nil
	s.Update(snap)
	if text := s.Render(100, 6); !strings.Contains(text, "no steps run side by side") {
		t.Errorf("without forks\n%s", text)
	}
}
