package compare

import (
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/report"
)

// The rounds of a measurement, and the chance that an interval leaves the true value out.
const (
	Rounds     = 15
	confidence = 0.01
)

// PairedSpeed compares medians of the same rounds: the ratio in the median round, whatever a round has in common.
func PairedSpeed(reference, own []time.Duration) report.Speed {
	ratios := make([]float64, min(len(reference), len(own)))
	for i := range ratios {
		ratios[i] = float64(reference[i]) / float64(max(own[i], 1))
	}
	ratio, low, high := MedianInterval(ratios)
	return report.NewSpeed(ratio, low, high, true)
}

// MedianInterval returns the median of independent values and the interval that the sign test gives for it: from the k-th
// smallest to the k-th largest value, where less than confidence/2 of all samples of that size have fewer than k values
// below their true median. It supposes nothing of how the values are distributed. With fewer than eight there is none.
func MedianInterval(values []float64) (median, low, high float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), 0, 0
	}
	s := slices.Sorted(slices.Values(values))
	median = (s[(n-1)/2] + s[n/2]) / 2
	k, tail, term := 0, 0.0, math.Exp2(-float64(n)) // term: the chance that exactly k values lie below
	for tail+term <= confidence/2 {
		tail += term
		term *= float64(n-k) / float64(k+1)
		k++
	}
	if k == 0 {
		return median, 0, 0
	}
	return median, s[k-1], s[n-k]
}

// roundMedians cuts samples, in the order in which they were taken, into rounds, and returns the median of each: what
// disturbs the machine lasts for many samples, which are therefore not independent of each other.
func roundMedians(samples []time.Duration) []float64 {
	n := min(Rounds, len(samples)/2)
	medians := make([]float64, n)
	for i := range medians {
		medians[i] = float64(run.Summarize(samples[i*len(samples)/n : (i+1)*len(samples)/n]).Median)
	}
	return medians
}

// RoundsOf returns the medians of rounds of samples.
func RoundsOf(samples []time.Duration) []time.Duration {
	medians := roundMedians(samples)
	rounds := make([]time.Duration, len(medians))
	for i, m := range medians {
		rounds[i] = time.Duration(m)
	}
	return rounds
}

// SpeedApart compares samples that were taken one after the other.
func SpeedApart(reference, own []time.Duration) report.Speed {
	return IntervalOf(own).Over(IntervalOf(reference))
}

// IntervalOf returns the median of samples with its interval.
func IntervalOf(samples []time.Duration) report.Interval {
	_, low, high := MedianInterval(roundMedians(samples))
	return report.Interval{Median: run.Summarize(samples).Median, Low: low, High: high}
}
