package work

import (
	"slices"
	"testing"
)

// TestJobShares has one worker come alone: it begins with its own share, and does all units once.
func TestJobShares(t *testing.T) {
	j := NewJob(func(done **[]int, unit, _ int) { **done = append(**done, unit) })
	for _, c := range []struct{ workers, units int }{{1, 5}, {2, 1}, {2, 7}, {3, 8}, {4, 64}, {8, 3}} {
		for w := range min(c.workers, c.units) {
			done := new([]int)
			j.Run(func(_ int, take func(int)) { take(w) }, c.workers, c.units, done)
			first := w * c.units / min(c.workers, c.units)
			if len(*done) == 0 || (*done)[0] != first {
				t.Errorf("worker %d of %d begins %d units with %v, want %d", w, c.workers, c.units, *done, first)
			}
			slices.Sort(*done)
			for i, unit := range *done {
				if unit != i || len(*done) != c.units {
					t.Fatalf("worker %d of %d does of %d units %v", w, c.workers, c.units, *done)
				}
			}
		}
	}
}

// TestJobInOrder has the last worker come alone: it does all units from the first on.
func TestJobInOrder(t *testing.T) {
	j := NewJob(func(done **[]int, unit, _ int) { **done = append(**done, unit) })
	done := new([]int)
	j.InOrder(func(workers int, take func(int)) { take(workers - 1) }, 3, 5, done)
	if !slices.Equal(*done, []int{0, 1, 2, 3, 4}) {
		t.Errorf("%v", *done)
	}
}
