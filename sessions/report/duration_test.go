package report

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ns"}, {999, "999 ns"}, {1000, "1 µs"}, {28_940, "28.9 µs"}, {999_400, "999 µs"}, {999_600, "1 ms"},
		{7_984_000, "7.98 ms"}, {93 * time.Millisecond, "93 ms"}, {999_700 * time.Microsecond, "1 s"}, {19_560 * time.Millisecond, "19.6 s"},
		{59_700 * time.Millisecond, "1 m 0 s"}, {80 * time.Second, "1 m 20 s"}, {3*time.Hour + 5*time.Second, "180 m 5 s"},
	} {
		if got := Duration(c.d); got != c.want {
			t.Errorf("%v: %q, want %q", c.d, got, c.want)
		}
	}
}
