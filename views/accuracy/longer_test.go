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
