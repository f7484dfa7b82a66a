package run

import (
	"testing"
	"time"
)

// What workers take that help each other, by hand.
func TestTogether(t *testing.T) {
	for _, tc := range []struct {
		load []Pace
		want time.Duration
	}{
		{[]Pace{{500, 1000}, {500, 1000}}, 1000},          // both are done at once
		{[]Pace{{0, 0}, {500, 1000}}, 500},                // one lane, which all share
		{[]Pace{{1000, 1000}, {0, 0}}, 1000},              // and one that nobody can share
		{[]Pace{{150, 200}, {500, 1000}}, 200 + 400},      // half the speed for a fifth of it
		{[]Pace{{1, 300}, {1, 300}, {1, 300}}, 300},       //
		{[]Pace{{0, 0}, {300, 900}, {300, 900}}, 600},     // a worker and a half each, which go one and a half times as fast
		{[]Pace{{0, 0}, {0, 0}, {0, 0}, {100, 400}}, 100}, //
	} {
		if got := together(tc.load); got < tc.want-1 || got > tc.want+1 {
			t.Errorf("%v take %v, want %v", tc.load, got, tc.want)
		}
	}
}
