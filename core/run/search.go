package run

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Choice is a way to compute each layer: the second stage of planning.
type Choice struct {
	*Candidates
	ctx      context.Context
	options  map[*graph.Layer][]option
	pick     map[*graph.Layer]int
	hubs     hubs // by what is picked
	launches map[conversion]term
	scratch  []term
}

// Choose settles on a launch for every layer such that the sum of their times and the reformats' is small: it starts from each
// layer's fastest and from each format throughout, makes changes as long as the sum becomes smaller, and keeps the best
// result. What differs from that by no more than the noise of the measurements is settled by settle. All prices are known. It
// stops in the midst of a network when ctx ends.
func (c *Candidates) Choose(ctx context.Context) (*Choice, error) {
	if err := c.Unsupported(); err != nil {
		return nil, err
	}
	choice := &Choice{ctx: ctx, Candidates: c, options: map[*graph.Layer][]option{}, launches: map[conversion]term{}}
	for _, lc := range c.layers {
		if lc.bodies != nil {
			if err := lc.chooseBodies(ctx, c.env); err != nil {
				return nil, err
			}
		}
		choice.options[lc.layer] = lc.options()
	}
	choice.search()
	choice.settle()
	return choice, ctx.Err()
}

// search finds the fastest choice.
func (c *Choice) search() {
	var best map[*graph.Layer]int
	var bestTime time.Duration
	for _, prefer := range []func(o option) bool{
		func(option) bool { return false },
		func(o option) bool { return o.out == kernels.Linear },
		func(o option) bool { return o.out != kernels.Linear },
	} {
		pick := map[*graph.Layer]int{}
		for _, l := range c.busy {
			pick[l] = fastest(c.options[l], prefer)
		}
		c.start(pick)
		for range 20 {
			if !c.improve() {
				break
			}
		}
		if t := c.time(c.busy...); best == nil || t < bestTime {
			best, bestTime = c.pick, t
		}
	}
	c.start(best)
}

// hubs are tensors that many layers read: of how many it is wanted in each format is counted, so that a change of one of them
// does not ask all others.
type hubs map[*graph.Tensor]map[kernels.Format]int

// manyReaders is from how many readers on a tensor is a hub.
const manyReaders = 16

// start makes choices for all layers.
func (c *Choice) start(pick map[*graph.Layer]int) {
	c.pick, c.hubs = pick, hubs{}
	for _, l := range c.busy {
		for _, t := range l.Inputs {
			if t != nil && len(t.Users) >= manyReaders && c.hubs[t] == nil {
				c.hubs[t] = map[kernels.Format]int{}
			}
		}
		c.count(l, 1)
	}
}

// take makes the choice for a layer.
func (c *Choice) take(l *graph.Layer, i int) {
	c.count(l, -1)
	c.pick[l] = i
	c.count(l, 1)
}

