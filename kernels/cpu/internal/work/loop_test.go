package work

import "testing"

// TestLoopShares has one worker come alone: it takes the calls of its own share in order, then those of the workers behind it.
func TestLoopShares(t *testing.T) {
	l := &loop{shares: make([]claims, 3)}
	for _, c := range []struct {
		worker, calls int
		want          []int
	}{
		{0, 7, []int{0, 1, 2, 3, 4, 5, 6}},
		{1, 7, []int{2, 3, 4, 5, 6, 0, 1}},
		{2, 7, []int{4, 5, 6, 0, 1, 2, 3}},
		{2, 2, []int{1, 0}}, // no more than one each, and none for the first
	} {
		var made []int
		l.begin(c.calls, func(i int) { made = append(made, i) })
		if !l.open() {
			t.Fatalf("a loop of %d calls is not open", c.calls)
		}
		if !l.calls(c.worker) || l.calls(c.worker) {
			t.Errorf("worker %d makes no calls, or some twice", c.worker)
		}
		if l.open() || len(made) != len(c.want) {
			t.Fatalf("worker %d made calls %v of %d, and more are open: %t", c.worker, made, c.calls, l.open())
		}
		for i, want := range c.want {
			if made[i] != want {
				t.Errorf("worker %d made calls %v, want %v", c.worker, made, c.want)
				break
			}
		}
	}
}
