package ui

import (
	"testing"
	"time"
)

// TestAge writes how old measurements are.
func TestAge(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{{-time.Hour, "now"}, {59 * time.Second, "now"}, {time.Minute, "1min"}, {119 * time.Minute, "1h"}, {49 * time.Hour, "2d"}, {800 * 24 * time.Hour, "2y"}} {
		if got := Age(c.d); got != c.want {
			t.Errorf("%v: %s, want %s", c.d, got, c.want)
		}
	}
}
