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

// tuples returns every so many choices of different factors that can occur together, in order.
func (f factors) tuples(strength int) [][]choice {
	list := [][]choice{nil}
	for ; strength > 0; strength-- {
		var longer [][]choice
		for _, t := range list {
			first := 0
			if len(t) > 0 {
				first = t[len(t)-1].factor + 1
			}
			for i := first; i < len(f.levels); i++ {
				for level := range f.levels[i] {
					if c := (choice{i, level}); f.allows(t, c) {
						longer = append(longer, append(slices.Clone(t), c))
					}
				}
			}
		}
		list = longer
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

// tuple is up to three choices of rising factors, as a key.
type tuple [3]choice

func keyOf(choices ...choice) (t tuple) {
	slices.SortFunc(choices, func(a, b choice) int { return a.factor - b.factor })
	for i := range t {
		if t[i] = (choice{-1, 0}); i < len(choices) {
			t[i] = choices[i]
		}
	}
	return t
}

// covering is an array as it grows.
type covering struct {
	factors
	strength int
	open     map[tuple]bool // in no run yet
	taken    map[choice]int // runs of a level
}

// array returns runs, a level for each factor, such that each of the wanted combinations and each tuple of a strength of 2 or
// 3 is in one of them at least. It is greedy: a run begins with the first combination that is in none yet, and takes, factor
// by factor, the level that adds the most new tuples, or else the one that was taken least. Same factors, same runs.
func (f factors) array(strength int, wanted [][]choice) [][]int {
	a := covering{f, strength, map[tuple]bool{}, map[choice]int{}}
	tuples := f.tuples(strength)
	for _, t := range tuples {
		a.open[keyOf(t...)] = true
	}
	var runs [][]int
	for _, want := range wanted {
		if !slices.ContainsFunc(runs, func(r []int) bool { return includes(r, want) }) {
			runs = append(runs, a.run(want))
		}
	}
	for _, t := range tuples {
		if a.open[keyOf(t...)] {
			runs = append(runs, a.run(t))
		}
	}
	return runs
}

// run returns a run that has some choices, and counts what it covers.
func (a *covering) run(want []choice) []int {
	chosen := slices.Clone(want)
	for i := range a.levels {
		if !slices.ContainsFunc(chosen, func(c choice) bool { return c.factor == i }) {
			chosen = append(chosen, a.best(i, chosen))
		}
	}
	run := make([]int, len(a.levels))
	for i, c := range chosen {
		run[c.factor] = c.level
		a.taken[c]++
		a.added(chosen[:i], c, func(t tuple) { delete(a.open, t) })
	}
	return run
}

// best returns the level of a factor that adds the most to what is chosen.
func (a *covering) best(factor int, chosen []choice) choice {
	best, most := choice{factor, -1}, -1
	for level := range a.levels[factor] {
		c := choice{factor, level}
		if !a.allows(chosen, c) {
			continue
		}
		gain := 0
		a.added(chosen, c, func(tuple) { gain++ })
		if gain > most || gain == most && a.taken[c] < a.taken[best] {
			best, most = c, gain
		}
	}
	if best.level < 0 {
		panic("cuda: the levels of a combination leave another factor none")
	}
	return best
}

// added calls f with each open tuple that c makes with what is chosen.
func (a *covering) added(chosen []choice, c choice, f func(tuple)) {
	for i, x := range chosen {
		if a.strength == 2 {
			if t := keyOf(x, c); a.open[t] {
				f(t)
			}
			continue
		}
		for _, y := range chosen[:i] {
			if t := keyOf(y, x, c); a.open[t] {
				f(t)
			}
		}
	}
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
	for strength := 2; strength <= 3; strength++ {
		for _, r := range f.array(strength, wanted) {
			if r[0] == 4 && r[1] > 0 {
				t.Errorf("run %v has what excludes each other", r)
			}
		}
		for _, want := range append(f.tuples(strength), wanted...) {
			if !slices.ContainsFunc(f.array(strength, wanted), func(r []int) bool { return includes(r, want) }) {
				t.Errorf("%v is in no run of strength %d", want, strength)
			}
		}
	}
	runs := f.array(2, wanted)
	if all := 4*4*9 + 9; len(runs) < 17 || len(runs) > 30 || len(f.tuples(2)) != 5*4-3+2*15+2*12+9 {
		t.Errorf("%d runs of %d, %d pairs", len(runs), all, len(f.tuples(2)))
	}
	if again := f.array(2, wanted); !slices.EqualFunc(runs, again, slices.Equal) {
		t.Error("another call gives other runs")
	}
}
