package run

import (
	"maps"
	"time"

	"github.com/trtui/trtui/core/graph"
)

// settle replaces the fastest choices by simpler ones that are as fast within the noise of the measurements, so that a
// network has the same plan whenever it is built: which of two equal ways is the faster one is decided by chance each time
// they are measured, but which is the simpler one is not. Simpler is, in this order: fewer reformats, fewer bytes written,
// and what comes first in the backend's table, layer by layer.
//
// A change is compared with the fastest choices for the same layers, and not with the last change, so that many that each
// cost a little do not add up; and every change makes the whole simpler, so that it comes to an end.
func (c *Choice) settle() {
	s := settler{Choice: c, fastest: maps.Clone(c.pick)}
	for changed := true; changed; {
		changed = false
		for layers, picks := range c.changes() {
			if c.ctx.Err() != nil {
				return
			}
			changed = s.try(layers, picks) || changed
		}
	}
}

type settler struct {
	*Choice
	fastest         map[*graph.Layer]int
	now, then, best []term // reused from one try to the next
}

// try gives some layers other options if that is simpler than the present ones and as fast as the fastest.
func (s *settler) try(layers []*graph.Layer, picks []int) bool {
	s.now = s.terms(s.now[:0], layers)
	before := s.set(layers, picks)
	s.then = s.terms(s.then[:0], layers)
	if !simpler(s.then, s.now) {
		s.set(layers, before)
		return false
	}
	for _, l := range layers {
		s.take(l, s.fastest[l])
	}
	s.best = s.terms(s.best[:0], layers)
	if !asFast(s.then, s.best) {
		s.set(layers, before)
		return false
	}
	s.set(layers, picks)
	return true
}

// asFast reports whether a takes no longer than b but for the noise of the launches in which they differ.
func asFast(a, b []term) bool {
	var longer, noise time.Duration
	for i, x := range a {
		if y := b[i]; !x.same(y) {
			longer += x.option.price.Time - y.option.price.Time
			noise += x.option.price.Noise + y.option.price.Noise
		}
	}
	return longer <= noise
}

// same reports whether two terms at the same place are of the same launch.
func (t term) same(o term) bool {
	return t.reformat == o.reformat && t.rank == o.rank && t.option.tactic.Name == o.option.tactic.Name &&
		t.option.in == o.option.in && t.option.out == o.option.out
}

// simpler reports whether a is simpler than b.
func simpler(a, b []term) bool {
	for _, measure := range []func(term) int{
		func(t term) int {
			if t.reformat {
				return 1
			}
			return 0
		},
		func(t term) int { return t.option.bytes },
		func(t term) int { return t.rank },
	} {
		sum := 0
		for i := range a {
			sum += measure(a[i]) - measure(b[i])
		}
		if sum != 0 {
			return sum < 0
		}
	}
	return false
}
