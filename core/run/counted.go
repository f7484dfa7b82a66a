package run

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// A step may count how many elements there are, such as of boxes that are selected. Steps behind it are then run at that extent:
// the context goes on at another frame, in the same memory, in which all that was computed lies where it lay.

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
	if s.Reformat || !s.Layer.Counts() {
		return nil
	}
	if err := c.stream.Wait(); err != nil {
		return err
	}
	now := c.loaded.Plan.Env()
	env, err := c.loaded.Plan.Network.Recounted(s.Layer, now, func(output int) (numeric.Value, error) { return c.Read(s.Out[output]) })
	if err != nil || maps.Equal(env, now) {
		return err
	}
	f, err := c.frameOf(env)
	if err != nil {
		if unfit := c.loaded.Plan.Network.CheckShapes(env); unfit != nil { // which names the layer that takes other counts
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
