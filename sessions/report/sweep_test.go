package report

import (
	"fmt"
	"testing"
	"time"
)

// TestChoose: the most items a second along axes that count items, at each size of items; of items alone the largest within a limit.
func TestChoose(t *testing.T) {
	batch, seq, width := SweepAxis{Name: "batch", Items: true}, SweepAxis{Name: "seq"}, SweepAxis{Name: "width"}
	point := func(median time.Duration, rate float64, values ...int) SweepPoint {
		return SweepPoint{Values: values, Latency: Latency{Median: median}, Throughput: rate}
	}
	for _, c := range []struct {
		axes   []SweepAxis
		points []SweepPoint
		limit  time.Duration
		want   string
	}{
		{[]SweepAxis{batch}, []SweepPoint{point(1, 10, 1), point(2, 12, 2), point(9, 11, 4)}, 0, "[1]"},
		{[]SweepAxis{batch}, []SweepPoint{point(1, 10, 1), point(2, 12, 2)}, 1, "[0]"},
		{[]SweepAxis{seq}, []SweepPoint{point(1, 9, 16), point(2, 5, 32), point(4, 2, 64)}, 0, "[]"},
		{[]SweepAxis{seq}, []SweepPoint{point(1, 9, 16), point(2, 5, 32), point(4, 2, 64)}, 3, "[1]"},
		{[]SweepAxis{seq}, []SweepPoint{point(4, 2, 64)}, 3, "[]"},
		{[]SweepAxis{seq, width}, []SweepPoint{point(1, 9, 8, 8), point(2, 5, 8, 64), point(2, 5, 16, 16), point(9, 1, 16, 64)}, 3, "[1]"},
		{[]SweepAxis{batch, seq}, []SweepPoint{point(1, 9, 1, 16), point(2, 5, 1, 32), point(2, 8, 2, 16), point(3, 6, 2, 32)}, 0, "[0 3]"},
		{[]SweepAxis{batch, seq}, []SweepPoint{point(1, 9, 1, 16), point(5, 5, 1, 32), point(2, 8, 2, 16), point(6, 6, 2, 32)}, 2, "[0]"},
	} {
		s := &Sweep{Axes: c.axes, Points: c.points, LatencyLimit: c.limit}
		var marked []int
		best := s.Choose()
		for i, p := range s.Points {
			if p.Best {
				marked = append(marked, i)
			}
			if p.Within != (c.limit == 0 || p.Latency.Median <= c.limit) {
				t.Errorf("%v: %v within a limit of %d: %v", c.axes, p.Values, c.limit, p.Within)
			}
		}
		if got := fmt.Sprint(best); got != c.want || fmt.Sprint(marked) != c.want {
			t.Errorf("%v within %d: %s, marked %v, want %s", c.axes, c.limit, got, marked, c.want)
		}
	}
}

// TestChooseAlike: a point whose items a second cannot be told from the best one's by the intervals of both medians is said to be so, and
// one that is far off, or over the limit, is not.
func TestChooseAlike(t *testing.T) {
	point := func(contexts int, rate float64, low, median, high time.Duration) SweepPoint {
		return SweepPoint{Values: []int{contexts}, Throughput: rate, Latency: Latency{Median: median}, Low: low, High: high}
	}
	points := []SweepPoint{point(1, 100, 900, 1000, 1150), point(2, 104, 1700, 1900, 2100), point(4, 50, 7600, 8000, 8400), point(8, 60, 0, 8000, 0), point(16, 103, 10000, 20000, 40000)}
	if best := ChooseBest(points, 10000); best != 1 {
		t.Errorf("point %d is best", best)
	}
	for i, want := range []bool{true, false, false, false, false} {
		if points[i].Alike != want {
			t.Errorf("%d contexts alike %v", points[i].Values[0], points[i].Alike)
		}
	}
}
