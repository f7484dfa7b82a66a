package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestRules switches a site off, and on again from where it is missing then.
func TestRules(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.press("2", "tab", "down", "x")
	b.wants("switch off here: ", "switch off everywhere: ")
	b.press("enter")
	off := b.last().Disable
	if len(off) != 1 || !strings.Contains(off[0], ":") {
		t.Fatalf("switched off %q", off)
	}
	b.press("x")
	b.wants("switch on  here: ")
	b.press("enter")
	if off := b.last().Disable; len(off) != 0 {
		t.Errorf("still off: %q", off)
	}
	if len(snap.Config.Disable) != 0 {
		t.Error("the snapshot's configuration was changed")
	}
}

// TestGraphFilter hides the layers that do not match, keeps the cursor on its layer and says how many are left.
func TestGraphFilter(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	b.size(120, 40)
	b.press("2", "down", "down", "down", "i", "/", "b", "l", "o", "c", "k", "1", "enter")
	b.wants("7 of 65 layers", "/block1", "└─ fused into", "▸▸ block1/first/conv/Conv")
	if strings.Contains(b.screen(), "▸ stem/act/Relu") {
		t.Errorf("a layer that does not match is shown:\n%s", b.screen())
	}
	b.press("esc")
	b.wants("65 layers", "stem/act/Relu", "▸├─▸   block1/first/conv/Conv")
}

// TestSwitchedOff shows on every pane of the graph what is switched off, and where.
func TestSwitchedOff(t *testing.T) {
	snap := panetest.Fixture(t)
	passes := *snap.Passes
	passes.Steps = slices.Clone(passes.Steps)
	name := passes.Source[2].Name
	passes.Steps[11].Missed = []report.MissedSite{{Rule: "fuse-activation", Site: "fuse-activation:" + name, Layers: []string{name}, Reason: "disabled", Detail: "this place is switched off"}}
	snap.Passes = &passes
	b := newBench(t, ui.Options{NoColor: true, ASCII: true}, snap)
	b.size(160, 50)
	b.press("2", "down", "down")
	b.wants("1 with a rule off", "off: fuse-activation", "= fuse-activation off "+name+", this place is switched off", passes.Steps[11].Pass+", 1 off")
}

// TestPrecisionChangesNothing says why, on the footer and for the layer under the cursor.
func TestPrecisionChangesNothing(t *testing.T) {
	const reason = "the layer computes in f16 already; INT8 is placed on f32"
	snap := panetest.Fixture(t)
	was := *snap
	was.Config.Precision = config.FP32
	b := newBench(t, ui.Options{}, &was)
	b.size(160, 50)
	b.press("f", "f")
	passes := *snap.Passes
	passes.Unchanged = "int8 changes nothing here: " + reason
	for _, l := range passes.Source {
		passes.Unlowered = append(passes.Unlowered, report.UnloweredLayer{Layer: l.Name, From: []string{l.Name}, Precision: "fp16", Reason: reason})
	}
	next := *snap
	next.Passes, next.Config = &passes, b.last()
	b.publish(&next)
	b.wants(passes.Unchanged)
	b.press("2")
	b.wants("not int8", "fp16: "+reason)
}

// TestBodies: the layers inside a layer are folded below it, and shown where a filter or a jump looks for them.
func TestBodies(t *testing.T) {
	snap := *panetest.Fixture(t)
	passes, timings := *snap.Passes, *snap.Timings
	layer := func(name, op, inside string, depth int) report.Layer {
		return report.Layer{Name: name, Op: op, Precision: "f32", From: []string{name}, Inside: inside, Body: "body", Depth: depth, Outputs: []report.Tensor{{Type: "f32", Dims: "[8]"}}}
	}
	layers := []report.Layer{layer("stem", "Conv", "", 0), layer("loop", "Loop", "", 0), layer("loop/body/tanh", "Tanh", "loop", 1),
		layer("loop/body/choice", "If", "loop", 1), layer("loop/body/choice/then/exp", "Exp", "loop/body/choice", 2), layer("head", "Gemm", "", 0)}
	passes.Source, passes.Engine, passes.Ledger, timings.Layers = layers, layers, nil, nil
	for _, l := range layers {
		passes.Ledger = append(passes.Ledger, report.LedgerEntry{Layer: l.Name, Op: l.Op, Fate: "kept", Into: l.Name})
	}
	timings.Layers = []report.LayerTiming{{Name: "loop", Latency: report.Latency{Median: 5 * time.Millisecond}, Inside: []report.InsideTiming{{Name: "loop/body/tanh", Runs: 4, Mean: 3 * time.Millisecond}}}}
	snap.Passes, snap.Timings = &passes, &timings
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(160, 50)
	b.press("2", "down")
	b.wants("▸ loop", "5.00 ms", "6 layers")
	b.lacks("loop/body/tanh", "choice")
	b.press("enter")
	b.wants("  loop/body/tanh", "loop/body/choice")
	b.lacks("then/exp")
	b.press("enter")
	b.lacks("loop/body/tanh")
	b.press("/", "e", "x", "p", "enter")
	b.wants("1 of 6 layers", "then/exp")
	b.send(pane.ShowLayer("loop/body/choice/then/exp")())
	if l, ok := pane.LayerAt(b.app.Focused()); !ok || l.Name != "loop/body/choice/then/exp" {
		t.Errorf("the cursor is on %+v", l)
	}
}

