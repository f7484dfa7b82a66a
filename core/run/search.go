package run

import (
	"fmt"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// choose settles on an option for every layer: it starts from each layer's fastest and from each format throughout,
// changes one layer at a time, or one and the producer of an input, as long as the sum becomes smaller, and keeps the
// best result.
func (c *chooser) choose() {
	var best map[*graph.Layer]int
	var bestTime time.Duration
	for _, prefer := range []func(o option) bool{
		func(option) bool { return false },
		func(o option) bool { return o.out == kernels.Linear },
		func(o option) bool { return o.out != kernels.Linear },
	} {
		c.pick = map[*graph.Layer]int{}
		for _, l := range c.network.Layers {
			c.pick[l] = fastest(c.options[l], prefer)
		}
		for range 20 {
			if !c.improve() && !c.improvePairs() {
				break
			}
		}
		if t := c.total(); best == nil || t < bestTime {
			best, bestTime = c.pick, t
		}
	}
	c.pick = best
}

// fastest returns the index of the fastest option among the preferred ones, or among all if none is.
func fastest(options []option, prefer func(option) bool) int {
	best := 0
	for i, o := range options {
		p, q := prefer(o), prefer(options[best])
		if p && !q || p == q && o.price.Time < options[best].price.Time {
			best = i
		}
	}
	return best
}

// improve tries every option of every layer against its neighbours' present ones.
func (c *chooser) improve() bool {
	changed := false
	for _, l := range c.network.Layers {
		best, now := c.pick[l], c.local(l)
		for i := range c.options[l] {
			c.pick[l] = i
			if t := c.local(l); t < now {
				best, now, changed = i, t, true
			}
		}
		c.pick[l] = best
	}
	return changed
}

// improvePairs tries every pair of options of a layer and the producer of one of its inputs, which may be able to change
// a format only together.
func (c *chooser) improvePairs() bool {
	changed := false
	for _, l := range c.network.Layers {
		for _, x := range l.Inputs {
			if x == nil || x.Producer == nil || len(c.options[l])*len(c.options[x.Producer]) < 2 {
				continue
			}
			p := x.Producer
			best, now := [2]int{c.pick[p], c.pick[l]}, c.pair(p, l)
			for i := range c.options[p] {
				for j := range c.options[l] {
					c.pick[p], c.pick[l] = i, j
					if t := c.pair(p, l); t < now {
						best, now, changed = [2]int{i, j}, t, true
					}
				}
			}
			c.pick[p], c.pick[l] = best[0], best[1]
		}
	}
	return changed
}

// pair returns the time of two layers, the first a producer for the second, and of all reformats next to them.
func (c *chooser) pair(p, l *graph.Layer) time.Duration {
	t := c.local(p) + c.local(l)
	for i, x := range l.Inputs {
		if x != nil && x.Producer == p {
			t -= c.edge(l, i) // counted with both
		}
	}
	return t
}

// local returns the time of a layer and of all reformats next to it.
func (c *chooser) local(l *graph.Layer) time.Duration {
	t := c.chosen(l).price.Time
	for i := range l.Inputs {
		t += c.edge(l, i)
	}
	for _, y := range l.Outputs {
		if c.network.IsOutput(y) {
			t += c.reformat(y, c.chosen(l).out, kernels.Linear)
		}
		for _, u := range y.Users {
			for i, x := range u.Inputs {
				if x == y {
					t += c.edge(u, i)
				}
			}
		}
	}
	return t
}

// total returns the time of the whole network.
func (c *chooser) total() time.Duration {
	var t time.Duration
	for _, l := range c.network.Layers {
		o := c.chosen(l)
		t += o.price.Time
		for i := range l.Inputs {
			t += c.edge(l, i)
		}
		for _, y := range l.Outputs {
			if c.network.IsOutput(y) {
				t += c.reformat(y, o.out, kernels.Linear)
			}
		}
	}
	return t
}

func (c *chooser) chosen(l *graph.Layer) option { return c.options[l][c.pick[l]] }

// edge returns the time of the reformat that layer l needs at its input i.
func (c *chooser) edge(l *graph.Layer, i int) time.Duration {
	x := l.Inputs[i]
	if x == nil || x.IsConst() {
		return 0
	}
	o := c.chosen(l)
	have := kernels.Linear
	if x.Producer != nil {
		have = c.chosen(x.Producer).out
	}
	return c.reformat(x, have, formatOf(l, i, o.in, o.out))
}

// reformat returns the time to bring t from one format to another.
func (c *chooser) reformat(t *graph.Tensor, from, to kernels.Format) time.Duration {
	if from == to {
		return 0
	}
	a, b := desc(t, from, c.env), desc(t, to, c.env)
	if a.SameBytes(b) {
		return 0
	}
	key := fmt.Sprint(a, b)
	p, ok := c.reformats[key]
	if !ok {
		p = Price{Time: time.Hour} // no way: chosen last, and reported when it comes to it
		if o, err := c.reformatOption(t, from, to); err == nil {
			p = o.price
		}
		c.reformats[key] = p
	}
	return p.Time
}
