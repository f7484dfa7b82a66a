//go:build !race

package cputest

// RaceEnabled says whether the race detector is on.
const RaceEnabled = false
