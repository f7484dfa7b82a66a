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
// smallest to the k-th largest value, where less than half a percent of all samples of that size have fewer than k values
// below their true median. It supposes nothing of how the values are distributed. With fewer than eight there is none.
func MedianInterval(values []float64) (median, low, high float64) {
	return MedianIntervalAt(values, confidence)
}

// MedianIntervalAt is MedianInterval with the chance that the interval leaves the true median out.
func MedianIntervalAt(values []float64, chance float64) (median, low, high float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), 0, 0
	}
	s := slices.Sorted(slices.Values(values))
	median = (s[(n-1)/2] + s[n/2]) / 2
	k, tail := 0, 0.0
	for {
		if tail += exactly(n, k); tail > chance/2 {
			break
		}
		k++
	}
	if k == 0 {
		return median, 0, 0
	}
	return median, s[k-1], s[n-k]
}

// exactly returns the chance that k of n values lie below their true median, which for a few thousand has no place in powers of two.
func exactly(n, k int) float64 {
	log := func(m int) float64 { v, _ := math.Lgamma(float64(m + 1)); return v }
	return math.Exp(log(n) - log(k) - log(n-k) - float64(n)*math.Ln2)
}

// roundMedians cuts samples, in the order in which they were taken, into so many rounds, and returns the median of each: what
// disturbs the machine lasts for many samples, which are therefore not independent of each other.
func roundMedians(samples []time.Duration, rounds int) []float64 {
	n := min(rounds, len(samples)/2)
	medians := make([]float64, n)
	for i := range medians {
		medians[i] = float64(run.Summarize(samples[i*len(samples)/n : (i+1)*len(samples)/n]).Median)
	}
	return medians
}

// RoundsOf returns the medians of so many rounds of samples.
func RoundsOf(samples []time.Duration, n int) []time.Duration {
	medians := roundMedians(samples, n)
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
	_, low, high := MedianInterval(roundMedians(samples, Rounds))
	return report.Interval{Median: run.Summarize(samples).Median, Low: low, High: high}
}
