package stages

import (
	"context"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
)

// maxContexts bounds how many contexts are measured at the same time.
const maxContexts = 64

// IsContexts reports whether an axis of a sweep is how many contexts there are: an extent of that name goes first.
func IsContexts(n *graph.Network, axis string) bool {
	return axis == report.ContextsAxis && n != nil && !slices.Contains(n.Unbound(nil), axis)
}

// CheckContexts returns an error for numbers of contexts that are not measured, and for a device where they cannot be.
func (d *device) CheckContexts(values []int) error {
	if d.Estimated() {
		return fmt.Errorf("axis %s: the times of %s are computed for one inference at a time; leave the axis out, or measure on a device",
			report.ContextsAxis, d.Backend.Info().Name)
	}
	if most := slices.Max(values); most > maxContexts {
		return fmt.Errorf("axis %s: %d contexts; %d are the most", report.ContextsAxis, most, maxContexts)
	}
	return nil
}

// Together measures n contexts of an engine at the same time, at shapes of the plan at, all on the same inputs. Each has an even
// share of the threads of a CPU, one at least; on a GPU it has a stream of its own.
func (m *timing) Together(ctx context.Context, l *run.Loaded, at *run.Plan, in map[string]numeric.Value, n int, p run.Profiling) (point report.SweepPoint, err error) {
	threads := 0
	if total := m.device.Backend.Info().Threads; total > 0 {
		threads = max(1, total/n)
	}
	shapes := at.Network.ShapesAt(at.Env())
	contexts := make([]*run.ExecutionContext, n)
	defer func() {
		for _, c := range contexts {
			if c != nil {
				c.Close()
			}
		}
	}()
	held := 0
	for i := range contexts {
		if contexts[i], err = l.NewContextOf(threads); err != nil {
			return point, fmt.Errorf("context %d of %d: %w", i+1, n, err)
		}
		if err = contexts[i].SetShapes(shapes); err == nil {
			err = contexts[i].SetInputs(in)
		}
		if err != nil {
			return point, err
		}
		held += contexts[i].Held()
	}
	m.device.Busy.Lock()
	defer m.device.Busy.Unlock()
	samples, took, err := run.ProfileTogether(ctx, contexts, p)
	if err != nil {
		return point, err
	}
	point = summed(at, describe.LatencyOf(samples))
	m.bound(&point, samples)
	point.Throughput = float64(point.Batch*len(samples)) / max(took.Seconds(), 1e-9)
	point.Shapes, point.Contexts, point.Threads = shapes, n, threads
	point.MemoryBytes, point.HeldBytes = n*point.MemoryBytes, held
	return point, nil
}
