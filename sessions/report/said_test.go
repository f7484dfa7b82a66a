package report

import (
	"testing"
	"time"
)

// TestSaid: a ratio is that of the times beside it, and what rounds have instead is said as that.
func TestSaid(t *testing.T) {
	for _, c := range []struct {
		speed          Speed
		reference, own time.Duration
		text, faster   string
	}{
		{NewSpeed(2, 1.9, 2.1, true), 200, 100, "2.00x as fast", "2.00x faster"},
		{NewSpeed(2, 1.9, 2.1, true), 300, 100, "3.00x as fast, 2.00x in rounds", "3.00x faster, 2.00x faster in rounds"},
		{NewSpeed(2, 1.9, 2.1, true), 90, 100, "0.90x as fast, 2.00x in rounds", "1.11x slower, 2.00x faster in rounds"},
		{NewSpeed(4.5, 3.14, 6, false), 450, 100, "4.50x as fast", "4.50x faster"}, // not the end of an interval
		{NewSpeed(0.5, 0.4, 0.6, false), 100, 100, "1.00x as fast", "1.00x faster"},
		{NewSpeed(2, 1.9, 2.1, true), 0, 100, "2.00x as fast", "2.00x faster"},
	} {
		said := c.speed.Beside(c.reference, c.own)
		if said.AsFast() != c.text || said.Faster() != c.faster {
			t.Errorf("%+v beside %d and %d: %q, %q, want %q, %q", c.speed, c.reference, c.own, said.AsFast(), said.Faster(), c.text, c.faster)
		}
	}
}
