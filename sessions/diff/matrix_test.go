package diff

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// TestMatrix sets three recordings side by side: speeds beside the first, the front, the layer that moves most, and names that differ.
func TestMatrix(t *testing.T) {
	rounds := func(of time.Duration) (list []time.Duration) {
		for i := range 12 {
			list = append(list, of+time.Duration(i)*of/1000)
		}
		return list
	}
	side := func(name, replay string, p config.Precision, sqnr float64, latency time.Duration, layers ...time.Duration) Side {
		t := &report.Timings{EndToEnd: report.Latency{Median: latency, Count: 100}, MedianLow: latency - latency/100, MedianHigh: latency + latency/100, Samples: 100}
		for i, d := range layers {
			n := string("ab"[i])
			t.Layers = append(t.Layers, report.LayerTiming{Name: n, From: []string{n}, Precision: "f32", Latency: report.Latency{Median: d}, Rounds: rounds(d)})
			t.SumMedian += d
		}
		return Side{Name: name, Snapshot: &report.Snapshot{Replay: replay, Config: config.Config{Precision: p}, Timings: t, Accuracy: &report.Accuracy{Labels: report.LabelAccuracy{Top1: -1, Agreement: -1}, Outputs: []report.OutputError{{Errors: report.Errors{SQNR: sqnr}}}}}}
	}
	const ms = time.Millisecond
	sides := []Side{side("s", "x", config.FP32, report.MaxDB, 9*ms, 3*ms, 6*ms), side("s", "y", config.INT8, 40, 4*ms, 2*ms, 2*ms), side("slow", "z", config.INT8, 30, 6*ms, 3*ms, 3*ms)}
	m, err := Matrix(sides)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, s := range m.Sides {
		names = append(names, s.Name)
		if s.Front != (i < 2) {
			t.Errorf("%s is on the front: %v", s.Name, s.Front)
		}
		if m.Columns.Columns[i].Label != s.Name || m.Pareto.Points[i].Name != s.Name {
			t.Errorf("%s is %s and %s", s.Name, m.Columns.Columns[i].Label, m.Pareto.Points[i].Name)
		}
	}
	if !slices.Equal(names, []string{"s", "s (2)", "slow"}) {
		t.Errorf("names %q", names)
	}
	if m.Sides[0].Speed != nil || m.Sides[1].Speed.Ratio < 2.2 || m.Sides[1].Speed.Ratio > 2.3 || m.Sides[1].Speed.SideBySide {
		t.Errorf("speeds %+v %+v", m.Sides[0].Speed, m.Sides[1].Speed)
	}
	if !m.Columns.Apart || len(m.Columns.Rows) != 2 || m.Columns.Rows[1].Spread() != 4*ms || m.Columns.Rows[1].Fastest != "s (2)" {
		t.Errorf("rows %+v", m.Columns.Rows)
	}
	if _, err := Matrix(sides[:1]); err == nil {
		t.Error("one side is a matrix")
	}
	sides[2].Snapshot = &report.Snapshot{}
	if _, err := Matrix(sides); err == nil || !strings.Contains(err.Error(), "slow") {
		t.Errorf("without times: %v", err)
	}
}
