package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sweep is how an engine does over ranges of its inputs' extents (trtui bench --sweep).
type Sweep struct {
	Axes         []SweepAxis
	LatencyLimit time.Duration `json:",omitempty"` // 0: none
	Estimated    bool
	Rest         []SweepRest  `json:",omitempty"` // the other open extents of the inputs
	Points       []SweepPoint // in the order of the axes' values, those of the last axis first
}

// ContextsAxis is the name of the axis that is no extent: how many contexts of the engine run at the same time.
const ContextsAxis = "contexts"

// SweepAxis is an extent that is varied, or how many contexts there are.
type SweepAxis struct {
	Name   string // of the symbol, or ContextsAxis
	Values []int
	Items  bool // more of it are more items at a time: it is the batch, or ContextsAxis; of another axis more are larger items
}

// SweepRest is an extent that is not varied.
type SweepRest struct {
	Name    string
	Value   int        `json:",omitempty"` // where it stays
	Follows *Following `json:",omitempty"` // nil: it stays
}

// RestText says at which extents a sweep is that are not varied, as in "batch 1, total = past + seq"; "" where there are none.
func RestText(rest []SweepRest) string {
	var list []string
	for _, x := range rest {
		if x.Follows != nil {
			list = append(list, x.Name+" = "+x.Follows.String())
			continue
		}
		list = append(list, fmt.Sprintf("%s %d", x.Name, x.Value))
	}
	return strings.Join(list, ", ")
}

// SweepPoint is the engine at one shape.
type SweepPoint struct {
	Values      []int            // of the axes
	Shapes      map[string][]int `entry:"input,shape"`
	Profile     int              // of the engine, that serves it
	Batch       int
	Contexts    int `json:",omitempty"` // that run at the same time; 0: one, with all of the device's threads
	Threads     int `json:",omitempty"` // of each of the contexts, on a CPU
	Latency     Latency
	Throughput  float64       `unit:"items_per_s"` // at the median latency; of contexts that run at the same time, items over the time of all
	MemoryBytes int           // of activations, workspace, inputs and outputs that this shape needs
	HeldBytes   int           // of these that the contexts have, whatever the shape
	Within      bool          `output:"within_limit"` // its median latency is not over the limit
	Best        bool          // the one to choose, see Choose
	Alike       bool          `json:",omitempty" output:"alike_best"` // its items a second cannot be told from the best one's
	Low, High   time.Duration `json:",omitempty"`                     // in which the median lies with 99 % confidence; 0: not known
}

// Extents returns those from low to high, the last of which is high: by doubling, or where step is not 0 in steps. Those beyond the
// first most are left out, but for high.
func Extents(low, high, step, most int) (list []int) {
	for v := low; v < high && len(list) < most-1; {
		list = append(list, v)
		if v += step; step == 0 {
			v *= 2
		}
	}
	return append(list, high)
}

// At returns the point at values of the axes; nil where none is.
func (s *Sweep) At(values ...int) *SweepPoint {
	for i := range s.Points {
		if slices.Equal(s.Points[i].Values, values) {
			return &s.Points[i]
		}
	}
	return nil
}

// Marked says what the points to choose are, see Choose.
func (s *Sweep) Marked() string {
	if s.Counts() {
		return "best"
	}
	return "largest"
}

// Counts reports whether one of the axes counts items.
func (s *Sweep) Counts() bool {
	return slices.ContainsFunc(s.Axes, func(a SweepAxis) bool { return a.Items })
}

// Choose marks the points within the limit, and of these the best, which it returns. Along axes that count items that is the point with
// the most items a second, at each combination of the other extents: items of one size do not compare with those of another. Where no
// axis counts items it is the largest item within a limit, and none without one, since smaller ones are always faster.
func (s *Sweep) Choose() (best []int) {
	counted := s.Counts()
	groups, at := [][]SweepPoint{}, map[string]int{}
	places := [][]int{}
	for i, p := range s.Points {
		key := ""
		if counted {
			key = s.itemText(&p)
		}
		g, ok := at[key]
		if !ok {
			g = len(groups)
			at[key], groups, places = g, append(groups, nil), append(places, nil)
		}
		groups[g], places[g] = append(groups[g], p), append(places[g], i)
	}
	for g, points := range groups {
		k := ChooseBest(points, s.LatencyLimit)
		if !counted {
			k = largest(points, s.LatencyLimit)
		}
		for i, p := range points {
			at := &s.Points[places[g][i]]
			at.Within, at.Best, at.Alike = p.Within, i == k, p.Alike
		}
		if k >= 0 {
			best = append(best, places[g][k])
		}
	}
	return best
}

// itemText tells the size of a point's items: its extents along the axes that do not count them.
func (s *Sweep) itemText(p *SweepPoint) string {
	text := ""
	for k, a := range s.Axes {
		if !a.Items {
			text += fmt.Sprint(p.Values[k], ",")
		}
	}
	return text
}

// largest returns the point within a limit whose extents have the largest product; -1 where there is none, or no limit.
func largest(points []SweepPoint, limit time.Duration) int {
	best, most := -1, 0.0
	for i, p := range points {
		size := 1.0
		for _, v := range p.Values {
			size *= float64(v)
		}
		if limit > 0 && p.Within && size > most {
			best, most = i, size
		}
	}
	return best
}

// ChooseBest marks the points whose median latency is not over a limit, where that is not 0, and of these the one with the most
// items a second, which it returns; -1 where none keeps the limit. Those that cannot be told from it are marked as alike.
func ChooseBest(points []SweepPoint, limit time.Duration) (best int) {
	best = -1
	for i := range points {
		p := &points[i]
		p.Within, p.Best, p.Alike = limit == 0 || p.Latency.Median <= limit, false, false
		if p.Within && (best < 0 || p.Throughput > points[best].Throughput) {
			best = i
		}
	}
	if best < 0 {
		return best
	}
	points[best].Best = true
	for i := range points {
		p := &points[i]
		p.Alike = i != best && p.Within && points[best].over(p).Noise()
	}
	return best
}

// over returns how many times as many items a second as another point one makes, with the interval that those of both medians give: one
// was measured after the other.
func (p *SweepPoint) over(other *SweepPoint) Speed {
	if p.Throughput == 0 || other.Throughput == 0 || p.Latency.Median == 0 || other.Latency.Median == 0 {
		return Speed{}
	}
	interval := func(x *SweepPoint) Interval {
		return Interval{x.Latency.Median, float64(x.Low), float64(x.High)}
	}
	s := interval(p).Over(interval(other))
	return s.Per(p.Throughput / other.Throughput / s.Ratio)
}
