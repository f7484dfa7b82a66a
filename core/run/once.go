package run

import (
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// What constants and extents alone decide, such as a mask or the distances of places, is the same in all executions at a shape. A plan
// for several shapes computes it once at each: executions keep what other steps read of it.

// decided marks the steps that run once at a shape, and gives what others read of them memory of its own. It reports whether any does.
func (y *layout) decided() bool {
	p := y.plan
	if y.body || y.always || len(p.Symbols) == 0 || p.counts() {
		return false
	}
	made, launches := make([]bool, len(p.Slots)), false
	has := func(i int) bool { // a slot in another one has what that has
		for i >= 0 && !made[i] {
			i = p.Slots[i].Of
		}
		return i >= 0
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Once = p.runsOnce(s, has); s.Once {
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
			if launches && has(in) {
				p.Slots[in].First, p.Slots[in].Last = -1, len(p.Steps)
			}
		}
	}
	return launches
}

// runsOnce reports whether nothing but constants, extents and the slots that are made of them decides what a step computes. What is a
// text, or the caller's to read, is computed each time.
func (p *Plan) runsOnce(s *Step, made func(slot int) bool) bool {
	if len(s.Layer.Bodies()) > 0 {
		return false
	}
	mine := func(out int) bool {
		return p.Slots[p.root(out)].Region == Arena && p.Slots[out].Tensor.Type != numeric.Str && !p.Network.IsOutput(p.Slots[out].Tensor)
	}
	return !slices.ContainsFunc(s.In, func(in int) bool { return in >= 0 && !made(in) }) && !slices.ContainsFunc(s.Out, func(out int) bool { return !mine(out) })
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
