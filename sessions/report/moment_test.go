package report

import (
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
		back string
	}{
		{"00:14", 15*time.Second - 1, "00:14.9"},
		{"00:14.3", 14400*time.Millisecond - 1, "00:14.3"},
		{"00:00.0", 100*time.Millisecond - 1, "00:00.0"},
		{"75:00", 75*time.Minute + time.Second - 1, "1:15:00.9"},
		{"1:02:03", time.Hour + 2*time.Minute + 4*time.Second - 1, "1:02:03.9"},
		{"0:00.000000001", 1, "00:00.0"},
		{"14s", 14 * time.Second, "00:14.0"},
		{"1m0.25s", 60250 * time.Millisecond, "01:00.2"},
		{"65535:59:59", 65535*time.Hour + 60*time.Minute - 1, "65535:59:59.9"},
	} {
		got, err := ParseClock(c.text)
		if err != nil || got != c.want {
			t.Errorf("%s is %v, %v; want %v", c.text, got, err, c.want)
		}
		if back := Clock(got); back != c.back {
			t.Errorf("%s is written %s, want %s", c.text, back, c.back)
		}
	}
	for _, text := range []string{"", "x", ":", "00:60", "1:60:00", "00:-1", "-1:00", "00:14.", "0:0.1234567891", "1:2:3:4", "70000:00", "-3s", "00:1e1", "1.5:00", "00:+1"} {
		if d, err := ParseClock(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
	if got := Clock(-time.Second); got != "00:00.0" {
		t.Errorf("before the start: %s", got)
	}
}
