package report

import "time"

// Sweep is how an engine does over ranges of its inputs' extents (trtui bench --sweep).
type Sweep struct {
	Axes         []SweepAxis
	LatencyLimit time.Duration `json:",omitempty"` // 0: none
	Estimated    bool
	Points       []SweepPoint // in the order of the axes' values, those of the last axis first
}

// ContextsAxis is the name of the axis that is no extent: how many contexts of the engine run at the same time.
const ContextsAxis = "contexts"

// SweepAxis is an extent that is varied, or how many contexts there are.
type SweepAxis struct {
	Name   string // of the symbol, or ContextsAxis
	Values []int
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
	Throughput  float64 `unit:"items_per_s"` // at the median latency; of contexts that run at the same time, items over the time of all
	MemoryBytes int     // of activations, workspace, inputs and outputs that this shape needs
	HeldBytes   int     // of these that the contexts have, whatever the shape
	Within      bool    `output:"within_limit"` // its median latency is not over the limit
	Best        bool    // the most items a second of those within the limit
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

// Choose marks the points within the limit, and of these the best.
func (s *Sweep) Choose() { ChooseBest(s.Points, s.LatencyLimit) }

// ChooseBest marks the points whose median latency is not over a limit, where that is not 0, and of these the one with the most
// items a second, which it returns; -1 where none keeps the limit.
func ChooseBest(points []SweepPoint, limit time.Duration) (best int) {
	best = -1
	for i := range points {
		p := &points[i]
		p.Within, p.Best = limit == 0 || p.Latency.Median <= limit, false
		if p.Within && (best < 0 || p.Throughput > points[best].Throughput) {
			best = i
		}
	}
	if best >= 0 {
		points[best].Best = true
	}
	return best
}
