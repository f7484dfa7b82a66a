package describe

import (
	"testing"
	"time"

	"github.com/trtui/trtui/core/run"
)

// TestWalltime: the wall time is that of the samples that are kept, so that their number over it is a rate.
func TestWalltime(t *testing.T) {
	times := &Times{plan: &run.Plan{}}
	for range maxSamples + 10 {
		times.Add(run.Sample{Latency: time.Millisecond, Host: 2 * time.Millisecond})
	}
	if n := len(times.Latency); n == 0 || n > maxSamples || times.Walltime() != time.Duration(n)*2*time.Millisecond {
		t.Errorf("%d samples in %v", n, times.Walltime())
	}
}

func TestBinTimes(t *testing.T) {
	series := func(n int, at func(i int) time.Duration) []time.Duration {
		out := make([]time.Duration, n)
		for i := range out {
			out[i] = at(i)
		}
		return out
	}
	for _, c := range []struct {
		name    string
		samples []time.Duration
		above   int
		filled  int // bins with a count, at least
	}{
		{"none", nil, 0, 0},
		{"one", series(1, func(int) time.Duration { return 5 }), 0, 1},
		{"all equal", series(500, func(int) time.Duration { return time.Millisecond }), 0, 1},
		{"even", series(9600, func(i int) time.Duration { return time.Duration(i) * time.Microsecond }), 0, 96},
		{"a long tail", series(1000, func(i int) time.Duration {
			if i%200 == 0 {
				return time.Second
			}
			return time.Duration(100+i%50) * time.Microsecond
		}), 5, 40},
		{"hours", series(3, func(i int) time.Duration { return time.Duration(i) * 10 * time.Hour }), 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := binTimes(c.samples, LatencyOf(c.samples))
			if len(c.samples) == 0 {
				if b != nil {
					t.Errorf("no samples gave %+v", b)
				}
				return
			}
			sum, filled := b.Above, 0
			for _, n := range b.Counts {
				sum += n
				if n > 0 {
					filled++
				}
			}
			if sum != len(c.samples) || b.Above != c.above || filled < c.filled {
				t.Errorf("%d of %d samples in %d bins, %d above; want %d above: %+v", sum, len(c.samples), filled, b.Above, c.above, b)
			}
		})
	}
}
