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
