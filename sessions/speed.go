package sessions

import (
	"math"
	"slices"
	"time"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
)

// Speed is how many times as fast as a reference a configuration is, with the interval in which the ratio of their medians
// lies with 99 % confidence. Where that covers 1 the difference is noise.
type Speed struct {
	Ratio       float64 // of the reference's time to this one's
	Low, High   float64 // 0 where there are too few measurements to tell
	Significant bool    // the interval leaves 1 out, and the ratio is not within leastSpeed of it
	SideBySide  bool    // both were measured in the same rounds, and what slowed the machine down slowed both
}

// Beside is how fast a configuration is beside another one that was measured in the same rounds.
type Beside struct {
	Config config.Config // the other one
	Same   bool          `json:",omitempty"` // both have one engine, to the bit: what differs is noise
	Speed
}

// Known reports whether there were enough measurements for an interval.
func (s Speed) Known() bool { return s.Low > 0 && s.High > 0 }

// The rounds of a measurement, and the chance that an interval leaves the true value out.
const (
	rounds     = 15
	confidence = 0.01
)

// leastSpeed is the least difference between two measurements that is one: engines with the same kernels differ by up to
// 1.4 %, all rounds long, with where their tensors happen to lie.
const leastSpeed = 0.02

// newSpeed returns a ratio with its interval.
func newSpeed(ratio, low, high float64, sideBySide bool) Speed {
	return Speed{Ratio: ratio, Low: low, High: high, SideBySide: sideBySide,
		Significant: (low > 1 || high > 0 && high < 1) && max(ratio, 1/ratio) >= 1+leastSpeed}
}

// exactSpeed compares times that do not vary, as estimates.
func exactSpeed(reference, own time.Duration) Speed {
	ratio := float64(reference) / float64(max(own, 1))
	return Speed{Ratio: ratio, Low: ratio, High: ratio, Significant: ratio != 1, SideBySide: true}
}

// pairedSpeed compares medians of the same rounds: the ratio in the median round, whatever a round has in common.
func pairedSpeed(reference, own []time.Duration) Speed {
	ratios := make([]float64, min(len(reference), len(own)))
	for i := range ratios {
		ratios[i] = float64(reference[i]) / float64(max(own[i], 1))
	}
	ratio, low, high := medianInterval(ratios)
	return newSpeed(ratio, low, high, true)
}

// medianInterval returns the median of independent values and the interval that the sign test gives for it: from the k-th
// smallest to the k-th largest value, where less than confidence/2 of all samples of that size have fewer than k values
// below their true median. It supposes nothing of how the values are distributed. With fewer than eight there is none.
func medianInterval(values []float64) (median, low, high float64) {
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
	n := min(rounds, len(samples)/2)
	medians := make([]float64, n)
	for i := range medians {
		medians[i] = float64(run.Summarize(samples[i*len(samples)/n : (i+1)*len(samples)/n]).Median)
	}
	return medians
}

// Measured is what is known of a configuration's times.
type Measured struct {
	Config    config.Config
	Median    time.Duration
	Low, High time.Duration // see [TimingsReport]; 0 where that is not known
	Beside    *Beside       // nil: none was
	Estimated bool
}

// Measured returns what a report says of its configuration.
func (r *TimingsReport) Measured(cfg config.Config) Measured {
	return Measured{cfg, r.EndToEnd.Median, r.MedianLow, r.MedianHigh, r.Beside, r.Estimated}
}

// Over compares m with a reference: by the rounds that both were measured in, or each beside a third one, and else by each
// one's own samples. quantized is as for [config.Config.Effective].
func (m Measured) Over(reference Measured, quantized bool) Speed {
	same := func(a, b config.Config) bool { return a.SameEngine(b, quantized) }
	own, other := m.Beside, reference.Beside
	switch {
	case m.Estimated:
		return exactSpeed(reference.Median, m.Median)
	case same(m.Config, reference.Config):
		return Speed{Ratio: 1, Low: 1, High: 1, SideBySide: true}
	case own != nil && same(own.Config, reference.Config):
		return own.Speed
	case other != nil && same(other.Config, m.Config):
		s := other.Speed
		return newSpeed(1/s.Ratio, inverse(s.High), inverse(s.Low), s.SideBySide)
	case own != nil && other != nil && same(own.Config, other.Config):
		return newSpeed(own.Ratio/other.Ratio, own.Low*inverse(other.High), own.High*inverse(other.Low), own.SideBySide && other.SideBySide)
	}
	ratio := float64(reference.Median) / float64(max(m.Median, 1))
	return newSpeed(ratio, float64(reference.Low)*inverse(float64(m.High)), float64(reference.High)*inverse(float64(m.Low)), false)
}

// inverse returns 1/v, and 0, which stands for not known, for 0.
func inverse(v float64) float64 {
	if v == 0 {
		return 0
	}
	return 1 / v
}

// speedApart compares samples that were taken one after the other. Each median has an interval of its own; the ratio's is
// from where both are against it to where both are for it. What changed on the machine between the two is in neither.
func speedApart(reference, own []time.Duration) Speed {
	_, aLow, aHigh := medianInterval(roundMedians(reference))
	_, bLow, bHigh := medianInterval(roundMedians(own))
	ratio := float64(run.Summarize(reference).Median) / float64(max(run.Summarize(own).Median, 1))
	return newSpeed(ratio, aLow*inverse(bHigh), aHigh*inverse(bLow), false)
}
