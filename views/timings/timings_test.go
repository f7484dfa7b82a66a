package timings

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestGroups sums layers up without losing time.
func TestGroups(t *testing.T) {
	layers := panetest.Fixture(t).Timings.Layers
	for _, by := range groupings {
		rows, count := groupLayers(layers, by)
		share, n := 0.0, 0
		for i := range rows {
			share += rows[i].Share
			n += count[i]
		}
		if share < 0.999 || share > 1.001 || n != len(layers) {
			t.Errorf("by %s: share %f of %d layers", by, share, n)
		}
	}
}

// TestSumRoof adds what layers of a group stand under.
func TestSumRoof(t *testing.T) {
	layer := func(median, floor time.Duration, bound string) report.LayerTiming {
		return report.LayerTiming{Op: "Conv", Bytes: 100, Latency: report.Latency{Median: median},
			Roof: &report.Roof{Operations: 1000, Floor: floor, Bound: bound, OfPeak: float64(floor) / float64(median)}}
	}
	rows, _ := groupLayers([]report.LayerTiming{layer(100, 50, "f32"), layer(300, 50, "L2"), {Op: "Conv", Latency: report.Latency{Median: 50}}}, "type")
	if r := rows[0].Roof; r == nil || r.Floor != 100 || r.OfPeak != 0.25 || r.Operations != 2000 || r.Bound != "·" || r.Intensity != 10 || r.Reached != 5 || r.Ceiling != 20 {
		t.Errorf("got %+v", rows[0].Roof)
	}
}
