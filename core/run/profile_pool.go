package run

import (
	"context"
	"sync/atomic"
	"time"
)

// ProfileTogether runs contexts at the same time, each again and again on the inputs that it has, and gives the latency of every
// inference, of whichever context, once all have ended. The second result is from the first inference's begin to the last one's
// end: the number of latencies over it is the throughput. Every context runs until all together have done p.Iterations for each,
// and p.Duration is over; a latency is of the host, the wait for the device included.
func ProfileTogether(ctx context.Context, contexts []*ExecutionContext, p Profiling) ([]time.Duration, time.Duration, error) {
	run := func(until func(done int64) bool) ([][]time.Duration, error) {
		samples := make([][]time.Duration, len(contexts))
		var done atomic.Int64
		err := Parallel(ctx, len(contexts), len(contexts), func(i int) error {
			for !until(done.Load()) {
				begin := time.Now()
				if err := contexts[i].ExecuteUntil(ctx); err != nil {
					return err
				}
				samples[i] = append(samples[i], time.Since(begin))
				done.Add(1)
			}
			return nil
		})
		return samples, err
	}
	begin := time.Now()
	if _, err := run(func(done int64) bool { return done >= int64(len(contexts)) && time.Since(begin) >= p.WarmUp }); err != nil {
		return nil, 0, err
	}
	begin = time.Now()
	samples, err := run(func(done int64) bool {
		return done >= int64(len(contexts)*p.Iterations) && time.Since(begin) >= p.Duration
	})
	took := time.Since(begin)
	var all []time.Duration
	for _, s := range samples {
		all = append(all, s...)
	}
	return all, took, err
}
