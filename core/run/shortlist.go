package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/kernels"
)

// Where the backend's cost model can order them, so many tactics of one pair of formats are priced: the best of each tile, then
// the best of each split of a tile. No prediction decides between what is alike; so there are no twins among them. Those come in
// when times are known, of the fastest tactic and of the next tile's, if that takes no longer than its share.
const (
	shortlisted = 14
	leaders     = 2
	contender   = 1.25
)

// tile names what twins share; a tactic without variants has no twins.
func (a *Launch) tile() kernels.Variant {
	v := a.Tactic.Variant
	if v.Split = 0; v.Family == "" {
		v.Family = a.Tactic.Name
	}
	return v
}

// part names what twins share that split their sums alike.
func (a *Launch) part() kernels.Variant {
	v := a.tile()
	v.Split = a.Tactic.Variant.Split
	return v
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

// shortlist chooses by predictions which launches are priced.
func (lc *layerCandidates) shortlist() {
	groups := map[[2]kernels.Format][]*Launch{}
	var order [][2]kernels.Format
	for _, a := range lc.launches {
		if t := a.Tactic; t.Cost != nil && !errors.Is(a.err, errUnfit) {
			f := [2]kernels.Format{t.In, t.Out}
			if groups[f] == nil {
				order = append(order, f)
			}
			groups[f] = append(groups[f], a)
		}
	}
	for _, f := range order {
		g := groups[f]
		slices.SortStableFunc(g, func(a, b *Launch) int { return cmp.Compare(a.predicted, b.predicted) })
		lc.groups = append(lc.groups, g)
		leaveOut(g)
	}
}

// leaveOut notes which of a group, the fastest first, are not priced, and why.
func leaveOut(g []*Launch) {
	taken := map[*Launch]bool{}
	first := map[kernels.Variant]*Launch{} // of a tile
	for _, key := range []func(*Launch) kernels.Variant{(*Launch).tile, (*Launch).part} {
		seen := map[kernels.Variant]bool{}
		for _, a := range g {
			if !seen[key(a)] && len(taken) < shortlisted {
				taken[a] = true
			}
			seen[key(a)] = true
		}
	}
	for _, a := range g {
		if first[a.tile()] == nil && taken[a] {
			first[a.tile()] = a
		}
	}
	for _, a := range g {
		if taken[a] {
			continue
		}
		a.left = &Left{Ratio: float64(a.predicted) / float64(max(1, g[0].predicted))}
		if f := first[a.tile()]; f != nil {
			a.left.Twin, a.left.Slower = f.Tactic.Name, a.predicted-f.predicted
		}
	}
}

// LeftOut returns the launches that predictions left out.
func (c *Candidates) LeftOut() []*Launch {
	var list []*Launch
	c.every(func(c *Candidates) {
		for _, lc := range c.layers {
			for _, a := range lc.launches {
				if a.left != nil {
					list = append(list, a)
				}
			}
		}
	})
	return list
}

// Twins returns those left out that are worth a time now that those of others are known: the twins of the fastest and of the
// next tile's fastest, and the best predictions of their neighbouring splits.
func (c *Candidates) Twins() []*Launch {
	var list []*Launch
	c.every(func(c *Candidates) {
		for _, lc := range c.layers {
			for _, g := range lc.groups {
				for _, lead := range leading(g) {
					for _, a := range near(g, lead) {
						if a.left != nil {
							list = append(list, a)
						}
					}
				}
			}
		}
	})
	return list
}

// leading returns the fastest of a group by measurement, and those of the next tiles that are about as fast.
func leading(g []*Launch) []*Launch {
	timed := slices.DeleteFunc(slices.Clone(g), func(a *Launch) bool { return !a.usable() || !a.price.Timed })
	slices.SortStableFunc(timed, func(a, b *Launch) int { return cmp.Compare(a.price.Time, b.price.Time) })
	var list []*Launch
	for _, a := range timed {
		slow := float64(a.price.Time) > contender*float64(timed[0].price.Time)
		if slow || len(list) == leaders {
			break
		}
		if !slices.ContainsFunc(list, func(q *Launch) bool { return q.tile() == a.tile() }) {
			list = append(list, a)
		}
	}
	return list
}

// near returns what differs from a launch in neither tile nor split, and the best prediction of the next fewer and the next
// more parts. The group has the fastest first.
func near(g []*Launch, of *Launch) []*Launch {
	var list []*Launch
	var fewer, more *Launch
	split := of.Tactic.Variant.Split
	for _, a := range g {
		at := a.Tactic.Variant.Split
		switch {
		case a.tile() != of.tile() || a == of:
		case at == split:
			list = append(list, a)
		case at < split && (fewer == nil || at > fewer.Tactic.Variant.Split):
			fewer = a
		case at > split && (more == nil || at < more.Tactic.Variant.Split):
			more = a
		}
	}
	for _, a := range []*Launch{fewer, more} {
		if a != nil {
			list = append(list, a)
		}
	}
	return list
}
