package run

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// A step may count how many elements there are, such as of boxes that are selected. Steps behind it, up to the next one that counts, are
// then run at that extent: the context goes on at another frame, in the same memory, in which all that was computed lies where it lay.
// What is counted later may have to equal what has been, so that steps behind it are at no extents that fit until then.

// stretch is the steps from one on, up to another: all of a plan, or those from behind one that counts to the next one.
type stretch struct{ first, end int }

// all is all steps of a plan.
func (p *Plan) all() stretch { return stretch{0, len(p.Steps)} }

// behind is the steps behind one, up to and with the next one that counts.
func (p *Plan) behind(step int) stretch {
	s := stretch{step + 1, len(p.Steps)}
	for i := s.first; i < s.end; i++ {
		if p.Steps[i].counts() {
			s.end = i + 1
		}
	}
	return s
}

func (s stretch) has(step int) bool { return s.first <= step && step < s.end }

// uncounted returns the symbols of what is counted from the begin of a stretch on; nil for all of the plan, of which nothing has been
// counted.
func (p *Plan) uncounted(s stretch) map[string]bool {
	if s == p.all() {
		return nil
	}
	symbols := map[string]bool{}
	for _, step := range p.Steps[s.first:] {
		if !step.counts() {
			continue
		}
		for _, c := range step.Layer.Counted() {
			symbols[c.Symbol] = true
		}
	}
	return symbols
}

// counts reports whether a step counts an extent.
func (s Step) counts() bool { return !s.Reformat && s.Layer.Counts() }

// counts reports whether a step counts an extent that other steps depend on.
func (p *Plan) counts() bool {
	for _, l := range p.Network.Layers {
		if l.Counts() {
			return true
		}
	}
	return false
}

// Counts reports whether steps count extents, which are known once they have run; memory of the caller cannot be bound then.
func (c *ExecutionContext) Counts() bool { return c.start != nil }

// recount reads what a step has counted, and goes on with those extents.
func (c *ExecutionContext) recount(step int) error {
	s := c.loaded.Plan.Steps[step]
	if !s.counts() {
		return nil
	}
	if err := c.stream.Wait(); err != nil {
		return err
	}
	n, now := c.loaded.Plan.Network, c.loaded.Plan.Env()
	env := now
	if c.launches(step) { // there is something to count
		var err error
		if env, err = n.Recounted(s.Layer, now, func(output int) (numeric.Value, error) { return c.Read(s.Out[output]) }); err != nil {
			return err
		}
	}
	if maps.Equal(env, now) && c.frame == c.start { // which has all steps
		return nil
	}
	part := c.base.Plan.behind(step)
	f, err := c.frameOf(env, part)
	if err != nil {
		if unfit := n.CheckShapesBut(env, c.base.Plan.uncounted(part)); unfit != nil { // which names the layer that takes other counts
			return unfit
		}
		return err
	}
	if f.counted = true; c.apart() || f.apart() {
		return fmt.Errorf("at %s the plan's memory does not do", valuesText(c.base.Plan.Symbols, env))
	}
	return c.goOn(f, step)
}

// goOn takes a frame behind a step. What was computed and lies in parts of what comes later, such as of a concatenation, may lie
// elsewhere there.
func (c *ExecutionContext) goOn(f *frame, step int) error {
	moved := map[int]numeric.Value{}
	slots := f.loaded.Plan.Slots
	for i, from := range c.loaded.Plan.Slots[:min(len(slots), len(c.loaded.Plan.Slots))] { // further ones are workspaces
		to := slots[i]
		alive := from.Tensor != nil && from.First <= step && from.Last > step && slices.Equal(from.Desc.Dims, to.Desc.Dims)
		if !alive || from.Offset == to.Offset && from.Desc.Batch == to.Desc.Batch && from.Desc.Pitch == to.Desc.Pitch {
			continue
		}
		v, err := c.Read(i)
		if err != nil {
			return err
		}
		moved[i] = v
	}
	c.frame = f
	for _, i := range slices.Sorted(maps.Keys(moved)) {
		if err := c.Write(i, moved[i]); err != nil {
			return err
		}
	}
	return nil
}

// restart goes back to where all that is counted is as large as it can be.
func (c *ExecutionContext) restart() {
	if c.start != nil && c.frame != c.start {
		c.start.changed = c.start.changed || c.changed
		c.changed, c.frame = false, c.start
	}
}
