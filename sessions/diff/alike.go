package diff

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// mostAlike is the most pairs of steps that are looked at for layers that are alike.
const mostAlike = 1 << 24

// alignAlike aligns what names do not where they say next to nothing: of two exports of one model, or of a model and one that was
// trained for fewer bits, whose layers are counted otherwise. Where fewer than half of the layers of the side that has less are
// aligned by name, the others are by what they are, in their order: the longest sequence that both sides have. Reformats, which are named
// after their tensors, are aligned by the layers between which they stand.
func alignAlike(groups []Group, a, b []Step) []Group {
	named, least := 0, min(len(a)-reformats(a), len(b)-reformats(b))
	var one, other []int // groups that have one step, of one side
	for i, g := range groups {
		switch {
		case len(g.A) > 0 && len(g.B) > 0:
			named += min(len(g.A), len(g.B))
		case len(g.A) == 1 && a[g.A[0]].What != "":
			one = append(one, i)
		case len(g.B) == 1 && b[g.B[0]].What != "":
			other = append(other, i)
		}
	}
	if 2*named >= least || len(one)*len(other) > mostAlike {
		return groups
	}
	slices.SortFunc(one, func(x, y int) int { return groups[x].A[0] - groups[y].A[0] })
	slices.SortFunc(other, func(x, y int) int { return groups[x].B[0] - groups[y].B[0] })
	pairs := longestCommon(len(one), len(other), func(i, j int) bool {
		return a[groups[one[i]].A[0]].What == b[groups[other[j]].B[0]].What
	})
	gone := map[int]bool{}
	for _, p := range pairs {
		x, y := &groups[one[p[0]]], &groups[other[p[1]]]
		y.A, y.From, y.Alike = x.A, slices.Concat(x.From, y.From), true
		gone[one[p[0]]] = true
	}
	alignReformats(groups, a, b, gone)
	var left []Group
	for i, g := range groups {
		if !gone[i] {
			left = append(left, g)
		}
	}
	slices.SortStableFunc(left, func(x, y Group) int { // as Align's order takes them
		if len(x.A) == 0 || len(y.A) == 0 {
			return len(y.A) - len(x.A)
		}
		return x.A[0] - y.A[0]
	})
	return order(left)
}

// alignReformats aligns reformats of one side each that stand between the same groups of layers, in their order, and notes which groups
// are gone then.
func alignReformats(groups []Group, a, b []Step, gone map[int]bool) {
	type place struct{ before, behind int } // groups; -1: none
	of := [2][]int{make([]int, len(a)), make([]int, len(b))}
	for i, g := range groups {
		if gone[i] {
			continue
		}
		for side, steps := range [][]int{g.A, g.B} {
			for _, k := range steps {
				of[side][k] = i
			}
		}
	}
	between := func(side, step int, steps []Step) place {
		p := place{-1, -1}
		for k := step - 1; k >= 0 && p.before < 0; k-- {
			if !steps[k].Reformat {
				p.before = of[side][k]
			}
		}
		for k := step + 1; k < len(steps) && p.behind < 0; k++ {
			if !steps[k].Reformat {
				p.behind = of[side][k]
			}
		}
		return p
	}
	waiting := map[place][]int{} // groups of A
	for k, s := range a {
		if g := of[0][k]; s.Reformat && len(groups[g].A) == 1 && len(groups[g].B) == 0 {
			p := between(0, k, a)
			waiting[p] = append(waiting[p], g)
		}
	}
	for k, s := range b {
		g := of[1][k]
		if !s.Reformat || len(groups[g].B) != 1 || len(groups[g].A) != 0 {
			continue
		}
		p := between(1, k, b)
		if list := waiting[p]; len(list) > 0 {
			x, y := &groups[list[0]], &groups[g]
			y.A, y.From, y.Alike = x.A, slices.Concat(x.From, y.From), true
			gone[list[0]], waiting[p] = true, list[1:]
		}
	}
}

func reformats(steps []Step) (n int) {
	for _, s := range steps {
		if s.Reformat {
			n++
		}
	}
	return n
}

// longestCommon returns the pairs of places of a longest sequence that two of n and m have in common.
func longestCommon(n, m int, same func(i, j int) bool) (pairs [][2]int) {
	length := make([][]int32, n+1) // of what is left from i and j on
	for i := range length {
		length[i] = make([]int32, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if same(i, j) {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j):
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// whats sets what the layers of an engine are, of all but reformats.
func whats(s *report.Snapshot, steps []Step) {
	if s.Passes == nil {
		return
	}
	of := map[string]string{}
	for i := range s.Passes.Engine {
		if l := &s.Passes.Engine[i]; len(l.Outputs) > 0 {
			of[l.Name] = fmt.Sprint(l.Op, l.Kernel, l.Outputs[0].Shape)
		}
	}
	for i := range steps {
		if !steps[i].Reformat {
			steps[i].What = of[s.Timings.Layers[i].Name]
		}
	}
}
