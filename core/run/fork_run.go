package run

import (
	"time"

	"github.com/trtui/trtui/kernels"
)

// forkRun is a fork of a frame, made once: running allocates nothing.
type forkRun struct {
	Fork
	number  int
	errs    []error                          // by lane
	lane    func(lane int, s kernels.Stream) // launches its steps
	context *ExecutionContext                // of the present run
	marks   *marks
}

// newForks returns what runs a plan's forks.
func newForks(forks []Fork) []*forkRun {
	var runs []*forkRun
	for k, f := range forks {
		r := &forkRun{Fork: f, number: k, errs: make([]error, len(f.Lanes))}
		r.lane = r.launch
		runs = append(runs, r)
	}
	return runs
}

// forks returns the forks whose lanes are to run side by side here: none where steps are watched or count extents, where workspaces
// that the plan has no room for share memory, and where the stream has nobody for a second lane.
func (c *ExecutionContext) forks() []*forkRun {
	if len(c.beside) == 0 || c.inTurn || c.watch != nil || c.start != nil || c.own[2].Host != nil {
		return nil
	}
	if f, ok := c.stream.(kernels.Forker); !ok || f.Lanes() < 2 {
		return nil
	}
	return c.beside
}

// run runs all lanes; the error is that of the first lane that has one.
func (r *forkRun) run(c *ExecutionContext, m *marks) error {
	r.context, r.marks = c, m
	m.forkBegins(r.number)
	c.stream.(kernels.Forker).Fork(len(r.Lanes), r.lane)
	m.forkEnded(c, r.number)
	for _, err := range r.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// launch launches the steps of a lane.
func (r *forkRun) launch(lane int, s kernels.Stream) {
	c := r.context
	r.errs[lane] = nil
	for _, i := range r.Lanes[lane] {
		r.marks.begins(s, i)
		if c.loaded.Plan.Steps[i].Once {
			r.marks.ends(s, i)
			continue
		}
		if err := c.frame.launch(c, s, i); err != nil {
			r.errs[lane] = c.ofStep(i, err)
			return
		}
		r.marks.ends(s, i)
	}
}

// InTurn makes the context run the lanes of forks one after the other, or side by side again.
func (c *ExecutionContext) InTurn(yes bool) { c.inTurn = yes }

// forkTimes returns what the plan's forks took in the execution that was timed last.
func (c *ExecutionContext) forkTimes() []time.Duration {
	if len(c.beside) == 0 {
		return nil
	}
	times := make([]time.Duration, len(c.beside))
	for k, f := range c.beside {
		times[k] = c.marks.fork(c.stream, f.Fork, k)
	}
	return times
}

// ExecuteForks runs all steps once and returns what the plan's forks took.
func (c *ExecutionContext) ExecuteForks() ([]time.Duration, error) {
	if _, err := c.ExecuteTimed(make([]time.Duration, len(c.args))); err != nil {
		return nil, err
	}
	return c.forkTimes(), nil
}
