package sessions

import (
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// A forecast is silent at first, then follows a steady phase, is not moved far by one slow step, and begins anew where the
// phase does.
func TestForecast(t *testing.T) {
	f, now := forecast{}, time.Unix(1000, 0)
	at := func(done, total int) time.Duration {
		return f.left(report.Progress{Phase: "timing tactics", Done: done, Total: total}, now)
	}
	var last time.Duration
	for i := range 50 {
		left := at(i, 100)
		switch exact := time.Duration(100-i) * 200 * time.Millisecond; {
		case i < 10 && left != 0:
			t.Errorf("%d of 100: %v is left after %v", i, left, time.Duration(i)*200*time.Millisecond)
		case i >= 10 && (left < exact-5*time.Second || left > exact+5*time.Second):
			t.Errorf("%d of 100: %v is left, not %v", i, left, exact)
		}
		last, now = left, now.Add(200*time.Millisecond)
	}
	now = now.Add(2 * time.Second) // a slow one
	if left := at(50, 100); left > last+5*time.Second || left < last-5*time.Second {
		t.Errorf("%v is left after a slow step, and %v before", left, last)
	}
	if left := at(1, 100); left != 0 {
		t.Errorf("%v is left at the beginning of another phase of the name", left)
	}
	if left := f.left(report.Progress{Phase: "packing weights"}, now); left != 0 {
		t.Errorf("%v is left of what has no size", left)
	}
}

func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		1400 * time.Millisecond: time.Second, 13 * time.Second: 15 * time.Second, 64 * time.Second: 60 * time.Second,
		11*time.Minute + 40*time.Second: 12 * time.Minute,
	} {
		if got := roughly(d); got != want {
			t.Errorf("%v: %v, want %v", d, got, want)
		}
	}
}

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		p        report.Progress
		text     string
		fraction float64
	}{
		{report.Progress{Phase: "optimising"}, "optimising", -1},
		{report.Progress{Phase: "timing tactics", Done: 3}, "timing tactics 3", -1},
		{report.Progress{Phase: "timing tactics", Item: "conv", Done: 3, Total: 12}, "timing tactics 3/12: conv", 0.25},
		{report.Progress{Phase: "running", Done: 0, Total: 2, Share: 0.4}, "running 0/2", 0.4},
	} {
		if got := c.p.String(); got != c.text || c.p.Fraction() != c.fraction {
			t.Errorf("%+v: %q, %g, want %q, %g", c.p, got, c.p.Fraction(), c.text, c.fraction)
		}
	}
}
