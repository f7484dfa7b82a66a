package overview

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TestGapText: a gap that is less than nothing says how that can be.
func TestGapText(t *testing.T) {
	for gap, want := range map[time.Duration]string{5 * time.Microsecond: "gap 5.0 µs, 5.0%", -5 * time.Microsecond: "gap -5.0 µs, -5.0%: separate runs"} {
		times := &report.Timings{EndToEnd: report.Latency{Median: 100 * time.Microsecond}, SumMedian: 100*time.Microsecond - gap, Gap: gap}
		if got := gapText(times); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
