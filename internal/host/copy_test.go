package host

import "testing"

// A copy takes some time, and no machine copies a terabyte in a second.
func TestCopyRate(t *testing.T) {
	for _, threads := range []int{0, 2} {
		if r := CopyRate(threads); !(r > 1e7 && r < 1e13) {
			t.Errorf("%d threads: %g bytes a second", threads, r)
		}
	}
}
