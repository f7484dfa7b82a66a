package views

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestAblation asks for what each rule is worth on the pane of passes, and shows it as it comes, what is noise as such.
func TestAblation(t *testing.T) {
	b := newBench(t, ui.Options{NoColor: true}, panetest.Fixture(t))
	b.size(160, 50)
	b.press("2", "tab", "tab", "A")
	if len(b.ctl.asked) == 0 || b.ctl.asked[len(b.ctl.asked)-1] != "ask 8192" {
		t.Errorf("asked for %v", b.ctl.asked)
	}
	b.wants("What each rule is worth", "each rule off in turn", "A measures it")
	speed := func(ratio, low, high float64, significant bool) report.Speed {
		return report.Speed{Ratio: ratio, Low: low, High: high, Significant: significant, SideBySide: true}
	}
	snap := *panetest.Fixture(t)
	snap.Ablation = &report.Ablation{Base: snap.Config, Median: time.Millisecond, Left: 2, Rows: []report.AblationRow{
		{Rule: "fuse-activation", Sites: 12, Without: 2 * time.Millisecond, Worth: speed(1.5, 1.45, 1.55, true)},
		{Rule: "no-op", Sites: 1, Worth: speed(1.004, 0.99, 1.02, false), Without: time.Millisecond},
		{Rule: "int8-pooling", Sites: 2, Worth: speed(0.9, 0.88, 0.93, true), Without: time.Millisecond * 9 / 10},
		{Rule: "dead-code", Sites: 3, Same: true, Worth: speed(1, 1, 1, false)},
		{Rule: "expand-weights", Sites: 1, Err: "no tactic"},
	}}
	b.publish(&snap)
	b.wants("2 to measure", "+50.0%", "+45.0 to +55.0%", "not significant", "-10.0%", "the same engine", "none without it")
	b.size(120, 40)
	b.wants("+50.0%", "+45.0 to +55.0%", "not significant", "fuse-activation", "the same engine", "none without it")
	other := snap
	other.Config.Precision = config.FP32
	b.publish(&other)
	b.wants("of int8")
	b.press("v")
	b.wants("Passes")
	if parts := other.Made(); !parts.Has(report.PartAblation) || report.Derived().Has(report.PartAblation) {
		t.Errorf("a snapshot has %v", parts)
	}
	if i := slices.IndexFunc(report.Kinds(), func(k report.Kind) bool { return k.Name == "ablation" }); i < 0 {
		t.Error("recordings do not know it")
	}
}

// TestUnmeasuredInReplay: what is measured on request and was not recorded says that it cannot be measured here.
func TestUnmeasuredInReplay(t *testing.T) {
	b, _ := newReplayBench(t, ui.Options{NoColor: true})
	b.size(160, 50)
	b.press("2", "tab", "tab", "v")
	b.wants("each rule off in turn", "not measured: ")
	b.press("6", "v")
	b.wants("what raising each layer wins", "not measured: ")
	reference, accuracy := *panetest.Fixture(t), *panetest.Fixture(t).Accuracy
	accuracy.Reference, accuracy.Layers = true, nil
	reference.Accuracy, reference.Replay, reference.Busy = &accuracy, "s.trtui", &report.Progress{Phase: "measuring"} // as it was recorded
	b.publish(&reference)
	b.press("v", "v")
	b.wants("what others are compared with", "not measured: a replay shows what was recorded")
}

// TestZeroUnderWall: the wall of a title stands over the zero of its bars at any width.
func TestZeroUnderWall(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Ablation = &report.Ablation{Base: snap.Config, Median: time.Millisecond, Rows: []report.AblationRow{
		{Rule: "no-op", Sites: 1, Worth: report.Speed{Ratio: 1.5, Low: 1.4, High: 1.6, Significant: true}, Without: time.Millisecond}}}
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	for _, w := range []int{80, 120, 121, 160, 161, 200, 203} {
		b.size(w, 50)
		b.press("2", "tab", "tab")
		if !strings.Contains(b.screen(), "What each rule") {
			b.press("v")
		}
		lines := strings.Split(b.screen(), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "slower│faster") })
		if at < 0 {
			t.Fatalf("no bars at %d columns:\n%s", w, b.screen())
		}
		before, _, _ := strings.Cut(lines[at], "│faster")
		under := []rune(lines[at+1])
		if n := len([]rune(before)); under[n] != '│' {
			t.Errorf("%d columns: %q is under the wall of\n%s\n%s", w, under[n], lines[at], lines[at+1])
		}
	}
}
