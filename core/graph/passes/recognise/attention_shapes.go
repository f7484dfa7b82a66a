package recognise

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// measuring returns the layers that find shapes by the extents of what is between the products, where nothing else asks for them.
func (a *attention) measuring() []*graph.Layer {
	within := map[*graph.Layer]bool{} // whether all that follows from a layer is
	var leads func(l *graph.Layer) bool
	leads = func(l *graph.Layer) bool {
		known, ok := within[l]
		switch {
		case slices.Contains(a.inner, l):
			return true
		case ok:
			return known
		case len(within) > maxWalk*len(a.inner):
			return false
		}
		within[l] = true
		for _, t := range l.Outputs {
			within[l] = within[l] && !a.r.Network().IsOutput(t) && !slices.ContainsFunc(t.Users, func(u *graph.Layer) bool { return !leads(u) })
		}
		return within[l]
	}
	for _, l := range a.inner {
		for _, t := range l.Outputs {
			for _, u := range t.Users {
				if u.Op == graph.ShapeOf && l != a.product {
					leads(u)
				}
			}
		}
	}
	var list []*graph.Layer
	for _, l := range a.r.Network().Layers {
		if within[l] {
			list = append(list, l)
		}
	}
	return list
}

// measured returns what computes shapes for layers that are gone: where nothing else needs it, it would be a reader of their inputs.
func measured(gone []*graph.Layer) []*graph.Layer {
	var list []*graph.Layer
	open := slices.Clone(gone)
	for len(open) > 0 && len(list) < maxWalk*len(gone) {
		l := open[0]
		if open = open[1:]; l.Op == graph.ShapeOf {
			continue
		}
		for _, t := range l.Inputs {
			if t != nil && t.Value != nil && t.Producer != nil && !slices.Contains(list, t.Producer) && !slices.Contains(gone, t.Producer) {
				list, open = append(list, t.Producer), append(open, t.Producer)
			}
		}
	}
	return list
}
