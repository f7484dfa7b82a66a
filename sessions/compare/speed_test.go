package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// noisy returns medians of rounds about a time on a machine that is slowed down for whole stretches: by so much in each.
func noisy(rng *rand.Rand, median time.Duration, slowed []float64) []time.Duration {
	list := make([]time.Duration, len(slowed))
	for i, s := range slowed {
		list[i] = time.Duration(float64(median) * s * (1 + 0.02*rng.NormFloat64()))
	}
	return list
}

// still returns so many rounds in which nothing slows the machine down.
func still(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = 1
	}
	return s
}

// TestPairedSpeed compares two engines on a machine whose speed changes by the round.
func TestPairedSpeed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	stretches := func() []float64 {
		s := make([]float64, Rounds)
		for i := range s {
			s[i] = 1 + rng.Float64()
		}
		return s
	}
	const trials = 2000
	wrong, missed := 0, 0
	for range trials {
		s := stretches()
		if PairedSpeed(noisy(rng, time.Millisecond, s), noisy(rng, time.Millisecond, s)).Significant {
			wrong++
		}
		faster := PairedSpeed(noisy(rng, time.Millisecond, s), noisy(rng, 900*time.Microsecond, s))
		if !faster.Significant || faster.Ratio < 1 {
			missed++
		}
	}
	if wrong > trials/100 {
		t.Errorf("%d of %d equal engines differ", wrong, trials)
	}
	if missed > trials/100 {
		t.Errorf("%d of %d engines that are a tenth faster are not", missed, trials)
	}
	if s := PairedSpeed([]time.Duration{5, 5, 5}, []time.Duration{1, 1, 1}); s.Significant || s.Ratio != 5 || !s.SideBySide {
		t.Errorf("three rounds tell %+v", s)
	}
	if s := PairedSpeed(noisy(rng, time.Millisecond, still(1000)), noisy(rng, 990*time.Microsecond, still(1000))); s.Significant || s.Low <= 1 {
		t.Errorf("a hundredth, however sure, is %+v", s)
	}
	if s := report.ExactSpeed(200, 100); !s.Significant || s.Ratio != 2 {
		t.Errorf("%+v of estimates", s)
	}
	if s := report.ExactSpeed(100, 100); s.Significant || s.Ratio != 1 {
		t.Errorf("%+v of equal estimates", s)
	}
}

func TestMedianInterval(t *testing.T) {
	values := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[(i*11)%n] = float64(i + 1)
		}
		return v
	}
	for _, c := range []struct {
		n                 int
		median, low, high float64
	}{ // of tables of the sign test
		{1, 1, 0, 0}, {7, 4, 0, 0}, {8, 4.5, 1, 8}, {9, 5, 1, 9}, {15, 8, 3, 13}, {20, 10.5, 4, 17}, {25, 13, 6, 20}, {2000, 1000.5, 942, 1059}, // the last one where powers of two have no place for it
	} {
		if median, low, high := MedianInterval(values(c.n)); median != c.median || low != c.low || high != c.high {
			t.Errorf("of %d: %g from %g to %g, want %g from %g to %g", c.n, median, low, high, c.median, c.low, c.high)
		}
	}
	if median, _, _ := MedianInterval(nil); !math.IsNaN(median) {
		t.Errorf("the median of nothing is %g", median)
	}
}
