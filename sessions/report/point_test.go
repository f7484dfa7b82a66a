package report

import (
	"slices"
	"testing"
	"time"
)

func TestFront(t *testing.T) {
	type point struct {
		cost, gain float64
		known      bool
	}
	points := []point{{3, 40, true}, {1, 20, true}, {2, 20, true}, {2, 30, true}, {2, 30, true}, {4, 40, true}, {0, 99, false}}
	got := Front(len(points), func(i int) (float64, float64, bool) { return points[i].cost, points[i].gain, points[i].known })
	if want := []bool{true, true, false, true, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("front %v, want %v", got, want)
	}
}

func TestPointOf(t *testing.T) {
	s := &Snapshot{
		Accuracy: &Accuracy{Items: 7, Labels: LabelAccuracy{Top1: -1, Agreement: 0.5}, Outputs: []OutputError{{Errors: Errors{SQNR: 33}}}},
		Timings:  &Timings{EndToEnd: Latency{Median: time.Millisecond}},
		Memory:   &Memory{MemoryNumbers: MemoryNumbers{Weights: 5, Peak: 6}},
	}
	p, ok := PointOf(s)
	if !ok || *p.SQNR != 33 || p.Top1 != nil || *p.Agreement != 0.5 || p.Latency != time.Millisecond || p.Weights != 5 || p.Arena != 6 || p.Items != 7 {
		t.Errorf("point %+v, %v", p, ok)
	}
	s.Stale = PartTimings
	if p, ok := PointOf(s); !ok || p.Latency != 0 || p.SQNR == nil {
		t.Errorf("with stale times: %+v, %v", p, ok)
	}
	s.Stale = PartTimings | PartAccuracy
	if _, ok := PointOf(s); ok {
		t.Error("nothing fits the configuration, and there is a point")
	}
}
