package run

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// What constants and extents alone decide, such as a mask or the distances of places, is the same in all executions at a shape. A plan
// of a network with symbols computes it once at each: executions keep what other steps read of it.

// decided marks the steps that run once at a shape, and gives what others read of them memory of its own.
func (y *layout) decided() {
	p := y.plan
	if y.body || y.always || len(p.Symbols) == 0 || p.counts() {
		return
	}
	made, launches := make(onceSlots, len(p.Slots)), false
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Once = p.runsOnce(s, made); s.Once {
			launches = launches || s.Tactic != InMemory
			for _, out := range s.Out {
				made[out] = true
			}
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Once = s.Once && launches; s.Once {
			continue
		}
		for _, in := range s.In {
			if launches && made.has(p, in) {
				p.Slots[in].First, p.Slots[in].Last = -1, len(p.Steps)
			}
		}
	}
}

// onceSlots says which slots are written by steps that run once.
type onceSlots []bool

// has reports whether what is in a slot is decided so: one that lies in another has what that has.
func (made onceSlots) has(p *Plan, i int) bool {
	for i >= 0 && !made[i] {
		i = p.Slots[i].Of
	}
	return i >= 0
}

// checkOnce returns an error for a step that is to run once, and depends on more than extents.
func (p *Plan) checkOnce() error {
	made := make(onceSlots, len(p.Slots))
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Once {
			continue
		}
		if p.counts() || !p.runsOnce(s, made) {
			return fmt.Errorf("step %d runs once, and depends on more than extents", i)
		}
		for _, out := range s.Out {
			made[out] = true
		}
	}
	return nil
}

// runsOnce reports whether nothing but constants, extents and the slots that are made of them decides what a step computes. What is a
// text, or the caller's to read, is computed each time.
func (p *Plan) runsOnce(s *Step, made onceSlots) bool {
	if len(s.Layer.Bodies()) > 0 {
		return false
	}
	mine := func(out int) bool {
		return p.Slots[p.root(out)].Region == Arena && p.Slots[out].Tensor.Type != numeric.Str && !p.Network.IsOutput(p.Slots[out].Tensor)
	}
	return !slices.ContainsFunc(s.In, func(in int) bool { return in >= 0 && !made.has(p, in) }) && !slices.ContainsFunc(s.Out, func(out int) bool { return !mine(out) })
}

// keeps reports whether a plan that keeps what it computes once has an arena that is at most half as large again as that of one that does
// not, or little larger.
func (p *Plan) keeps(without *Plan) bool {
	return p.Memory.Peak <= without.Memory.Peak+max(keptRoom, without.Memory.Peak/2)
}

// keptRoom is how many bytes what is computed once may take anyway.
const keptRoom = 1 << 20

// Once counts the launches of steps that run once at a shape.
func (p *Plan) Once() int {
	n := 0
	for _, s := range p.Steps {
		if s.Once && s.Tactic != InMemory {
			n++
		}
	}
	return n
}

// prepare launches the steps that run once at a shape, unless what they compute is there.
func (c *ExecutionContext) prepare() error {
	if c.ready {
		return nil
	}
	for i, s := range c.loaded.Plan.Steps {
		if !s.Once {
			continue
		}
		if err := c.launch(i); err != nil {
			return err
		}
	}
	c.ready = true
	return nil
}
