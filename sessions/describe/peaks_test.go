package describe

import (
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// TestUnderPeaks puts layers of an old recording under peaks: by arithmetic, by bytes from the nearest memory that holds them, and not at
// all where nothing is known.
func TestUnderPeaks(t *testing.T) {
	peaks := []run.Peaks{{Threads: 1, Compute: []run.Peak{{Name: "f32", Rate: 1e9}, {Name: "i8", Rate: 4e9}}, Memory: []run.Peak{{Name: "L2", Rate: 10e9, Holds: 1 << 20}, {Name: "DRAM", Rate: 1e9}}}}
	layer := func(name, precision string, flops, bytes int64) report.LayerTiming {
		return report.LayerTiming{Name: name, Precision: precision, FLOPs: flops, Bytes: bytes, Latency: report.Latency{Median: 10 * time.Millisecond}}
	}
	was := &report.Timings{Layers: []report.LayerTiming{layer("product", "f32", 5e6, 1000), layer("small", "i8", 4e6, 1000), layer("copy", "mixed", 0, 5e6), layer("view", "f32", 0, 0), layer("above", "f32", 20e6, 1)}}
	// Of 5 MB the part that fits into L2 may come from there.
	now := UnderPeaks(was, peaks)
	for i, want := range []struct {
		bound string
		floor time.Duration
	}{{"f32", 5 * time.Millisecond}, {"i8", time.Millisecond}, {"DRAM", 4056282}, {}, {"f32", 20 * time.Millisecond}} {
		switch r := now.Layers[i].Roof; {
		case r == nil && want.bound != "" || r != nil && (r.Bound != want.bound || r.Floor != want.floor):
			t.Errorf("%s: %+v, want %v", now.Layers[i].Name, r, want)
		}
	}
	if was.Layers[0].Roof != nil || was.Roofline != nil {
		t.Error("what was recorded has changed")
	}
	if r := now.Roofline; r.Last() == nil || len(r.Above) != 1 || r.Above[0] != "above" {
		t.Errorf("%+v", r)
	}
}
