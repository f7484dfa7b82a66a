package views

import (
	"fmt"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// writing returns a snapshot of a model that wrote a text, with the fixture's layers as those of both phases, but for one that
// single tokens do not have.
func writing(t *testing.T) *report.Snapshot {
	snap := panetest.Fixture(t)
	scaled := func(n, by int) (list []report.LayerTiming) {
		for _, l := range snap.Timings.Layers[:n] {
			l.Median *= time.Duration(by)
			list = append(list, l)
		}
		return list
	}
	n := len(snap.Timings.Layers)
	snap.Generation = &report.Generation{
		Prompt: "Once upon a time", Text: "Once upon a time, there was a little girl named Lily.\nShe loved to play outside in the park.", PromptTokens: 4,
		Tokens: make([]int, 24), Ended: "length", Cached: true, First: 4 * time.Millisecond, PerToken: panetest.Around(310*time.Microsecond, 23), Rate: 3210.4,
		Memory: &report.TokenMemory{Weights: 12 << 20, State: 96 << 10, Rate: 40.7e9, Peak: 85e9, Level: "DRAM"},
		Phases: []report.Phase{
			{Name: "prefill", Tokens: 16, Latency: panetest.Around(3*time.Millisecond, 50), Layers: scaled(n, 9)},
			{Name: "decode", Tokens: 1, Latency: panetest.Around(300*time.Microsecond, 50), Layers: scaled(n-1, 1)},
		},
	}
	return snap
}

// TestGeneration keeps the picture of a text and of its phases side by side.
func TestGeneration(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			b := newBench(t, ui.Options{NoColor: true}, writing(t))
			b.size(size[0], size[1])
			b.press("3", "+", "+", "tab", "tab")
			golden.RequireEqual(t, b.app.Content())
		})
	}
}

// The pane says how far a text is, why there is none, and that it is of another configuration.
func TestGenerationStates(t *testing.T) {
	snap := writing(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("3", "+", "+")
	b.wants("tokens/s", "first token after 4", "p50 310", "prefill: 16 tokens at once", "decode: 1 token at once", "little girl")
	publish := func(g *report.Generation, stale report.Parts) {
		next := *snap
		next.Seq++
		next.Generation, next.Stale = g, stale
		snap = &next
		b.publish(snap)
	}
	growing := *snap.Generation
	growing.Ended, growing.Phases = "", nil
	publish(&growing, 0)
	b.wants("LIVE 24 tokens", "little girl")
	publish(&growing, report.PartGeneration)
	b.wants("STALE")
	publish(&report.Generation{Refused: "a language model gets no ranges"}, 0)
	b.wants("no text in this configuration", "a language model gets no ranges")
	publish(nil, 0)
	b.wants("no text of a language model for this model")
}
