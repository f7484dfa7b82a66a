package views

import (
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestTactics pins and forbids a candidate.
func TestTactics(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	b.press("7", "down", "tab", "down", "p")
	c := b.last()
	if len(c.Pin) != 1 {
		t.Fatalf("pinned %v", c.Pin)
	}
	b.press("p", "x")
	if c := b.last(); len(c.Pin) != 0 || len(c.Forbid) != 1 {
		t.Errorf("pinned %v, forbidden %v", c.Pin, c.Forbid)
	}
	b.press("x")
	if c := b.last(); c.Forbid != nil {
		t.Errorf("forbidden %v", c.Forbid)
	}
	b.press("p", "x") // of both the later counts
	if c := b.last(); c.Pin != nil || len(c.Forbid) != 1 {
		t.Errorf("forbidden after it was pinned: pinned %v, forbidden %v", c.Pin, c.Forbid)
	}
	b.press("p")
	if c := b.last(); len(c.Pin) != 1 || c.Forbid != nil {
		t.Errorf("pinned after it was forbidden: pinned %v, forbidden %v", c.Pin, c.Forbid)
	}
}

// TestTacticsTellWhy shows the time of layers and candidates as bars, and why each candidate was not chosen, on all usual terminals.
func TestTacticsTellWhy(t *testing.T) {
	for _, size := range [][2]int{{100, 30}, {120, 40}, {159, 45}, {160, 45}, {200, 60}} {
		b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
		b.size(size[0], size[1])
		b.press("7", "down")
		b.wants("why", "ratio", "slower", "█")
	}
}

// TestRetime has the tactics of a layer timed again, cancels that, and starts it anew.
func TestRetime(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("7", "down", "t")
	if got := b.ctl.asked; !slices.Equal(got, []string{"retime stem/conv/Conv + stem/norm/BatchNormalization + stem/act/Relu"}) {
		t.Fatalf("asked for %q", got)
	}
	b.wants("timing the tactics of stem/conv/Conv +2 again; esc or t stops")
	asked := *snap // the reports are all there, but not those that were asked for
	asked.Retiming = snap.Tactics.Layers[1].Layer
	b.publish(&asked)
	if strings.Contains(b.screen(), "the same kernels") {
		t.Error("tells what came of timing again before it has begun")
	}
	busy := *snap
	busy.Retiming = snap.Tactics.Layers[1].Layer
	busy.Busy = &report.Progress{Phase: "timing tactics", Item: "stem/conv/Conv: conv_f32_avx512", Done: 3}
	b.publish(&busy)
	b.wants("timing tactics 3", "re-timing one", "re-timing, esc stops")
	b.press("tab", "t")
	if b.ctl.reruns != 1 || len(b.ctl.asked) != 1 {
		t.Errorf("t did not cancel: asked for %q, %d re-runs", b.ctl.asked, b.ctl.reruns)
	}
	b.wants("re-timing of stem/conv/Conv +2 is cancelled")
	b.publish(snap)
	if strings.Contains(b.screen(), "re-timing one") {
		t.Error("the pane still says that a layer is re-timed")
	}
	b.press("t")
	if len(b.ctl.asked) != 2 {
		t.Errorf("t does not start anew: %q", b.ctl.asked)
	}
	b.publish(snap)
	latency := ui.Duration(snap.Timings.EndToEnd.Median)
	b.wants("int8/mse: the same kernels as before; " + latency + ", before " + latency)
}

// TestDropTimings asks before it drops entries of the timing cache.
func TestDropTimings(t *testing.T) {
	snap := panetest.Fixture(t)
	tactics := *snap.Tactics
	tactics.Cache = slices.Clone(tactics.Cache)
	for i := range tactics.Cache {
		tactics.Cache[i].Stale = i < 3
	}
	snap.Tactics = &tactics
	b := newBench(t, ui.Options{}, snap)
	b.size(160, 50)
	b.press("7", "tab", "tab", "D")
	b.wants("keep all", "drop entries of other devices and builds: 3 of 20", "drop all 20: ")
	b.press("enter")
	if len(b.ctl.asked) != 0 {
		t.Errorf("enter alone asks for %q", b.ctl.asked)
	}
	b.press("D", "down", "enter")
	b.publish(snap)
	b.press("D", "G", "enter")
	if want := []string{"drop all false", "drop all true"}; !slices.Equal(b.ctl.asked, want) {
		t.Errorf("asked for %q, want %q", b.ctl.asked, want)
	}
	tactics.Cache = nil
	b.publish(snap)
	b.press("D")
	b.wants("the timing cache is empty")
}

// TestPinRefused pins no tactic that cannot compute the layer, and says why.
func TestPinRefused(t *testing.T) {
	snap := panetest.Fixture(t)
	c := snap.Tactics.Layers[1].Candidates
	at := slices.IndexFunc(c, func(c report.Candidate) bool { return !c.Timed })
	c[at].Tactic, c[at].Unfit, c[at].Reason = "zz_unfit", true, "the input is not u8"
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("7", "down", "tab")
	for range c {
		if strings.Contains(b.screen(), "zz_unfit: the input is not u8") {
			break
		}
		b.press("down")
	}
	b.press("p")
	if len(b.ctl.set) != 0 {
		t.Errorf("pinned: %v", b.last().Pin)
	}
	b.wants("zz_unfit cannot be pinned: the input is not u8")
}

// TestCursorStaysOnTactic sorts the candidates anew, and gives them another order, under a cursor.
func TestCursorStaysOnTactic(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("7", "down", "tab", "down", "p")
	var layer, tactic string
	for layer, tactic = range b.last().Pin {
	}
	next := *snap
	tactics := *snap.Tactics
	tactics.Layers = slices.Clone(tactics.Layers)
	tactics.Pinned = map[string]string{layer: tactic}
	for i := range tactics.Layers {
		l := &tactics.Layers[i]
		if l.Layer != layer {
			continue
		}
		l.Candidates, l.Chosen = slices.Clone(l.Candidates), tactic
		slices.Reverse(l.Candidates)
		for k := range l.Candidates {
			c := &l.Candidates[k]
			if c.Chosen = c.Tactic == tactic; !c.Chosen {
				c.Reason = "pinned to " + tactic
			}
		}
	}
	next.Tactics, next.Config = &tactics, b.last()
	b.publish(&next)
	b.wants(tactic + ": pinned")
	b.press("p")
	if c := b.last(); c.Pin != nil {
		t.Errorf("the cursor has left %s: %v", tactic, c.Pin)
	}
}

// Tactics that cannot compute the layer are one row a family, which enter unfolds; neither can be pinned.
func TestFamiliesFold(t *testing.T) {
	snap := panetest.Fixture(t)
	l := &snap.Tactics.Layers[1]
	for _, tile := range []string{"128x128x64_s3", "128x128x64_s3_k2", "64x64x64_s4_k16", "s3"} {
		l.Candidates = append(l.Candidates, report.Candidate{Tactic: "conv_f16_mma_" + tile, Family: "conv_f16_mma", Format: "nhwc", Unfit: true, Reason: "elements are f32"})
	}
	l.Candidates[len(l.Candidates)-2].Reason = "a sum of 3 steps is too short"
	l.Candidates = append(l.Candidates, report.Candidate{Tactic: "conv_lonely_8x8", Unfit: true, Reason: "no padding"})
	b := newBench(t, ui.Options{}, snap)
	b.size(160, 45)
	b.press("7", "down", "tab", "G")
	b.wants("+ conv_f16_mma: 4", "conv_f16_mma: 4 kernels, 3 of them: elements are f32", "conv_lonely_8x8")
	if s := b.screen(); strings.Contains(s, "128x128x64_s3_k2") {
		t.Errorf("the family is not folded:\n%s", s)
	}
	b.press("p", "x")
	b.wants("none of these can compute the layer")
	if len(b.ctl.set) != 0 {
		t.Errorf("a family was pinned or forbidden: %v", b.last())
	}
	b.press("enter")
	b.wants("- conv_f16_mma", "conv_f16_mma_128x128x64_s3: elements are f32", " conv_f16_mma_64x64x64_s4_k16 ")
	b.press("p")
	b.wants("conv_f16_mma_128x128x64_s3 cannot be pinned")
	b.press("enter")
	b.wants("+ conv_f16_mma: 4", "conv_f16_mma: 4 kernels")
}
