package report

import (
	"fmt"
	"math"
	"time"
)

// Said is a speed as it stands beside two times: the ratio is that of these, which a reader can check. Rounds in which both were
// measured may have another one, where the machine was not the same to all samples: it is said as that.
type Said struct {
	Ratio  float64 // of the reference's time to the other one's, as they stand there
	Rounds float64 // in the median round; 0 where that is the same, or there were no rounds
}

// saidApart is how far two ratios are apart that are not one.
const saidApart = 0.015

// Beside returns what is said of a speed beside the times of both.
func (s Speed) Beside(reference, own time.Duration) Said {
	if reference <= 0 || own <= 0 {
		return Said{Ratio: s.Ratio}
	}
	said := Said{Ratio: float64(reference) / float64(own)}
	if s.SideBySide && s.Ratio > 0 && math.Abs(math.Log(s.Ratio/said.Ratio)) > saidApart {
		said.Rounds = s.Ratio
	}
	return said
}

// InRounds writes the ratio of rounds, as in "2.10x in rounds", empty where there is no other one.
func (s Said) InRounds() string {
	if s.Rounds == 0 {
		return ""
	}
	return fmt.Sprintf("%.2fx in rounds", s.Rounds)
}

// AsFast writes the ratio of the times, and behind it that of rounds where it is another one.
func (s Said) AsFast() string {
	text := fmt.Sprintf("%.2fx as fast", s.Ratio)
	if s.Rounds != 0 {
		text += ", " + s.InRounds()
	}
	return text
}

// Faster writes the ratio as how many times faster or slower it is, and behind it that of rounds.
func (s Said) Faster() string {
	faster := func(ratio float64) string {
		if ratio < 1 {
			return fmt.Sprintf("%.2fx slower", 1/ratio)
		}
		return fmt.Sprintf("%.2fx faster", ratio)
	}
	text := faster(s.Ratio)
	if s.Rounds != 0 {
		text += ", " + faster(s.Rounds) + " in rounds"
	}
	return text
}

// Undecided says of a speed that tells no difference why it does not: that there is none that counts, or that the rounds are too far
// apart to tell, with the interval.
func (s Speed) Undecided() string {
	if s.Noise() && s.Loose() {
		return fmt.Sprintf("too noisy to tell, %.2fx to %.2fx as fast", s.Low, s.High)
	}
	return "no significant difference"
}
