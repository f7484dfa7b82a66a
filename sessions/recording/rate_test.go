package recording

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestRates: throughputs of recordings are those of the median, whatever the program that wrote them took.
func TestRates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	l := report.Latency{Count: 3, Median: 10 * time.Millisecond, Mean: 20 * time.Millisecond}
	r.Snapshot(&report.Snapshot{Seq: 1, Schema: report.Schema, Config: config.Config{Precision: config.FP32},
		Overview:   &report.Overview{Latency: l, Throughput: 200, Batch: 4},
		Timings:    &report.Timings{EndToEnd: l},
		Runtime:    &report.Runtime{Points: []report.SweepPoint{{Latency: l, Batch: 2, Throughput: 1}}, Contexts: []report.SweepPoint{{Contexts: 2, Batch: 2, Latency: l, Throughput: 3}}},
		Generation: &report.Generation{PerToken: l, Rate: 50},
	})
	s := closed(t, r, path).Snapshot()
	if s.Overview.Throughput != 400 || s.Generation.Rate != 100 || s.Runtime.Points[0].Throughput != 200 || s.Runtime.Contexts[0].Throughput != 3 {
		t.Errorf("%g items/s, %g tokens/s, %+v", s.Overview.Throughput, s.Generation.Rate, s.Runtime)
	}
}
