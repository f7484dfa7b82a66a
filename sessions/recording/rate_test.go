package recording

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestOneCurve: a report of an older program has a curve over one axis, beside the axes.
func TestOneCurve(t *testing.T) {
	var r report.Runtime
	err := json.Unmarshal([]byte(`{"Axes":[{"Symbol":"batch"},{"Symbol":"length"}],"Axis":1,"Curve":[{"Values":[7]}],"ArenaBytes":3}`), &r)
	if err != nil || r.ArenaBytes != 3 || r.Axes[0].Curve != nil || len(r.Axes[1].Curve) != 1 || r.Axes[1].Curve[0].Values[0] != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	r = report.Runtime{} // two axes had one grid
	if err := json.Unmarshal([]byte(`{"Axes":[{"Symbol":"a"},{"Symbol":"b"}],"Grid":{"Axes":[{"Name":"b"},{"Name":"a"}],"Points":[{"Values":[1,2]}]}}`), &r); err != nil || len(r.Grids) != 1 || r.GridOf([2]int{1, 0}) == nil || r.GridOf([2]int{0, 1}) != nil {
		t.Errorf("%+v, %v", r, err)
	}
	r = report.Runtime{}
	if err := json.Unmarshal([]byte(`{"Axes":[{"Symbol":"batch"}],"Axis":-1}`), &r); err != nil || r.Axes[0].Curve != nil {
		t.Errorf("%+v, %v", r, err)
	}
	// Points that do not say where they are are none.
	if err := json.Unmarshal([]byte(`{"Axes":[{"Curve":[{},{"Values":[2]},{"Values":[1,2]}]}],"Grid":{"Axes":[{},{}],"Points":[{"Values":[1]}]}}`), &r); err != nil || len(r.Axes[0].Curve) != 1 || len(r.Grids) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRates: throughputs of recordings are those of the median, whatever the program that wrote them took.
func TestRates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.trtui")
	r, err := Create(path, "test", false)
	if err != nil {
		t.Fatal(err)
	}
	l := report.Latency{Count: 3, Median: 10 * time.Millisecond, Mean: 20 * time.Millisecond}
	r.Snapshot(&report.Snapshot{Seq: 1, Schema: report.Schema, Config: config.Config{Precision: config.FP32},
		Overview: &report.Overview{Latency: l, Throughput: 200, Batch: 4},
		Timings:  &report.Timings{EndToEnd: l},
		Runtime: &report.Runtime{Points: []report.SweepPoint{{Latency: l, Batch: 2, Throughput: 1}}, Axes: []report.RuntimeAxis{{Curve: []report.SweepPoint{{Values: []int{3}, Latency: l, Batch: 3, Throughput: 1}}}},
			Grids:  []report.Sweep{{Axes: make([]report.SweepAxis, 2), Points: []report.SweepPoint{{Values: []int{4, 1}, Latency: l, Batch: 4, Throughput: 1}}}},
			Others: []report.Served{{Points: []report.SweepPoint{{Latency: l, Batch: 5, Throughput: 1}}}}, Contexts: []report.SweepPoint{{Contexts: 2, Batch: 2, Latency: l, Throughput: 3}}},
		Generation: &report.Generation{PerToken: l, Rate: 50},
	})
	s := closed(t, r, path).Snapshot()
	if s.Overview.Throughput != 400 || s.Generation.Rate != 100 || s.Runtime.Points[0].Throughput != 200 || s.Runtime.Axes[0].Curve[0].Throughput != 300 || s.Runtime.Grids[0].Points[0].Throughput != 400 || s.Runtime.Others[0].Points[0].Throughput != 500 || s.Runtime.Contexts[0].Throughput != 3 {
		t.Errorf("%g items/s, %g tokens/s, %+v", s.Overview.Throughput, s.Generation.Rate, s.Runtime)
	}
}
