package run

import (
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Split is one inference as a caller sees it whose data is in memory of its own: the inputs are copied to where the plan
// reads them, the work is enqueued and done, and the outputs are copied back.
type Split struct {
	Enqueue time.Duration // of the host, to hand the work to the device; 0 where the host does the work itself
	H2D     time.Duration // the inputs' way to the context's memory
	Compute time.Duration
	D2H     time.Duration // the outputs' way back
}

// traffic is the caller's memory for splits.
type traffic struct {
	slots []int
	data  [][]byte
}

// bytes returns the size of all data.
func (t traffic) bytes() int {
	n := 0
	for _, d := range t.data {
		n += len(d)
	}
	return n
}

// traffic returns memory for the tensors that have one of the slots by name.
func (c *ExecutionContext) traffic(tensors []*graph.Tensor, slots map[string]int) traffic {
	var t traffic
	for _, x := range tensors {
		if i, ok := slots[x.Name]; ok {
			t.slots = append(t.slots, i)
			t.data = append(t.data, make([]byte, c.loaded.Plan.Slots[i].Desc.Bytes()))
		}
	}
	return t
}

// Shared reports whether the context's memory is the host's, which does the work itself: copies are the host's own, and there
// is no queue.
func (c *ExecutionContext) Shared() bool { return c.io.Host != nil }

// Copied returns the bytes of inputs and outputs that ExecuteSplit copies.
func (c *ExecutionContext) Copied() (in, out int) {
	n := c.loaded.Plan.Network
	return c.traffic(n.Inputs, c.inputs).bytes(), c.traffic(n.Outputs, c.outputs).bytes()
}

// prepareSplit makes the caller's memory, and gives it the inputs that the context has.
func (c *ExecutionContext) prepareSplit() error {
	if c.caller == nil {
		n := c.loaded.Plan.Network
		c.caller, c.changed = &[2]traffic{c.traffic(n.Inputs, c.inputs), c.traffic(n.Outputs, c.outputs)}, true
	}
	if !c.changed {
		return nil
	}
	in := c.caller[0]
	for k, slot := range in.slots {
		if err := c.download(in.data[k], slot); err != nil {
			return err
		}
	}
	c.changed = false
	return nil
}

// ExecuteSplit runs all steps once, on the inputs that the context has, and copies inputs and outputs from and to the caller's
// memory before and after, as a caller would.
func (c *ExecutionContext) ExecuteSplit() (Split, error) {
	if err := c.begin(); err != nil {
		return Split{}, err
	}
	mem := c.mem // of outputs that are counted all that there is room for
	if err := c.prepareSplit(); err != nil {
		return Split{}, err
	}
	in, out := &c.caller[0], &c.caller[1]
	b, plan := c.loaded.backend, c.loaded.Plan
	start := c.stream.Record()
	for k, slot := range in.slots {
		if err := b.Upload(c.stream, mem[slot], in.data[k]); err != nil {
			return Split{}, ofTensor(plan.Slots[slot], err)
		}
	}
	there := c.stream.Record()
	began := time.Now()
	if err := c.submit(); err != nil {
		return Split{}, err
	}
	enqueue := time.Since(began)
	done := c.stream.Record()
	for k, slot := range out.slots {
		if err := b.Download(c.stream, out.data[k], mem[slot]); err != nil {
			return Split{}, ofTensor(plan.Slots[slot], err)
		}
	}
	back := c.stream.Record()
	if err := c.finish(); err != nil {
		return Split{}, err
	}
	between := func(a, z kernels.Mark) time.Duration { return max(0, c.stream.Elapsed(a, z)) }
	s := Split{Enqueue: enqueue, H2D: between(start, there), Compute: between(there, done), D2H: between(done, back)}
	if c.Shared() {
		s.Enqueue = 0
	}
	return s, c.stream.Wait() // an error of the marks
}