// TestCopies: a layer that could lie in memory and is copied says so, with the bytes and why.
func TestCopies(t *testing.T) {
	snap := panetest.Fixture(t)
	at := slices.IndexFunc(snap.Tactics.Layers, func(l report.LayerTactics) bool { return l.Op == "Concat" })
	layer := &snap.Tactics.Layers[at]
	layer.Candidates = append(layer.Candidates, report.Candidate{Tactic: report.InMemory, Unfit: true, Reason: "input a has a place already", Code: "place taken"})
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.size(200, 60)
	b.press("2")
	b.lacks("place taken")
	b.send(pane.ShowLayerMsg{Layer: layer.Layer})
	b.wants("in memory rejected: place taken", "input a has a place already; ", "are moved")
}

// TestReasonsWhole: on a small terminal, too, a layer's detail says which of two producers took an addition and why, and which second
// reader stopped an epilogue.
func TestReasonsWhole(t *testing.T) {
	snap := panetest.Fixture(t)
	layer := snap.Passes.Source[slices.IndexFunc(snap.Passes.Source, func(l report.Layer) bool { return l.Name == "block1/Add" })].Name
	step := &snap.Passes.Steps[len(snap.Passes.Steps)-1]
	step.Fired = append(step.Fired, report.FiredSite{Rule: "fuse-residual", Site: "fuse-residual:" + layer, Layers: []string{layer}, Into: layer,
		Note: "block1/second took block1/Add rather than block1/shortcut: it is the later of the two, when the other's result is there"})
	step.Missed = append(step.Missed, report.MissedSite{Rule: "fuse-activation", Site: "fuse-activation:" + layer, Layers: []string{layer},
		Reason: "second consumer", Detail: "the sum of block1 is also used by a layer further down, block2/shortcut/Conv"})
	b := newBench(t, ui.Options{NoColor: true}, snap)
	b.press("2", "/")
	for _, r := range "block1/Add" {
		b.press(string(r))
	}
	b.press("enter", "tab", "tab", "tab", "z", "G")
	b.wants("rather than block1/shortcut", "the other's result is there", "second consumer", "block2/shortcut/Conv")
}

// TestLayersOfExtents: of the engine layers that the plan has no steps for is said beside them.
func TestLayersOfExtents(t *testing.T) {
	snap := *panetest.Fixture(t)
	o := *snap.Overview
	o.Known, o.Engine = 3, len(snap.Passes.Engine)-3
	snap.Overview = &o
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(160, 50)
	b.wants(fmt.Sprintf("%d engine layers, 3 that extents decide", len(snap.Passes.Engine)))
	b.press("2")
	b.wants(fmt.Sprintf("%d engine layers, 3 that extents decide", len(snap.Passes.Engine)))
}

// TestFilterBothSides: a filter holds for both sides of the graph, whichever it was typed on, with a count on each; of a fused layer it
// finds the members' names and ops.
func TestFilterBothSides(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(160, 50)
	b.press("2", "/", "i", "n", "c", "e", "p", "enter")
	b.wants("Source /incep", "14 of 65 layers", "Engine INT8 /incep", "6 of 27 layers")
	b.press("esc")
	b.wants(" 65 layers", " 27 layers")
	b.lacks("/incep")
	b.press("tab", "/", "c", "l", "i", "p", "enter")
	b.wants("Source /clip", "Engine INT8 /clip", "separable/depthwise/conv/Conv +2")
}
