//go:build race

package recording

// raceEnabled: the race detector is on.
const raceEnabled = true
