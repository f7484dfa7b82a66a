package sessions

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/report"
)

// forEach runs an engine over the data, a batch at a time, and gives each batch's outputs, in order, to use until it says
// no. Batches run at the same time, each on a context of its own: that is faster than sharing the kernels of one small
// batch among the workers, and nothing is timed here.
func (s *stages) forEach(ctx context.Context, batch int, l *run.Loaded, phase string, use func(b int, out map[string]graph.Value) bool) error {
	s.device.Lock()
	defer s.device.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	size := max(1, batch)
	total := (s.Data.Len() + size - 1) / size
	workers := max(1, min(total, l.Backend().Info().Threads))
	lanes := make([]chan result, workers) // worker w has batches w, w+workers, ...
	for w := range lanes {
		lanes[w] = make(chan result, 8)
		go s.runBatches(ctx, l, phase, lanes[w], w, workers, total, size)
	}
	defer func() { // whatever the reason to end: nothing may run on when the device is free again
		cancel()
		for _, lane := range lanes {
			for range lane {
			}
		}
	}()
	for b := range total {
		r, ok := <-lanes[b%workers]
		switch {
		case !ok:
			return ctx.Err()
		case r.err != nil:
			return r.err
		}
		if b%16 == 0 {
			s.progress(report.Progress{Phase: phase, Done: b * size, Total: s.Data.Len()})
		}
		if !use(b, r.outputs) {
			break
		}
	}
	return nil
}

// result is what one batch gave.
type result struct {
	outputs map[string]graph.Value
	err     error
}

// runBatches, of a phase, runs every stride-th batch from first on and sends the outputs to lane, which it closes.
func (s *stages) runBatches(ctx context.Context, l *run.Loaded, phase string, lane chan<- result, first, stride, total, size int) {
	defer close(lane)
	defer func() {
		if v := recover(); v != nil { // an error in the program, which the loop's caller reports as one
			lane <- result{err: fmt.Errorf("internal error: %v\n%s", v, debug.Stack())}
		}
	}()
	c, err := l.NewContext()
	if err != nil {
		lane <- result{err: err}
		return
	}
	defer c.Close()
	b := first
	s.watch(ctx, c, func() (report.Progress, int) {
		return report.Progress{Phase: phase, Done: b * size, Total: s.Data.Len()}, size
	})
	for ; b < total; b += stride {
		if ctx.Err() != nil {
			return
		}
		r := result{}
		var in map[string]graph.Value
		if in, r.err = compare.Stack(s.Data, s.model.Network, b*size, size); r.err == nil {
			if r.err = c.SetInputs(in); r.err == nil {
				if r.err = c.Execute(); r.err == nil {
					r.outputs, r.err = c.Outputs()
				}
			}
		}
		select {
		case lane <- r:
		case <-ctx.Done():
			return
		}
	}
}
