package diff

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

func point(name string, latency time.Duration, top1 float64) report.ParetoPoint {
	p := report.ParetoPoint{Name: name, Point: report.Point{Latency: latency, Weights: int(latency)}}
	if top1 >= 0 {
		p.Top1 = &top1
	}
	return p
}

// TestChoose finds the front, and the fastest within half a point: exactly half a point counts.
func TestChoose(t *testing.T) {
	points := []report.ParetoPoint{
		point("fp32", 100, 0.90), point("fp16", 60, 0.899), point("int8", 30, 0.895), point("worse", 50, 0.88), point("poor", 20, 0.80), point("unknown", 10, -1), point("untimed", 0, 0.99),
	}
	m, err := MeasureOf("", points)
	if err != nil || m.Name != "top1" { // as many have a memory, and it comes first
		t.Fatalf("measure %s, %v", m.Name, err)
	}
	p := Choose(points, m, 0.5)
	for _, want := range []struct {
		name                   string
		front, within, fastest bool
	}{
		{"fp32", true, true, false}, {"fp16", true, true, false}, {"int8", true, true, true}, {"worse", false, false, false},
		{"poor", true, false, false}, {"unknown", false, false, false}, {"untimed", false, false, false},
	} {
		for _, got := range p.Points {
			if got.Name == want.name && (got.Front != want.front || got.Within != want.within || got.Fastest != want.fastest) {
				t.Errorf("%s: front %v, within %v, fastest %v", got.Name, got.Front, got.Within, got.Fastest)
			}
		}
	}
	if p.Fastest() != 2 || p.Rule != "within 0.5 points of the best top-1" {
		t.Errorf("fastest %d, %s", p.Fastest(), p.Rule)
	}
	if p := Choose(points, m, 0.05); p.Fastest() != 0 {
		t.Errorf("fastest within 0.05 points is %d", p.Fastest())
	}
	if _, err := MeasureOf("speed", points); err == nil {
		t.Error("speed is a measure")
	}
	if p := Choose(nil, m, 1); p.Fastest() != -1 {
		t.Errorf("of nothing: %+v", p)
	}
}
