package accuracy

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TestLonger: a time that is saved is no negative one that is lost.
func TestLonger(t *testing.T) {
	for _, c := range []struct {
		before, after time.Duration
		want          string
	}{{5 * time.Microsecond, 7 * time.Microsecond, "2.0 µs longer"}, {7 * time.Microsecond, 5 * time.Microsecond, "2.0 µs shorter"}} {
		if got := longer(report.Effect{Time: c.before, RaisedTime: c.after}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestRaisedTime: beside what is measured stands the measured time, not the tuner's, which is that of the prediction.
func TestRaisedTime(t *testing.T) {
	list := report.RaiseList{Measured: &report.Effect{Time: 100 * time.Microsecond, RaisedTime: 130 * time.Microsecond}}
	if got := raisedTime(&list); got != "by the tuner 30.0 µs longer" {
		t.Errorf("got %q", got)
	}
	for _, c := range []struct {
		speed report.Speed
		want  string
	}{
		{report.NewSpeed(0.8, 0.79, 0.81, true), "1.25x slower in rounds"}, {report.NewSpeed(1, 0.99, 1.01, true), "no significant difference in time"},
	} {
		list.Speed = &c.speed
		if got := raisedTime(&list); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
