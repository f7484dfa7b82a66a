package diff

import (
	"fmt"
	"math"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// Measure is what configurations are chosen by beside latency.
type Measure struct {
	Name   string                                       // top1
	Title  string                                       // "top-1"
	Good   string                                       // "good": what is more of it, behind "as"
	Limits []float64                                    // to choose from, the strictest first; none: it is only shown
	First  int                                          // of Limits, by default
	of     func(*report.Point) (value float64, ok bool) // more is better
	least  func(best, limit float64) float64            // the value that a limit asks for
	rule   func(limit float64) string
	write  func(value float64) string
}

// Write writes a value of the measure with its unit.
func (m *Measure) Write(value float64) string { return m.write(value) }

// Of returns a point's value, of which more is better; ok is false where it is not known.
func (m *Measure) Of(p *report.Point) (value float64, ok bool) { return m.of(p) }

// Measures returns those that there are, in the order in which one would choose.
func Measures() []Measure {
	points := []float64{0, 0.1, 0.2, 0.5, 1, 2, 5}
	share := func(name, title string, of func(*report.Point) *float64) Measure {
		return Measure{Name: name, Title: title, Good: "good", Limits: points, First: 3, of: pointer(of),
			least: func(best, limit float64) float64 { return best - limit/100 - 1e-12 },
			rule:  func(limit float64) string { return fmt.Sprintf("within %g points of the best %s", limit, title) },
			write: func(v float64) string { return fmt.Sprintf("%.2f%%", 100*v) }}
	}
	return []Measure{
		share("top1", "top-1", func(p *report.Point) *float64 { return p.Top1 }),
		share("agreement", "agreement", func(p *report.Point) *float64 { return p.Agreement }),
		{Name: "sqnr", Title: "SQNR", Good: "good", Limits: []float64{60, 50, 40, 30, 20, 10}, First: 2, of: pointer(func(p *report.Point) *float64 { return p.SQNR }),
			least: func(_, limit float64) float64 { return limit },
			rule:  func(limit float64) string { return fmt.Sprintf("with an SQNR of %g dB at least", limit) },
			write: func(v float64) string {
				if v >= report.MaxDB {
					return "exact"
				}
				return fmt.Sprintf("%.1f dB", v)
			}},
		{Name: "memory", Title: "memory", Good: "small", of: func(p *report.Point) (float64, bool) { n := p.Weights + p.Arena; return -float64(n), n > 0 },
			write: func(v float64) string { return report.Bytes(int64(-v)) }},
	}
}

func pointer(of func(*report.Point) *float64) func(*report.Point) (float64, bool) {
	return func(p *report.Point) (float64, bool) {
		if v := of(p); v != nil && !math.IsNaN(*v) {
			return *v, true
		}
		return 0, false
	}
}

// MeasureOf returns the measure of that name, or where it is "" the first that most points have.
func MeasureOf(name string, points []report.ParetoPoint) (Measure, error) {
	list := Measures()
	var names []string
	best, most := 0, -1
	for i := range list {
		names = append(names, list[i].Name)
		if list[i].Name == name {
			return list[i], nil
		}
		n := 0
		for k := range points {
			if _, ok := list[i].of(&points[k].Point); ok {
				n++
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	if name != "" {
		return Measure{}, fmt.Errorf("measure %q: want one of %s", name, strings.Join(names, ", "))
	}
	return list[best], nil
}

// Choose marks of points the front, those that are good enough for a limit, and of these the fastest, by rounds in which they were
// measured beside each other, where they were. quantized is as for [config.Config.Effective].
func Choose(points []report.ParetoPoint, m Measure, limit float64, quantized bool) *report.Pareto {
	report.Scale(points, quantized)
	p := &report.Pareto{Measure: m.Name, Limit: limit, Points: points}
	value := func(i int) (float64, bool) {
		v, ok := m.of(&points[i].Point)
		return v, ok && points[i].Took > 0
	}
	front := report.Front(len(points), func(i int) (cost, gain float64, ok bool) {
		gain, ok = value(i)
		return float64(points[i].Took), gain, ok
	})
	best := math.Inf(-1)
	for i := range points {
		if v, ok := value(i); ok {
			best = max(best, v)
		}
	}
	fastest := -1
	for i := range points {
		v, ok := value(i)
		points[i].Front, points[i].Fastest = front[i], false
		points[i].Within = ok && m.least != nil && v >= m.least(best, limit)
		if points[i].Within && (fastest < 0 || points[i].Took < points[fastest].Took) {
			fastest = i
		}
	}
	if fastest >= 0 {
		points[fastest].Fastest = true
	}
	for i := range points {
		own, ok := value(i)
		points[i].Beaten = false
		for k := range points {
			if other, known := value(k); ok && known && other >= own && points[k].Took < points[i].Took && !points[k].Over(&points[i], quantized).Noise() {
				points[i].Beaten = true
			}
		}
	}
	if m.rule != nil {
		p.Rule = m.rule(limit)
	}
	return p
}
