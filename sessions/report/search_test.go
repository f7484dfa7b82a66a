package report

import (
	"testing"
	"time"
)

func TestSearchBest(t *testing.T) {
	db := func(v float64) *float64 { return &v }
	point := func(sqnr float64, tuned, latency time.Duration) SearchPoint {
		return SearchPoint{Point: Point{SQNR: db(sqnr), Latency: latency}, Tuned: tuned}
	}
	s := Search{Goal: Goal{MinSQNR: db(30)}}
	for i, c := range []struct {
		p             SearchPoint
		best, nearest int
	}{{point(20, 1, 1), -1, 0}, {point(25, 2, 2), -1, 1}, {point(40, 5, 5), 2, -1}, {point(30, 4, 6), 3, -1}, {point(50, 6, 4), 3, -1}} {
		s.Add(c.p)
		at := func(p *int) int {
			if p == nil {
				return -1
			}
			return *p
		}
		if at(s.Best) != c.best || at(s.Nearest) != c.nearest {
			t.Errorf("after %d: best %d, nearest %d", i, at(s.Best), at(s.Nearest))
		}
	}
	fast := Search{Goal: Goal{MaxLatency: 3}}
	for _, p := range s.Points {
		fast.Add(p)
	}
	if *fast.Best != 1 {
		t.Errorf("within 3 ns the best is %d", *fast.Best)
	}
	if (Goal{MaxDrop: db(1)}).Accurate(&SearchPoint{}) {
		t.Error("a drop that is not known is within bounds")
	}
}
