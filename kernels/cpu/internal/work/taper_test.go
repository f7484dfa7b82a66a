package work

import "testing"

// Units follow each other without a gap, never grow, and end with single pieces.
func TestTaper(t *testing.T) {
	for _, tc := range []struct{ pieces, workers, units int }{{0, 2, 0}, {1, 2, 1}, {24, 1, 6}, {24, 2, 12}, {1571, 2, 27}, {5, 64, 5}, {8, 0, 4}} {
		taper, at, last := Taper{tc.pieces, tc.workers}, 0, tc.pieces
		for u := range taper.Units() {
			first, n := taper.Unit(u)
			if first != at || n < 1 || n > last {
				t.Errorf("%v: unit %d has %d from %d on, behind %d of %d", taper, u, n, first, at, last)
			}
			at, last = first+n, n
		}
		if at != tc.pieces || tc.pieces > 0 && last != 1 || taper.Units() != tc.units {
			t.Errorf("%v: %d units have %d pieces, the last %d", taper, taper.Units(), at, last)
		}
	}
}
