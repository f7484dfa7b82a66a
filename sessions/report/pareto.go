package report

import (
	"math"
	"time"
)

// Pareto is which of many configurations are worth having: those that no other is faster than and as good by a measure.
type Pareto struct {
	Measure string // top1, agreement, sqnr, memory
	Limit   float64
	Rule    string        // in words, what Limit asks for
	Points  []ParetoPoint // in the order in which they were tried
}

// ParetoPoint is a configuration on the plot.
type ParetoPoint struct {
	Name string
	Point
	Front   bool // on the front
	Within  bool // good enough for the limit
	Fastest bool // of these the one that takes least time

	Session string        `json:"-" output:"-"` // the recording that it is of; rounds of two say nothing of each other
	Took    time.Duration `json:"-" output:"-"` // what it takes beside the others of its session: what is compared; see [Scale]

	Beaten   bool `json:",omitempty"`  // another one is as good and faster, by more than noise
	InRounds bool `output:"in_rounds"` // it was measured in the same rounds as others of its session
}

// BesideOthers reports whether a configuration takes visibly more or less beside the others than its latency says.
func (p *ParetoPoint) BesideOthers() bool {
	return p.Latency > 0 && math.Abs(float64(p.Took)/float64(p.Latency)-1) >= 0.02
}

// Scale sets what points take beside the others of their sessions. quantized is as for [config.Config.Effective].
func Scale(points []ParetoPoint, quantized bool) {
	sessions := map[string][]int{}
	for i := range points {
		sessions[points[i].Session] = append(sessions[points[i].Session], i)
	}
	for _, of := range sessions {
		list := make([]Measured, len(of))
		for k, i := range of {
			list[k] = points[i].measured()
		}
		took, beside := Took(list, quantized)
		for k, i := range of {
			points[i].Took, points[i].InRounds = took[k], beside[k]
		}
	}
}

// Fastest returns the index of the fastest point within the limit; -1 where there is none.
func (p *Pareto) Fastest() int {
	for i := range p.Points {
		if p.Points[i].Fastest {
			return i
		}
	}
	return -1
}

// Apart reports whether the fastest point and another one within the limit were measured at different times, so that what changed on
// the machine meanwhile may have made it the fastest.
func (p *Pareto) Apart() bool {
	fastest := p.Fastest()
	for i := range p.Points {
		x := &p.Points[i]
		if fastest < 0 || i == fastest || !x.Within || x.Estimated {
			continue
		}
		if f := &p.Points[fastest]; !f.InRounds || !x.InRounds || f.Session != x.Session {
			return true
		}
	}
	return false
}

// Alike names the other points within the limit that the fastest cannot be told from: their difference is noise. One that took
// far longer at moments so different that its ratio may be nearly any is not among them. quantized is as for [config.Config.Effective].
func (p *Pareto) Alike(quantized bool) (names []string) {
	fastest := p.Fastest()
	for i := range p.Points {
		if fastest < 0 || i == fastest || !p.Points[i].Within {
			continue
		}
		if s := p.Points[fastest].Over(&p.Points[i], quantized); s.Noise() && (!s.Loose() || s.Ratio < looseSpeed) {
			names = append(names, p.Points[i].Name)
		}
	}
	return names
}

// Over says how fast a point is beside another one: of two sessions by each one's own samples.
func (p *ParetoPoint) Over(o *ParetoPoint, quantized bool) Speed {
	if p.Session != o.Session {
		return p.measured().Interval().Over(o.measured().Interval())
	}
	return p.measured().Over(o.measured(), quantized)
}

// measured returns what is known of the point's times.
func (p *Point) measured() Measured {
	return Measured{Config: p.Config, Median: p.Latency, Low: p.Low, High: p.High, Beside: p.Beside, Estimated: p.Estimated}
}

// Point returns what a recording says of the configuration.
func (c *RecordedConfig) Point() Point {
	m := c.Measured()
	p := Point{Config: c.Config, Latency: m.Median, Low: m.Low, High: m.High, Estimated: m.Estimated, Beside: m.Beside, SQNR: c.SQNR, Top1: c.Top1, Agreement: c.Agreement}
	if c.Weights != nil {
		p.Weights = *c.Weights
	}
	if c.ArenaBytes != nil {
		p.Arena = *c.ArenaBytes
	}
	return p
}

// OnOneScale is [Took] as it is shown: what is its own median all but is that.
func OnOneScale(list []Measured, quantized bool) []time.Duration {
	took, _ := Took(list, quantized)
	for i, d := range took {
		took[i] = Nearly(d, list[i].Median)
	}
	return took
}

// Nearly returns what something takes beside others, or its own median where that is no other in what shows.
func Nearly(took, median time.Duration) time.Duration {
	p := ParetoPoint{Point: Point{Latency: median}, Took: took}
	if p.BesideOthers() {
		return took
	}
	return median
}
