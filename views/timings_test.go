package views

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/overview"
	"github.com/trtui/trtui/views/pane/panetest"
)

// Where there is room the table has every statistic of a layer and its newest samples, of groups of layers too.
func TestTimingsColumns(t *testing.T) {
	b := newBench(t, ui.Options{}, panetest.Fixture(t))
	b.size(160, 50)
	b.press("3")
	b.wants("min", "p90", "p95", "p99", "CV", "newest")
	b.press("a")
	b.wants("Layers by type", "p90", "p95", "newest")
}

// An estimate is one figure: nothing is shown of how samples vary, in the table, its groups, or where there is no terminal.
func TestTimingsOfEstimates(t *testing.T) {
	snap := estimated(t)
	snap.Device.Threads = 0
	b := newBench(t, ui.Options{}, snap)
	b.size(200, 50)
	b.press("3")
	for _, key := range []string{"", "a", "o", "%"} {
		if key != "" {
			b.press(key)
		}
		b.wants("estimate", "GFLOP/s")
		for _, column := range []string{"median", "sample", "avg", "min", "p90", "p95", "p99", "CV", "newest"} {
			if s := strings.ToLower(b.screen()); strings.Contains(s, " "+strings.ToLower(column)+" ") {
				t.Errorf("after %q the screen has %q:\n%s", key, column, s)
			}
		}
	}
	for _, width := range []int{0, 60} {
		text := overview.Text(snap, width)
		if strings.Contains(text, "p99") || strings.Contains(text, " CV ") {
			t.Errorf("an estimate is printed as if it varied:\n%s", text)
		}
		if strings.Contains(text, "0 threads") {
			t.Errorf("a device without threads has some:\n%s", text)
		}
	}
	measured := panetest.Fixture(t)
	measured.Seq = snap.Seq + 1
	b.publish(measured)
	b.press("a", "a", "a", "%")
	b.wants("median", "p99", "CV", "newest")
}

// A sum of layers that is over the latency from end to end is explained.
func TestTimingsGapBelowZero(t *testing.T) {
	snap := panetest.Fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("3")
	if strings.Contains(b.screen(), "layers are timed in separate runs") {
		t.Errorf("a gap above zero is explained:\n%s", b.screen())
	}
	below := *snap
	timings := *snap.Timings
	timings.Gap = -12 * time.Microsecond
	timings.SumMedian = timings.EndToEnd.Median - timings.Gap
	below.Timings, below.Seq = &timings, snap.Seq+1
	b.publish(&below)
	b.wants("gap", "layers are timed in separate runs")
	b.size(80, 24)
	b.wants("gap", "separate runs")
}

// TestMediansApart: where the rows' medians do not add up to what the header says of layers, as under load, it is said beside that.
func TestMediansApart(t *testing.T) {
	snap := *panetest.Fixture(t)
	b := newBench(t, ui.Options{NoColor: true}, &snap)
	b.size(120, 40)
	b.press("3")
	b.lacks("medians sum to")
	loaded := *snap.Timings
	loaded.EndToEnd.Median, loaded.Gap, loaded.SumMedian = 6900*time.Microsecond, 300*time.Microsecond, 3700*time.Microsecond
	snap.Timings = &loaded
	b.publish(&snap)
	b.wants("6.90 ms = 6.60 ms in layers (medians sum to 3.70 ms) + 300.0 µs gap")
	b.press("1")
	b.wants("medians sum to 3.70 ms")
}
