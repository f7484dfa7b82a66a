package run

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// What follows from extents alone is known whenever these are: the small integers from which models compute shapes are constants of a
// frame. No step computes them, unless they are outputs of the network or go into another network.

// known reports whether the elements of a tensor follow from extents.
func known(t *graph.Tensor) bool {
	return t != nil && !t.IsConst() && t.Value != nil && (t.Type == numeric.I64 || t.Type == numeric.I32)
}

// given reports whether a tensor has no memory that its readers read: it is a constant, or known.
func given(t *graph.Tensor) bool { return t.IsConst() || known(t) }

// gives reports whether input i of a layer is given. Bodies read memory.
func gives(l *graph.Layer, i int) bool {
	t := l.Inputs[i]
	return t.IsConst() || known(t) && len(l.Bodies()) == 0
}

// elements returns what is in a tensor that is given; nil for others.
func elements(t *graph.Tensor, env map[string]int) []byte {
	if !known(t) {
		return t.Weights
	}
	v := numeric.NewValue(t.Type, len(t.Value))
	list := make([]int64, len(t.Value))
	for i, d := range t.Value {
		list[i] = int64(d.Eval(env))
	}
	v.SetInts(list, false)
	return v.Data
}

// idle returns the layers of a network that no step computes: nothing but extents decides their results, or only such layers read
// them. What counts an extent is computed.
func idle(n *graph.Network) map[*graph.Layer]bool {
	list := map[*graph.Layer]bool{}
	for _, l := range slices.Backward(n.Layers) {
		if l.Counts() || len(l.Bodies()) > 0 {
			continue
		}
		if !slices.ContainsFunc(l.Outputs, func(t *graph.Tensor) bool { return n.IsOutput(t) || !unread(t, list) }) {
			list[l] = true
		}
	}
	return list
}

// Known counts the layers that no step computes, since nothing but extents decides their results, those of bodies once.
func (p *Plan) Known() int {
	n := len(idle(p.Network))
	for _, s := range p.Steps {
		for _, b := range s.Bodies {
			n += b.Known()
		}
	}
	return n
}

// unread reports whether a tensor is known to all that read it, or read by idle layers alone. What nothing reads is computed.
func unread(t *graph.Tensor, idle map[*graph.Layer]bool) bool {
	for _, u := range t.Users {
		if !idle[u] && (!known(t) || len(u.Bodies()) > 0) {
			return false
		}
	}
	return len(t.Users) > 0
}
