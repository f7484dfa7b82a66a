package report

import "testing"

// A wide interval is a difference by what is sure of it alone: one that ends at no difference is none, on either side.
func TestSpeedWide(t *testing.T) {
	for _, c := range []struct {
		ratio, low, high float64
		significant      bool
		sure             float64
	}{
		{0.84, 0.643, 0.9996, false, 1},
		{1.19, 1.0004, 1.555, false, 1},
		{0.84, 0.6, 0.95, true, 0.95},
		{0.84, 0.8, 0.9996, true, 0.84}, // narrow: the ratio stands for it
	} {
		s := NewSpeed(c.ratio, c.low, c.high, true)
		if sure, _ := s.Sure(); s.Significant != c.significant || sure != c.sure {
			t.Errorf("%v: significant %v, %v is sure", c, s.Significant, sure)
		}
	}
}
