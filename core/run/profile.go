package run

import (
	"context"
	"math"
	"slices"
	"time"
)

// Stats sums up repeated measurements of one thing.
type Stats struct {
	Count                  int
	Mean, Median, Min, Max time.Duration
	P10, P25, P75          time.Duration
	P90, P95, P99          time.Duration
	// CV is the coefficient of variation: standard deviation over mean.
	CV float64
}

// Summarize returns the statistics of samples, which are left as they are; the zero Stats for none.
func Summarize(samples []time.Duration) Stats {
	if len(samples) == 0 {
		return Stats{}
	}
	s := slices.Clone(samples)
	slices.Sort(s)
	var sum, squares float64
	for _, d := range s {
		sum += float64(d)
	}
	mean := sum / float64(len(s))
	for _, d := range s {
		squares += (float64(d) - mean) * (float64(d) - mean)
	}
	st := Stats{
		Count: len(s), Mean: time.Duration(mean), Median: Percentile(s, 50), Min: s[0], Max: s[len(s)-1],
		P10: Percentile(s, 10), P25: Percentile(s, 25), P75: Percentile(s, 75), P90: Percentile(s, 90), P95: Percentile(s, 95), P99: Percentile(s, 99),
	}
	if mean > 0 {
		st.CV = math.Sqrt(squares/float64(len(s))) / mean
	}
	return st
}

// Percentile returns the smallest of the sorted samples that is at least as large as p percent of them (nearest rank);
// the median of an even number is the mean of the middle two.
func Percentile(sorted []time.Duration, p float64) time.Duration {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	if p == 50 && n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	i := int(math.Ceil(p/100*float64(n))) - 1
	return sorted[max(0, min(n-1, i))]
}

// Sample is a timed inference, or the mean of several that a device ran in a row.
type Sample struct {
	Latency time.Duration   // end to end, without the copies of inputs and outputs
	Host    time.Duration   // what passed on the host for that, launch and wait included; 0 where times are estimates
	Steps   []time.Duration // by step, one behind the other; nil where only the whole was timed. Valid until the next sample
	Forks   []ForkTime      // by fork of the plan, where steps were timed
	Lanes   []time.Duration // by step, in a lane; those of others as they were. nil where the plan has no forks
	Inside  []Inside        // of the steps of bodies, where steps were timed and there are such
	Split   *Split          // of another inference, with the copies; nil for most samples. Valid until the next sample
}

// splitEvery is how many samples have one with a Split.
const splitEvery = 4

// Profiling says how long to measure: until both a number of samples and a time are reached.
type Profiling struct {
	WarmUp     time.Duration // runs before the first sample
	Iterations int           // at least so many samples
	Duration   time.Duration // and at least for so long
	PerStep    bool          // time every step, in alternation with runs that are timed only as a whole
}

// Profile runs the context's plan again and again on the inputs that it has, which stay on the device as the outputs do:
// caches are warm. each is given every sample as it comes.
//
// Where the stream captures, a sample is the device's time for inferences in a row that last sampleTime, by the inference:
// marks are about 0.5 µs exact, and what a single launch and the wait for it cost the host is not the network's time.
//
// Every few samples an inference runs with the copies that the others go without, but where times are estimates. With PerStep, whole runs and stepped runs alternate, so that the latency is not one with marks in it and the gap
// between it and the sum of the steps is honest.
func (c *ExecutionContext) Profile(ctx context.Context, p Profiling, each func(Sample)) error {
	for start := time.Now(); time.Since(start) < p.WarmUp; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.Execute(); err != nil {
			return err
		}
	}
	n, err := c.inARow()
	if err != nil {
		return err
	}
	times := make([]time.Duration, len(c.args))
	var split Split
	estimated := c.loaded.backend.Info().Estimated // no model has the copies
	start := time.Now()
	for i := 0; i < p.Iterations || time.Since(start) < p.Duration; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := c.sample(n, p.PerStep, times)
		if err != nil {
			return err
		}
		if i%splitEvery == 0 && !estimated {
			if split, err = c.ExecuteSplit(); err != nil {
				return err
			}
			s.Split = &split
		}
		each(s)
	}
	return nil
}

// sample measures n inferences in a row, and with perStep the steps of another one, and the forks of a third. Where times are estimates marks cost
// nothing: one inference gives both.
func (c *ExecutionContext) sample(n int, perStep bool, times []time.Duration) (s Sample, err error) {
	estimated := c.loaded.backend.Info().Estimated
	if !perStep || !estimated {
		begin := time.Now()
		s.Latency, err = c.executeTimed(n)
		if !estimated {
			s.Host = time.Since(begin) / time.Duration(n)
		}
		if err != nil || !perStep {
			return s, err
		}
	}
	c.beginInside()
	whole, err := c.timedInTurn(times)
	s.Inside = c.endInside()
	if estimated {
		s.Latency = whole
	}
	s.Steps = times
	if err == nil && len(c.beside) > 0 {
		err = c.sampleForks(&s)
	}
	return s, err
}

// timedInTurn is ExecuteTimed with lanes one behind the other, so that what steps take is what they take on all workers.
func (c *ExecutionContext) timedInTurn(times []time.Duration) (time.Duration, error) {
	was := c.inTurn
	c.inTurn = true
	defer func() { c.inTurn = was }()
	return c.ExecuteTimed(times)
}

// sampleForks adds what forks took in the execution that was timed last, in turn, and take in another one, side by side.
func (c *ExecutionContext) sampleForks(s *Sample) error {
	inTurn := c.forkTimes()
	lanes := make([]time.Duration, len(c.args))
	if _, err := c.ExecuteTimed(lanes); err != nil {
		return err
	}
	for k, beside := range c.forkTimes() {
		s.Forks = append(s.Forks, ForkTime{inTurn[k], beside})
	}
	s.Lanes = lanes
	return nil
}

// A sample of a captured plan lasts so long, but has no more inferences than that.
const (
	sampleTime    = 5 * time.Millisecond
	maxPerSample  = 1000
	roughEstimate = 4 // inferences to estimate the time of one
)

// inARow returns how many inferences a sample has: one where the host launches every step, and where times are estimates,
// which do not vary.
func (c *ExecutionContext) inARow() (int, error) {
	if _, captures := c.capturer(); !captures || c.loaded.backend.Info().Estimated {
		return 1, nil
	}
	if err := c.Execute(); err != nil { // the first captures
		return 0, err
	}
	one, err := c.executeTimed(roughEstimate)
	if err != nil {
		return 0, err
	}
	return int(max(1, min(maxPerSample, sampleTime/max(1, one)))), nil
}

// executeTimed returns the time of an inference: the mean of n in a row.
func (c *ExecutionContext) executeTimed(n int) (time.Duration, error) {
	start := c.stream.Record()
	for range n {
		if err := c.submit(); err != nil {
			return 0, err
		}
	}
	end := c.stream.Record()
	if err := c.finish(); err != nil {
		return 0, err
	}
	return c.stream.Elapsed(start, end) / time.Duration(n), nil
}
