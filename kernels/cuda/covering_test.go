package cuda

import (
	"slices"
	"testing"
)

// choice is a level of a factor: both are indices.
type choice struct{ factor, level int }

// factors are what runs differ in: how many levels each factor has, and which two choices never occur together.
type factors struct {
	levels   []int
	excludes func(a, b choice) bool
}

// pairs returns every two choices of different factors that can occur together, in order.
func (f factors) pairs() [][]choice {
	var list [][]choice
	for i := range f.levels {
		for j := range i {
			for a := range f.levels[j] {
				for b := range f.levels[i] {
					if p := []choice{{j, a}, {i, b}}; f.allows(p, p[0]) {
						list = append(list, p)
					}
				}
			}
		}
	}
	return list
}

// allows reports whether c can occur together with all that is chosen.
func (f factors) allows(chosen []choice, c choice) bool {
	for _, o := range chosen {
		if o.factor == c.factor && o != c || f.excludes(o, c) || f.excludes(c, o) {
			return false
		}
	}
	return true
}

// array returns runs, a level for each factor, such that each of the wanted combinations and each pair is in one of them at
// least. It is greedy: a run begins with the first combination that is in none yet, and takes, factor by factor, the level
// that adds the most new pairs, or else the one that was taken least. Same factors, same runs.
func (f factors) array(wanted [][]choice) [][]int {
	open := map[[2]choice]bool{}
	for _, p := range f.pairs() {
		open[[2]choice{p[0], p[1]}] = true
	}
	taken := map[choice]int{}
	var runs [][]int
	for _, want := range append(slices.Clone(wanted), f.pairs()...) {
		if slices.ContainsFunc(runs, func(r []int) bool { return includes(r, want) }) {
			continue
		}
		chosen := f.extend(slices.Clone(want), open, taken)
		if chosen == nil {
			panic("cuda: the levels of a combination leave another factor none")
		}
		run := make([]int, len(f.levels))
		for _, c := range chosen {
			run[c.factor] = c.level
			taken[c]++
		}
		runs = append(runs, run)
		for i := range run {
			for j := range i {
				delete(open, [2]choice{{j, run[j]}, {i, run[i]}})
			}
		}
	}
	return runs
}

// extend chooses a level of every factor that chosen has none of; nil where that leads nowhere.
func (f factors) extend(chosen []choice, open map[[2]choice]bool, taken map[choice]int) []choice {
	for i := range f.levels {
		if slices.ContainsFunc(chosen, func(c choice) bool { return c.factor == i }) {
			continue
		}
		best, most := choice{i, -1}, -1
		for level := range f.levels[i] {
			c := choice{i, level}
			if !f.allows(chosen, c) {
				continue
			}
			gain := 0
			for _, o := range chosen {
				if o.factor < i && open[[2]choice{o, c}] || o.factor > i && open[[2]choice{c, o}] {
					gain++
				}
			}
			if gain > most || gain == most && taken[c] < taken[best] {
				best, most = c, gain
			}
		}
		if best.level < 0 {
			return nil
		}
		chosen = append(chosen, best)
	}
	return chosen
}

// includes reports whether a run has all the choices.
func includes(run []int, want []choice) bool {
	return !slices.ContainsFunc(want, func(c choice) bool { return run[c.factor] != c.level })
}

// TestCoveringArray: 4 factors of 5, 4, 3 and 3 levels, of which some exclude each other.
func TestCoveringArray(t *testing.T) {
	f := factors{levels: []int{5, 4, 3, 3}, excludes: func(a, b choice) bool {
		return a == choice{0, 4} && b.factor == 1 && b.level > 0
	}}
	wanted := [][]choice{{{0, 1}, {1, 1}, {2, 1}}, {{1, 3}, {2, 2}, {3, 0}}}
	runs := f.array(wanted)
	for _, want := range append(wanted, f.pairs()...) {
		if !slices.ContainsFunc(runs, func(r []int) bool { return includes(r, want) }) {
			t.Errorf("%v is in no run", want)
		}
	}
	for _, r := range runs {
		if r[0] == 4 && r[1] > 0 {
			t.Errorf("run %v has what excludes each other", r)
		}
	}
	if all := 4*4*9 + 9; len(runs) < 17 || len(runs) > 30 || len(f.pairs()) != 5*4-3+2*15+2*12+9 {
		t.Errorf("%d runs of %d, %d pairs", len(runs), all, len(f.pairs()))
	}
	if again := f.array(wanted); !slices.EqualFunc(runs, again, slices.Equal) {
		t.Error("another call gives other runs")
	}
}
