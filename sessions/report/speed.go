package report

import (
	"time"

	"github.com/trtui/trtui/sessions/config"
)

// Speed is how many times as fast as a reference a configuration is, with the interval in which the ratio of their medians
// lies with 99 % confidence. Where that covers 1 the difference is noise.
type Speed struct {
	Ratio       float64 // of the reference's time to this one's
	Low, High   float64 // 0 where there are too few measurements to tell
	Significant bool    // the interval leaves 1 out, and what is sure is not within leastSpeed of it
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

// leastSpeed is the least difference between two measurements that is one: engines with the same kernels differ by up to
// 1.4 %, all rounds long, with where their tensors happen to lie.
const leastSpeed = 0.02

// looseSpeed is how many times the lower end of an interval the upper one may be for the ratio in it to stand for all of it.
const looseSpeed = 1.5

// Noise reports whether there were enough measurements, and they tell no difference.
func (s Speed) Noise() bool { return s.Known() && !s.Significant && s.Low != s.High }

// Loose reports whether the interval is so wide that the ratio in it says little.
func (s Speed) Loose() bool { return s.Known() && s.High > looseSpeed*s.Low }

// Sure returns the ratio, 1 for noise; where its interval is so wide that it says little, as on a machine that is busy, it returns
// the end that is nearer to no difference, and loose: the difference is at least that.
func (s Speed) Sure() (ratio float64, loose bool) {
	switch {
	case s.Noise():
		return 1, false
	case !s.Loose():
		return s.Ratio, false
	case s.Low > 1:
		return s.Low, true
	}
	return s.High, true
}

// NewSpeed returns a ratio with its interval.
func NewSpeed(ratio, low, high float64, sideBySide bool) Speed {
	s := Speed{Ratio: ratio, Low: low, High: high, SideBySide: sideBySide, Significant: low > 1 || high > 0 && high < 1}
	sure, _ := s.Sure()
	s.Significant = s.Significant && max(sure, 1/sure) >= 1+leastSpeed
	return s
}

// ExactSpeed compares times that do not vary, as estimates.
func ExactSpeed(reference, own time.Duration) Speed {
	ratio := float64(reference) / float64(max(own, 1))
	return Speed{Ratio: ratio, Low: ratio, High: ratio, Significant: ratio != 1, SideBySide: true}
}

// Measured is what is known of a configuration's times.
type Measured struct {
	Config    config.Config
	Median    time.Duration
	Low, High time.Duration // see [Timings]; 0 where that is not known
	Beside    *Beside       // nil: none was
	Estimated bool
}

// Over compares m with a reference: by the rounds that both were measured in, or each beside a third one, and else by each
// one's own samples. quantized is as for [config.Config.Effective].
func (m Measured) Over(reference Measured, quantized bool) Speed {
	same := func(a, b config.Config) bool { return a.SameEngine(b, quantized) }
	own, other := m.Beside, reference.Beside
	switch {
	case m.Estimated:
		return ExactSpeed(reference.Median, m.Median)
	case same(m.Config, reference.Config):
		return Speed{Ratio: 1, Low: 1, High: 1, SideBySide: true}
	case own != nil && same(own.Config, reference.Config):
		return own.Speed
	case other != nil && same(other.Config, m.Config):
		return other.Speed.Inverse()
	case own != nil && other != nil && same(own.Config, other.Config):
		return NewSpeed(own.Ratio/other.Ratio, own.Low*inverse(other.High), own.High*inverse(other.Low), own.SideBySide && other.SideBySide)
	}
	return m.Interval().Over(reference.Interval())
}

// Took returns what each of several configurations takes, on one scale: by the rounds in which it was measured beside the one beside which
// most were, from that one's median on, and by its own median where it was in none. Medians of different times are apart by what
// happened on the machine in between; rounds are not. quantized is as for [config.Config.Effective].
func Took(list []Measured, quantized bool) (took []time.Duration, beside []bool) {
	same := func(a, b config.Config) bool { return a.SameEngine(b, quantized) }
	var reference *config.Config
	most := 0
	for i := range list {
		n := 0
		for k := range list {
			if list[i].Beside != nil && list[k].Beside != nil && same(list[i].Beside.Config, list[k].Beside.Config) {
				n++
			}
		}
		if n > most {
			reference, most = &list[i].Beside.Config, n
		}
	}
	inRounds := func(m *Measured) bool {
		return reference != nil && m.Beside != nil && m.Median > 0 && m.Beside.Ratio > 0 && same(m.Beside.Config, *reference)
	}
	var base float64
	for i := range list {
		switch m := &list[i]; {
		case reference != nil && m.Median > 0 && same(m.Config, *reference):
			base = float64(m.Median)
		case base == 0 && inRounds(m): // until the reference is found
			base = float64(m.Median) * m.Beside.Ratio
		}
	}
	took, beside = make([]time.Duration, len(list)), make([]bool, len(list))
	for i := range list {
		took[i] = list[i].Median
		of := reference != nil && list[i].Median > 0 && same(list[i].Config, *reference)
		if inRounds(&list[i]) && !of {
			took[i] = time.Duration(base / list[i].Beside.Ratio)
		}
		beside[i] = of || inRounds(&list[i])
	}
	return took, beside
}

// Interval returns the median with the interval that its own samples give.
func (m Measured) Interval() Interval { return Interval{m.Median, float64(m.Low), float64(m.High)} }

// Inverse returns how fast the reference is beside this one.
func (s Speed) Inverse() Speed {
	return NewSpeed(1/s.Ratio, inverse(s.High), inverse(s.Low), s.SideBySide)
}

// Per returns the speed for each unit of work, of which this one does so many times as much as the reference.
func (s Speed) Per(work float64) Speed {
	return NewSpeed(s.Ratio*work, s.Low*work, s.High*work, s.SideBySide)
}

// inverse returns 1/v, and 0, which stands for not known, for 0.
func inverse(v float64) float64 {
	if v == 0 {
		return 0
	}
	return 1 / v
}

// Interval is a median of times with the interval in which it lies with 99 % confidence; Low and High are 0 where that is not
// known.
type Interval struct {
	Median    time.Duration
	Low, High float64
}

// Over compares medians whose intervals were found one after the other. The ratio's interval is from where both are against it
// to where both are for it. What changed on the machine between the two is in neither.
func (i Interval) Over(reference Interval) Speed {
	ratio := float64(reference.Median) / float64(max(i.Median, 1))
	return NewSpeed(ratio, reference.Low*inverse(i.High), reference.High*inverse(i.Low), false)
}
