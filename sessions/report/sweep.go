package report

import "time"

// Sweep is how an engine does over ranges of its inputs' extents (trtui bench --sweep).
type Sweep struct {
	Axes         []SweepAxis
	LatencyLimit time.Duration `json:",omitempty"` // 0: none
	Estimated    bool
	Points       []SweepPoint // in the order of the axes' values, those of the last axis first
}

// SweepAxis is an extent that is varied.
type SweepAxis struct {
	Name   string // of the symbol
	Values []int
}

// SweepPoint is the engine at one shape.
type SweepPoint struct {
	Values      []int            // of the axes
	Shapes      map[string][]int `entry:"input,shape"`
	Profile     int              // of the engine, that serves it
	Batch       int
	Latency     Latency
	Throughput  float64 `unit:"items_per_s"`
	MemoryBytes int     // of activations, workspace, inputs and outputs that this shape needs
	HeldBytes   int     // of these that the context has, whatever the shape
	Within      bool    `output:"within_limit"` // its median latency is not over the limit
	Best        bool    // the most items a second of those within the limit
}

// Choose marks the points within the limit, and of these the best.
func (s *Sweep) Choose() {
	best := -1
	for i := range s.Points {
		p := &s.Points[i]
		p.Within, p.Best = s.LatencyLimit == 0 || p.Latency.Median <= s.LatencyLimit, false
		if p.Within && (best < 0 || p.Throughput > s.Points[best].Throughput) {
			best = i
		}
	}
	if best >= 0 {
		s.Points[best].Best = true
	}
}
