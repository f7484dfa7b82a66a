package recording

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestBesideIsTried: what was measured side by side is among what was tried, and completes what was tried by itself; a first
// impression is not.
func TestBesideIsTried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	of := func(p config.Precision) config.Config {
		return config.Config{Precision: p, Calibrator: "minmax", Batch: 1}
	}
	column := func(p config.Precision, median time.Duration, speed float64, top1 *float64) report.Column {
		k := report.Column{Label: string(p), Config: of(p), Latency: report.Latency{Count: 9, Median: median}}
		if speed > 0 {
			k.Speed = &report.Speed{Ratio: speed, SideBySide: true}
		}
		if top1 != nil {
			k.Point = &report.Point{Config: k.Config, Top1: top1, Weights: 5, Arena: 6}
		}
		return k
	}
	share, later := 0.5, 0.75
	snap := report.Snapshot{Seq: 1, Schema: report.Schema, Config: of(config.FP32), Timings: &report.Timings{Samples: 2, EndToEnd: report.Latency{Count: 2, Median: 10}}}
	write := func(s *report.Snapshot) { // each by itself: what waits to be written is written as its newest state
		t.Helper()
		if err := r.writer.write(pending{settled: []stamped{{s, time.Now(), r.key(s.Config), true}}}, false); err != nil {
			t.Fatal(err)
		}
	}
	write(&snap)
	for seq, c := range []*report.Columns{
		{Live: true, Columns: []report.Column{column(config.FP32, 10, 0, nil), column("live", 7, 2, nil)}},
		{Columns: []report.Column{column(config.FP32, 10, 0, nil), column(config.INT8, 4, 2.5, nil)}},
		{Columns: []report.Column{column(config.FP32, 10, 0, nil), column(config.INT8, 4, 2.5, &share)}},
		{Columns: []report.Column{column(config.FP32, 10, 0, &later), column(config.FP16, 5, 2, nil), {Label: "x", Config: of("x"), Err: "no"}}},
	} {
		next := snap
		next.Seq, next.Columns = seq+2, c
		write(&next)
	}
	back := closed(t, r, path)
	tried := back.Tried()
	if first, err := back.At(0); err != nil || first.Final == nil || first.Final.Top1 == nil || *first.Final.Top1 != 0.75 || first.Accuracy != nil {
		t.Errorf("%v: the first state does not tell what its configuration came to: %+v", err, first.Final)
	}
	if len(tried) != 3 || tried[0].Aside || tried[1].Config.Precision != config.INT8 || tried[2].Config.Precision != config.FP16 {
		t.Fatalf("tried were %+v", tried)
	}
	int8 := tried[1]
	if !int8.Aside || int8.Runs != 9 || *int8.Median != 4 || *int8.Top1 != share || *int8.Weights != 5 || int8.Name == tried[2].Name {
		t.Errorf("INT8 came to %+v", int8)
	}
	if s := int8.Measured().Over(tried[0].Measured(), false); s.Ratio != 2.5 || !s.SideBySide {
		t.Errorf("its speed is %+v", s)
	}
	if _, err := back.Find(int8.Name); err == nil || !strings.Contains(err.Error(), "was measured beside others alone, and has no states; there are some of fp32") {
		t.Errorf("a state of what was measured beside others alone: %v", err)
	}
	back.Set(int8.Config)
	for s := range back.Events() {
		if s.Err != "" {
			if want := "int8/minmax was measured beside others alone, and has no states; the recording has fp32"; s.Err != want {
				t.Errorf("%q, want %q", s.Err, want)
			}
			break
		}
	}
}
