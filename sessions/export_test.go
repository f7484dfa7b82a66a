package sessions

import "testing"

// NotUnderRace skips, under the race detector, a test of what is computed, stored or said: it is the same in every order,
// and the tests that toggle, cancel, record and replay run all the goroutines that it has.
func NotUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("has no goroutines that others lack; the race detector would make it slow")
	}
}
