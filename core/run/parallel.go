package run

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Parallel calls do for 0 to n-1, atATime of them at once, until ctx ends or a call fails. It waits for the calls that run,
// and returns the error of the lowest number. A call's panic is the caller's.
func Parallel(ctx context.Context, n, atATime int, do func(i int) error) error {
	var next atomic.Int64
	var stop atomic.Bool
	var panicked atomic.Pointer[string]
	var group sync.WaitGroup
	errs := make([]error, n)
	work := func() {
		defer func() {
			if v := recover(); v != nil {
				text := fmt.Sprintf("%v\n%s", v, debug.Stack())
				panicked.Store(&text)
				stop.Store(true)
			}
		}()
		for !stop.Load() && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if errs[i] = do(i); errs[i] != nil {
				stop.Store(true)
			}
		}
	}
	for range min(n, atATime) {
		group.Go(work)
	}
	group.Wait()
	if text := panicked.Load(); text != nil {
		panic(*text)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
