package compare

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/run"
)

// Lane is one engine of a measurement of several.
type Lane struct {
	Context *run.ExecutionContext
	Turn    run.Profiling // in each round
	Each    func(run.Sample)
	Medians []time.Duration // by round
	P99s    []time.Duration // by round
}

// turnWarmUp is how long an engine runs before its turn, so that what another one left in the caches is gone.
const turnWarmUp = 5 * time.Millisecond

// Turn returns a round's part of a measurement.
func Turn(p run.Profiling, rounds int) run.Profiling {
	return run.Profiling{WarmUp: turnWarmUp, Iterations: (p.Iterations + rounds - 1) / rounds, Duration: p.Duration / time.Duration(rounds), PerStep: p.PerStep}
}

// Alternate measures engines in so many rounds, in each of which every one has its turn, first once each: a machine that is
// slower for a while is so for all of them. Begins is told of each round before it.
func Alternate(ctx context.Context, lanes []*Lane, rounds int, begins func(round int)) error {
	for round := range rounds {
		begins(round)
		for i := range lanes {
			l := lanes[(round+i)%len(lanes)]
			var turn []time.Duration
			err := l.Context.Profile(ctx, l.Turn, func(sample run.Sample) {
				turn = append(turn, sample.Latency)
				l.Each(sample)
			})
			if err != nil {
				return err
			}
			s := run.Summarize(turn)
			l.Medians, l.P99s = append(l.Medians, s.Median), append(l.P99s, s.P99)
		}
	}
	return nil
}