// count adds n for every input of l that is a hub, to the format that it is wanted in.
func (c *Choice) count(l *graph.Layer, n int) {
	if len(c.hubs) == 0 {
		return
	}
	for i, t := range l.Inputs {
		if hub := c.hubs[t]; hub != nil {
			o := c.chosen(l)
			hub[formatOf(l, i, o.in, o.out)] += n
		}
	}
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

// improve tries every change, and reports whether one was kept.
func (c *Choice) improve() bool {
	changed := false
	for layers, picks := range c.changes() {
		if c.ctx.Err() != nil {
			return false
		}
		now := c.time(layers...)
		before := c.set(layers, picks)
		if c.time(layers...) < now {
			changed = true
		} else {
			c.set(layers, before)
		}
	}
	return changed
}

// set gives some layers other options, and returns those that they had.
func (c *Choice) set(layers []*graph.Layer, picks []int) (before []int) {
	for k, l := range layers {
		before = append(before, c.pick[l])
		c.take(l, picks[k])
	}
	return before
}

// changes yields the changes of choices that are worth a try, at the time when it is their turn: every option of a layer;
// every pair of options of a layer and the producer of one of its inputs that change a format which they can only change together;
// and another format of a layer's results, with which all that read them change. What changes no format between layers is no more than
// the changes of each; and of a tensor that many layers read its producer and one of them change no format alone, since the others want
// the one that it has.
func (c *Choice) changes() iter.Seq2[[]*graph.Layer, []int] {
	return func(yield func([]*graph.Layer, []int) bool) {
		for _, l := range c.busy {
			for i := range c.options[l] {
				if i != c.pick[l] && !yield([]*graph.Layer{l}, []int{i}) {
					return
				}
			}
		}
		for _, l := range c.busy {
			for _, p := range producers(l) {
				for i := range c.options[p] {
					for j := range c.options[l] {
						if c.tied(p, i, l, j) && !yield([]*graph.Layer{p, l}, []int{i, j}) {
							return
						}
					}
				}
			}
		}
		for _, l := range c.busy {
			for i, o := range c.options[l] {
				if o.out == c.chosen(l).out && c.readAs(l, o.out) || readersInputs(l) > mostTogether {
					continue
				}
				layers, picks := c.together(l, o.out)
				if len(layers) > 1 && !yield(append(layers, l), append(picks, i)) {
					return
				}
			}
		}
	}
}

// tied reports whether options of a layer and of one that reads it change a format between the two, or that of what both may read.
func (c *Choice) tied(p *graph.Layer, i int, l *graph.Layer, j int) bool {
	from, to, now, then := c.options[p][i], c.options[l][j], c.chosen(p), c.chosen(l)
	return from.out != now.out || from.in != now.in && to.in != then.in
}

// readAs reports whether all that read the results of l do so in a format.
func (c *Choice) readAs(l *graph.Layer, f kernels.Format) bool {
	for _, t := range l.Outputs {
		for _, u := range t.Users {
			if !c.idle[u] && c.chosen(u).in != f {
				return false
			}
		}
	}
	return true
}

// mostTogether bounds the inputs of the layers that change together: a change asks for the reformats of all of them.
const mostTogether = 1 << 12

// readersInputs returns how many inputs the layers have that read the results of l.
func readersInputs(l *graph.Layer) (n int) {
	for _, t := range l.Outputs {
		for _, u := range t.Users {
			n += len(u.Inputs)
		}
	}
	return n
}

// producers returns the layers that produce the inputs of l which few others read.
func producers(l *graph.Layer) []*graph.Layer {
	var list []*graph.Layer
	for i, x := range l.Inputs {
		if x != nil && x.Producer != nil && !gives(l, i) && len(x.Users) < manyReaders && !slices.Contains(list, x.Producer) {
			list = append(list, x.Producer)
		}
	}
	return list
}

// together returns the layers that read the results of l, with their fastest options that read a format: one that writes what
// the present one writes, if there is one.
func (c *Choice) together(l *graph.Layer, f kernels.Format) (layers []*graph.Layer, picks []int) {
	for _, t := range l.Outputs {
		for _, u := range t.Users {
			if c.idle[u] || slices.Contains(layers, u) {
				continue
			}
			out := c.chosen(u).out
			i := fastest(c.options[u], func(o option) bool { return o.in == f && o.out == out })
			if c.options[u][i].in != f {
				i = fastest(c.options[u], func(o option) bool { return o.in == f })
			}
			layers, picks = append(layers, u), append(picks, i)
		}
	}
	return layers, picks
}

// time returns the time of some layers and of all reformats next to them.
func (c *Choice) time(layers ...*graph.Layer) time.Duration {
	var t time.Duration
	c.scratch = c.terms(c.scratch[:0], layers)
	for _, x := range c.scratch {
		t += x.option.price.Time
	}
	return t
}

// term is one launch that a choice of options makes: that of a layer, or of a reformat. The zero term launches nothing.
type term struct {
	option   option
	rank     int // of a layer's option among the layer's
	reformat bool
}

// terms appends the launches of some layers and of the reformats of every tensor that they read or write: as many terms,
// in the same order, whatever the choices are.
func (c *Choice) terms(list []term, layers []*graph.Layer) []term {
	var seen tensorSet
	for _, l := range layers {
		list = append(list, term{option: c.chosen(l), rank: c.pick[l]})
		for _, t := range slices.Concat(l.Inputs, l.Outputs) {
			if t == nil || given(t) || !seen.add(t) {
				continue
			}
			list = c.reformatsOf(list, t)
		}
	}
	return list
}

// tensorSet is a set that is mostly of a few tensors, and at times of all.
type tensorSet struct {
	few  []*graph.Tensor
	many map[*graph.Tensor]bool
}

// add reports whether t was not in the set.
func (s *tensorSet) add(t *graph.Tensor) bool {
	const few = 16
	switch {
	case s.many != nil:
		if s.many[t] {
			return false
		}
		s.many[t] = true
		return true
	case slices.Contains(s.few, t):
		return false
	}
	if s.few = append(s.few, t); len(s.few) > few {
		s.many = map[*graph.Tensor]bool{}
		for _, x := range s.few {
			s.many[x] = true
		}
	}
	return true
}

// reformatsOf appends a term for every format: the reformat that brings t into it for those who want it so.
func (c *Choice) reformatsOf(list []term, t *graph.Tensor) []term {
	have := kernels.Linear
	if t.Producer != nil {
		have = c.chosen(t.Producer).out
	}
	for _, f := range kernels.Formats() {
		if f == have || !c.wanted(t, f) {
			list = append(list, term{})
			continue
		}
		list = append(list, c.reformat(t, have, f))
	}
	return list
}

// wanted reports whether a reader of t wants it in a format.
func (c *Choice) wanted(t *graph.Tensor, f kernels.Format) bool {
	if f == kernels.Linear && t.Producer != nil && c.network.IsOutput(t) {
		return true
	}
	if hub := c.hubs[t]; hub != nil {
		return hub[f] > 0
	}
	for _, u := range t.Users {
		if c.idle[u] {
			continue
		}
		o := c.chosen(u)
		for i, x := range u.Inputs {
			if x == t && formatOf(u, i, o.in, o.out) == f {
				return true
			}
		}
	}
	return false
}

func (c *Choice) chosen(l *graph.Layer) option { return c.options[l][c.pick[l]] }

// reformat returns the launch that brings t from one format to another.
func (c *Choice) reformat(t *graph.Tensor, from, to kernels.Format) term {
	key := conversion{t, from, to}
	r, ok := c.launches[key]
	if !ok {
		if !c.sameBytes(t, from, to) {
			o, err := c.reformatOption(t, from, to)
			if err != nil {
				o = option{price: Price{Time: time.Hour}} // no way: chosen last, and reported when it comes to it
			}
			r = term{option: o, reformat: true}
		}
		c.launches[key] = r
	}
	return r
}
