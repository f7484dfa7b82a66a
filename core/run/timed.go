package run

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/kernels"
)

// marks are when the steps of an execution begin and end. Those of a nil *marks are not recorded.
type marks struct {
	begin, end []kernels.Mark    // by step; one behind the other share one
	first      kernels.Mark      // when the execution began
	last       kernels.Mark      // of what ended last
	forks      [][2]kernels.Mark // where the plan's forks begin and end
	beside     bool              // their lanes ran side by side
}

func newMarks(f *frame) *marks {
	n := len(f.args)
	return &marks{begin: make([]kernels.Mark, n), end: make([]kernels.Mark, n), forks: make([][2]kernels.Mark, len(f.beside))}
}

// start marks the begin of an execution.
func (m *marks) start(c *ExecutionContext, beside []*forkRun) {
	if m != nil {
		m.beside, m.first = len(beside) > 0, c.stream.Record()
		m.last = m.first
	}
}

// ended marks the end of a step that began when the one before had ended.
func (m *marks) ended(c *ExecutionContext, step int) {
	if m != nil {
		m.begin[step] = m.last
		m.last = c.stream.Record()
		m.end[step] = m.last
	}
}

// begins and ends mark a step of a lane.
func (m *marks) begins(s kernels.Stream, step int) {
	if m != nil {
		m.begin[step] = s.Record()
	}
}

func (m *marks) ends(s kernels.Stream, step int) {
	if m != nil {
		m.end[step] = s.Record()
	}
}

func (m *marks) forkBegins(fork int) {
	if m != nil {
		m.forks[fork][0] = m.last
	}
}

func (m *marks) forkEnded(c *ExecutionContext, fork int) {
	if m != nil {
		m.last = c.stream.Record()
		m.forks[fork][1] = m.last
	}
}

// fork returns how long a fork took.
func (m *marks) fork(s kernels.Stream, f Fork, number int) time.Duration {
	if m.beside {
		return s.Elapsed(m.forks[number][0], m.forks[number][1])
	}
	return s.Elapsed(m.begin[f.First], m.end[f.End()-1])
}

// ExecuteTimed runs all steps once and sets times, which has room for one a step, to each step's; it returns the
// time from end to end. Marks between steps cost little on a CPU, but are not free: it is a mode of its own.
func (c *ExecutionContext) ExecuteTimed(times []time.Duration) (time.Duration, error) {
	c.restart()
	if c.marks == nil {
		c.marks = newMarks(c.frame)
	}
	m := c.marks
	if err := c.submitTimed(); err != nil {
		return 0, err
	}
	if err := c.finish(); err != nil {
		return 0, err
	}
	for i := range times[:len(m.end)] {
		times[i] = c.stream.Elapsed(m.begin[i], m.end[i])
	}
	whole := c.stream.Elapsed(m.first, m.last)
	if err := c.stream.Wait(); err != nil { // of the marks
		return 0, fmt.Errorf("times of steps: %w", err)
	}
	return whole, nil
}

// submitTimed is submit with marks of all steps.
func (c *ExecutionContext) submitTimed() error {
	if err := c.prepare(); err != nil {
		return err
	}
	capturer, ok := c.capturer()
	if !ok {
		return c.enqueue(c.marks)
	}
	if c.stepped == nil {
		g, err := capturer.Capture(func() error { return c.enqueue(c.marks) })
		if err != nil {
			return c.ofGraph(err)
		}
		c.stepped = g
	}
	return c.located(c.stepped.Launch())
}
