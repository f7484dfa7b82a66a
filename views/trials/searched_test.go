package trials

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// What a search measured is on the plot beside what was tried, once.
func TestWithSearched(t *testing.T) {
	int8 := config.Config{Precision: config.INT8, Calibrator: "mse", Batch: 1}
	raised := int8
	raised.LayerPrecisions = []string{"conv:fp16"}
	point := func(c config.Config, took time.Duration) report.SearchPoint {
		return report.SearchPoint{Point: report.Point{Config: c, Latency: took}}
	}
	got := withSearched([]trial{{config: int8, median: 3}}, []report.SearchPoint{point(int8, 4), point(raised, 5), point(raised, 0)}, false)
	if len(got) != 2 || got[0].median != 3 || got[1].median != 5 || got[1].measured.Median != 5 {
		t.Errorf("%+v", got)
	}
}
