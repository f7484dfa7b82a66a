package views

import (
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/ui"
)

// Where there is room the table has every statistic of a layer and its newest samples, of groups of layers too.
func TestTimingsColumns(t *testing.T) {
	b := newBench(t, ui.Options{}, fixture(t))
	b.size(160, 50)
	b.press("3")
	b.wants("min", "p90", "p95", "p99", "CV", "newest")
	b.press("a")
	b.wants("Layers by type", "p90", "p95", "newest")
}

// A sum of layers that is over the latency from end to end is explained.
func TestTimingsGapBelowZero(t *testing.T) {
	snap := fixture(t)
	b := newBench(t, ui.Options{}, snap)
	b.size(120, 40)
	b.press("3")
	if strings.Contains(b.screen(), belowZero) {
		t.Errorf("a gap above zero is explained:\n%s", b.screen())
	}
	below := *snap
	timings := *snap.Timings
	timings.Gap = -12 * time.Microsecond
	timings.SumMedian = timings.EndToEnd.Median - timings.Gap
	below.Timings, below.Seq = &timings, snap.Seq+1
	b.publish(&below)
	b.wants("gap", belowZero)
	b.size(80, 24)
	b.wants("gap", belowZeroShort)
}
