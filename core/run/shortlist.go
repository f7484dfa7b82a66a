package run

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Rounds lets a plan price more tactics than the cost model's best, as times become known. The plans of one build, made one
// after the other with the same Rounds, come to price the twins of what turned out to be fastest.
type Rounds interface {
	// Admits reports whether a tactic is priced whatever the cost model makes of it: its time is known, or Twin was told of it.
	Admits(kernels.Binding, kernels.Tactic) bool
	// Twin tells of a tactic that was not priced, and is worth it: a twin of one of the fastest, or of another split.
	Twin(kernels.Binding, kernels.Tactic)
}

// Where the backend's cost model can order them, so many tactics of one pair of formats are priced: the best of each tile, then
// the best of each split of a tile. No prediction decides between what is alike; so there are no twins among them. Those come in
// when times are known, of the fastest tactic and of the next tile's, if that takes no longer than its share.
const (
	shortlisted = 14
	leaders     = 2
	contender   = 1.25
)

// predicted is what the cost model makes of a tactic for a layer.
type predicted struct {
	rank    int
	tactic  kernels.Tactic
	binding kernels.Binding
	time    time.Duration
}

// tile names what twins share; a tactic without variants has no twins.
func (p predicted) tile() kernels.Variant {
	v := p.tactic.Variant
	if v.Split = 0; v.Family == "" {
		v.Family = p.tactic.Name
	}
	return v
}

// part names what twins share that split their sums alike.
func (p predicted) part() kernels.Variant {
	v := p.tile()
	v.Split = p.tactic.Variant.Split
	return v
}

// shortlist is which of a layer's tactics are priced.
type shortlist struct {
	groups [][]predicted // by pair of formats, the fastest first; of those tactics that take the layer and have predictions
	out    map[int]*Left // by rank, what is not priced
}

// Left is why a tactic was not priced.
type Left struct {
	Ratio  float64       // of its prediction to the best
	Twin   string        // the tactic of the same tile that is, or was, tried first; empty: none of them is
	Slower time.Duration // than that, as predicted
}

func (l *Left) Error() string {
	switch {
	case l.Twin == "":
		return fmt.Sprintf("the cost model puts it at %.1f times the best", l.Ratio)
	case l.Slower > 0:
		return fmt.Sprintf("same tile as %s, slower by prediction", l.Twin)
	}
	return fmt.Sprintf("same tile as %s, no faster by prediction", l.Twin)
}

// shortlist chooses by predictions which tactics are priced.
func (c *chooser) shortlist(l *graph.Layer, tactics []kernels.Tactic) shortlist {
	groups := map[[2]kernels.Format][]predicted{}
	var order [][2]kernels.Format
	for rank, t := range tactics {
		if t.Cost == nil {
			continue
		}
		if p, err := c.predict(l, t, rank); err == nil {
			f := [2]kernels.Format{t.In, t.Out}
			if groups[f] == nil {
				order = append(order, f)
			}
			groups[f] = append(groups[f], p)
		}
	}
	s := shortlist{out: map[int]*Left{}}
	for _, f := range order {
		g := groups[f]
		slices.SortStableFunc(g, func(a, b predicted) int { return cmp.Compare(a.time, b.time) })
		s.groups = append(s.groups, g)
		s.leaveOut(g, c.rounds)
	}
	return s
}

// predict returns what the cost model makes of a tactic, if that takes the layer.
func (c *chooser) predict(l *graph.Layer, t kernels.Tactic, rank int) (p predicted, err error) {
	defer graph.CatchFault(&err)
	b, err := c.match(l, t)
	if err != nil {
		return p, err
	}
	return predicted{rank, t, b, t.Cost(b)}, nil
}

// leaveOut notes which of a group, the fastest first, are not priced, and why.
func (s *shortlist) leaveOut(g []predicted, rounds Rounds) {
	taken := map[int]bool{}
	first := map[kernels.Variant]predicted{} // of a tile
	for _, key := range []func(predicted) kernels.Variant{predicted.tile, predicted.part} {
		seen := map[kernels.Variant]bool{}
		for _, p := range g {
			if !seen[key(p)] && len(taken) < shortlisted {
				taken[p.rank] = true
			}
			seen[key(p)] = true
		}
	}
	for _, p := range g {
		if _, ok := first[p.tile()]; !ok && taken[p.rank] {
			first[p.tile()] = p
		}
	}
	for _, p := range g {
		if taken[p.rank] || rounds != nil && rounds.Admits(p.binding, p.tactic) {
			continue
		}
		left := &Left{Ratio: float64(p.time) / float64(max(1, g[0].time))}
		if f, ok := first[p.tile()]; ok {
			left.Twin, left.Slower = f.tactic.Name, p.time-f.time
		}
		s.out[p.rank] = left
	}
}

// twins tells the builder of tactics that are worth a time now that those of others are known: the twins of the fastest and of
// the next tile's fastest, and the best predictions of their neighbouring splits.
func (c *chooser) twins(s shortlist, report []Candidate) {
	if c.rounds == nil {
		return
	}
	for _, g := range s.groups {
		for _, lead := range leading(g, report) {
			for _, p := range near(g, lead) {
				if s.out[p.rank] != nil {
					c.rounds.Twin(p.binding, p.tactic)
				}
			}
		}
	}
}

// leading returns the fastest of a group by measurement, and those of the next tiles that are about as fast.
func leading(g []predicted, report []Candidate) []predicted {
	timed := slices.DeleteFunc(slices.Clone(g), func(p predicted) bool { return !report[p.rank].Timed || report[p.rank].Reason != "" })
	slices.SortStableFunc(timed, func(a, b predicted) int { return cmp.Compare(report[a.rank].Time, report[b.rank].Time) })
	var list []predicted
	for _, p := range timed {
		slow := float64(report[p.rank].Time) > contender*float64(report[timed[0].rank].Time)
		if slow || len(list) == leaders {
			break
		}
		if !slices.ContainsFunc(list, func(q predicted) bool { return q.tile() == p.tile() }) {
			list = append(list, p)
		}
	}
	return list
}

// near returns what differs from a tactic in neither tile nor split, and the best prediction of the next fewer and the next more
// parts. The group has the fastest first.
func near(g []predicted, of predicted) []predicted {
	var list []predicted
	var fewer, more *predicted
	split := of.tactic.Variant.Split
	for i, p := range g {
		at := p.tactic.Variant.Split
		switch {
		case p.tile() != of.tile() || p.rank == of.rank:
		case at == split:
			list = append(list, p)
		case at < split && (fewer == nil || at > fewer.tactic.Variant.Split):
			fewer = &g[i]
		case at > split && (more == nil || at < more.tactic.Variant.Split):
			more = &g[i]
		}
	}
	for _, p := range []*predicted{fewer, more} {
		if p != nil {
			list = append(list, *p)
		}
	}
	return list
}
