package diff

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
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
	p := Choose(points, m, 0.5, false)
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
	if p := Choose(points, m, 0.05, false); p.Fastest() != 0 {
		t.Errorf("fastest within 0.05 points is %d", p.Fastest())
	}
	if _, err := MeasureOf("speed", points); err == nil {
		t.Error("speed is a measure")
	}
	if p := Choose(nil, m, 1, false); p.Fastest() != -1 {
		t.Errorf("of nothing: %+v", p)
	}
}

// TestChooseByRounds goes by rounds where there are some, whatever medians of different times say, and names what cannot be told from the
// fastest; those of another recording tell nothing of it.
func TestChooseByRounds(t *testing.T) {
	fp32 := config.Config{Precision: config.FP32}
	of := func(name, session, calibrator string, median time.Duration, s *report.Speed) report.ParetoPoint {
		p := point(name, median, 0.9)
		p.Config, p.Session = config.Config{Precision: config.INT8, Calibrator: calibrator}, session
		p.Low, p.High = median, median
		if s != nil {
			p.Beside = &report.Beside{Config: fp32, Speed: *s}
		}
		return p
	}
	speed := func(ratio float64) *report.Speed {
		s := report.NewSpeed(ratio, ratio*0.99, ratio*1.01, true)
		return &s
	}
	points := []report.ParetoPoint{of("fp32", "a", "", 1000, nil), of("busy", "a", "mse", 600, speed(2.5)), of("calm", "a", "minmax", 500, speed(2)), of("close", "a", "entropy", 700, speed(2.49)), of("other", "b", "mse", 450, speed(1))}
	points[0].Config = fp32
	m, _ := MeasureOf("top1", points)
	p := Choose(points, m, 0.5, false)
	for i, want := range []time.Duration{1000, 400, 500, 401, 450} {
		if points[i].Took != want {
			t.Errorf("%s took %d, want %d", points[i].Name, points[i].Took, want)
		}
	}
	if p.Fastest() != 1 || !points[1].Front || points[2].Front || points[4].Front {
		t.Errorf("fastest %d, %+v", p.Fastest(), points)
	}
	if !p.Apart() || points[4].InRounds && points[4].Session == points[0].Session {
		t.Errorf("of another recording it is not said that it was measured at another time: %+v", points[4])
	}
	if q := Choose(points[:4], m, 0.5, false); q.Apart() || !points[0].InRounds || !points[3].InRounds {
		t.Errorf("what was measured side by side is said to be apart: %+v", points[:4])
	}
	if alone := []report.ParetoPoint{of("a", "a", "mse", 5, nil), of("b", "b", "mse", 6, nil)}; !Choose(alone, m, 0.5, false).Apart() || alone[0].InRounds {
		t.Errorf("two recordings are measured side by side: %+v", alone)
	}
	p = Choose(points, m, 0.5, false)
	if points[1].Beaten || !points[2].Beaten || points[3].Beaten {
		t.Errorf("what is slower by no more than noise is beaten, or what is slower is not: %+v", points)
	}
	if got := p.Alike(false); len(got) != 1 || got[0] != "close" {
		t.Errorf("alike: %v", got)
	}
}
