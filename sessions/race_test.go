//go:build race

package sessions

// raceEnabled: the race detector is on.
const raceEnabled = true
