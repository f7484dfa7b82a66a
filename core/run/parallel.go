package run

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/trtui/trtui/core/graph"
)

// Parallel calls do for 0 to n-1, atATime of them at once, until ctx ends or a call fails. It waits for the calls that run,
// and returns the error of the lowest number. A call's panic is its error, a *graph.Fault.
func Parallel(ctx context.Context, n, atATime int, do func(i int) error) error {
	var next atomic.Int64
	var stop atomic.Bool
	var group sync.WaitGroup
	errs := make([]error, n)
	call := func(i int) (err error) {
		defer graph.CatchFault(&err)
		return do(i)
	}
	work := func() {
		for !stop.Load() && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if errs[i] = call(i); errs[i] != nil {
				stop.Store(true)
			}
		}
	}
	for range min(n, atATime) {
		group.Go(work)
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
