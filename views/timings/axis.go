package timings

import (
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// AboveText says how many latencies are above the axis, and how far.
func AboveText(latencies []time.Duration) string {
	top, n, most := ChartTop(latencies), 0, time.Duration(0)
	for _, d := range latencies {
		if top > 0 && d > top {
			n, most = n+1, max(most, d)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s above the axis, to %s", ui.Count(n), ui.Duration(most))
}

// ChartTop returns where the axis of latencies ends so that a few that are far above the others do not press those flat: a bit
// above the 95th percentile; 0 where all have room.
func ChartTop(latencies []time.Duration) time.Duration {
	const few, far = 8, 2 // how many there must be, and how many times the percentile is far
	if len(latencies) < few {
		return 0
	}
	sorted := slices.Sorted(slices.Values(latencies))
	most := sorted[(len(sorted)-1)*19/20]
	if sorted[len(sorted)-1] <= far*most {
		return 0
	}
	return most + most/4
}

// CVStyle returns the colour of a coefficient of variation.
func CVStyle(cv float64) ui.Style {
	if cv > report.UnstableCV {
		return ui.Warn
	}
	return ui.Plain
}
