package report

import "time"

// Latency holds the statistics of repeated measurements.
type Latency struct {
	Count                                 int
	Mean, Median, Min, Max, P90, P95, P99 time.Duration
	CV                                    float64 // standard deviation over mean
}

// Rate returns how many items a second inferences of so many make, one after the other at the median latency: what a few that were
// disturbed take does not count in the one figure and not in the other.
func (l *Latency) Rate(items int) float64 {
	if l.Median <= 0 {
		return 0
	}
	return float64(items) / l.Median.Seconds()
}

// UnstableCV is the coefficient of variation over which a latency is called unstable, as trtexec does.
const UnstableCV = 0.025

// Unstable reports whether a latency varied too much to rely on it.
func (l *Latency) Unstable() bool { return l.CV > UnstableCV }

// InferenceSplit is where the time of an inference goes whose data comes from and returns to the caller's own memory: medians
// of inferences apart from those of EndToEnd, which leave the data where it is. What is computed is that of EndToEnd: of other
// inferences it would be another time, on a machine that does other work.
type InferenceSplit struct {
	Samples     int
	Enqueue     time.Duration // of the host, to hand the work to the device
	InPlace     bool          `output:"enqueue_in_place"` // the host does the work itself: nothing is enqueued, and copies stay in its memory
	H2D         time.Duration `output:"h2d"`
	Compute     time.Duration
	D2H         time.Duration `output:"d2h"`
	InputBytes  int64         // copied in
	OutputBytes int64         // copied out
}
