// Package diff sets two snapshots side by side: layers by the source layers that they compute, what took longer and whether
// that is more than noise, and which of many configurations are worth having. It computes on reports alone, so whatever was
// brought into a snapshot can be compared. Start with diff.go.
package diff

import "slices"

// Step is what alignment knows of a step of a plan.
type Step struct {
	From     []string // source layers
	Reformat bool     // it moves what those compute into another format
	Name     string   // of a reformat: two that move the same tensor into the same format are the same, whatever layers they serve
	What     string   // op, window and shape of a layer: see alignAlike; empty where that is not known
}

// Group is a set of steps of A and one of B that compute the same source layers: the least that do, so that no step of one
// side computes a part of what two groups of the other do. Indices are in order.
type Group struct {
	A, B  []int
	From  []string // source layers, in order of A's steps and then B's
	Alike bool     // names do not say so: the two are of the same kind, at the same place
}

// Align groups the steps of two plans. Every step is in one group. A step that computes nothing of a source layer that the other
// side has is in a group that has no steps of that. Reformats are aligned with reformats. Groups are in the order of B's first
// steps, and those that A alone has are behind the group of the step of A before them.
func Align(a, b []Step) []Group {
	s := sets{parent: make([]int, len(a)+len(b))}
	for i := range s.parent {
		s.parent[i] = i
	}
	owner := map[source]int{}
	step := func(i int) Step {
		if i < len(a) {
			return a[i]
		}
		return b[i-len(a)]
	}
	for i := range s.parent {
		st := step(i)
		keys := make([]source, len(st.From), len(st.From)+1)
		for j, name := range st.From {
			keys[j] = source{name, st.Reformat, false}
		}
		if st.Reformat && st.Name != "" {
			keys = append(keys, source{st.Name, true, true})
		}
		for _, k := range keys {
			if first, ok := owner[k]; ok {
				s.join(first, i)
			} else {
				owner[k] = i
			}
		}
	}
	return order(s.groups(len(a), step))
}

// source is a source layer, or a reformat: of what a layer computes, or by its own name.
type source struct {
	name     string
	reformat bool
	own      bool
}

// sets are disjoint sets of steps.
type sets struct{ parent []int }

func (s *sets) find(i int) int {
	for s.parent[i] != i {
		s.parent[i] = s.parent[s.parent[i]]
		i = s.parent[i]
	}
	return i
}

// join unites two sets; the step that comes first stands for both.
func (s *sets) join(i, j int) {
	i, j = s.find(i), s.find(j)
	s.parent[max(i, j)] = min(i, j)
}

// groups returns the sets in the order of their first steps, of which the first n are A's.
func (s *sets) groups(n int, step func(int) Step) []Group {
	var list []Group
	at := map[int]int{}
	seen := map[source]bool{}
	for i := range s.parent {
		root := s.find(i)
		g, ok := at[root]
		if !ok {
			g = len(list)
			at[root] = g
			list = append(list, Group{})
		}
		if i < n {
			list[g].A = append(list[g].A, i)
		} else {
			list[g].B = append(list[g].B, i-n)
		}
		st := step(i)
		for _, name := range st.From {
			if k := (source{name, st.Reformat, false}); !seen[k] {
				seen[k] = true
				list[g].From = append(list[g].From, name)
			}
		}
	}
	return list
}

// order sorts groups by B's order, and those without steps of B behind the group that A has before them.
func order(list []Group) []Group {
	type place struct{ b, a int }
	places := make(map[*Group]place, len(list))
	last := -1
	sorted := make([]*Group, len(list))
	for i := range list { // in A's order as far as they have steps of A
		g := &list[i]
		sorted[i] = g
		if len(g.B) > 0 {
			places[g] = place{g.B[0], -1}
			if len(g.A) > 0 {
				last = g.B[0]
			}
			continue
		}
		places[g] = place{last, g.A[0]}
	}
	slices.SortStableFunc(sorted, func(x, y *Group) int {
		p, q := places[x], places[y]
		if p.b != q.b {
			return p.b - q.b
		}
		return p.a - q.a
	})
	out := make([]Group, len(list))
	for i, g := range sorted {
		out[i] = *g
	}
	return out
}
